public import StorageCore
public import VaultBackend

/// What a verification of a sealed folder found.
public struct SealedFolderReport: Hashable, Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Hashable, Sendable {
    /// The kinds of findings.
    public enum Kind: String, Hashable, Sendable {
      /// The index has no valid entry under the name, or an entry of a newer release.
      case damagedEntry
      /// The file of a value is gone.
      case missingBlob
      /// The file is not the one that the index names: it was cut, made longer, replaced by an
      /// older one, or changed by somebody who has its key.
      case otherBlob
      /// Parts of the file do not authenticate; the others can be read.
      case damagedBlob
      /// The file is a link, or another user's, or one that others can write to.
      case deniedBlob
      /// A file without a name, which nobody is writing: left by a restored index, or put there.
      case unnamedBlob
    }

    /// What is wrong.
    public let kind: Kind
    /// The name concerned; nil for a blob that has none.
    public let name: StoreKey?
    /// The file concerned, if there is one.
    public let path: String?
    /// The bytes of the value that can't be read, if the others can.
    public let ranges: [Range<Int>]
    /// What was found, in a sentence, without a value.
    public let message: String
  }

  /// What the verification of the index found.
  public let index: VaultReport
  /// How many names have a value.
  public let nameCount: Int
  /// How many of them have a blob.
  public let blobCount: Int
  /// How many bytes the values have.
  public let byteCount: Int
  /// How many blobs were not sealed since the last rotation.
  ///
  /// Whoever had the keys before the rotation may have the keys of these blobs.
  /// ``SealedFolder/reencrypt(progress:)`` seals them
  /// anew.
  public let oldBlobCount: Int
  /// What is not as it should be beside the index.
  public let findings: [Finding]

  /// Whether nothing was found, neither in the folder nor in the index.
  public var isSound: Bool { index.isSound && findings.isEmpty }
}

/// What a repair left of a sealed folder.
public struct SealedFolderRepair: Hashable, Sendable {
  /// What became of the index.
  public let index: VaultRepair
  /// The names that were removed, because that was asked for.
  public let removedNames: [StoreKey]
  /// How many blobs without a name were removed, because that was asked for.
  public let removedBlobCount: Int
}

/// What a rotation of a sealed folder did.
public struct SealedFolderRotation: Hashable, Sendable {
  /// What was sealed anew in the index.
  public let index: ReencryptionReport
  /// How many blobs were sealed anew, under new keys.
  public let resealedCount: Int
  /// The names whose blob stays as it is, because it can't be read.
  public let remaining: [StoreKey]
}

/// What a backup of a sealed folder left out, because that was asked for.
public struct SealedFolderBackup: Hashable, Sendable {
  /// A value that can't be read as a whole.
  public struct LeftOut: Hashable, Sendable {
    /// The name of the value.
    public let name: StoreKey
    /// Why it can't be read.
    public let error: StorageError
  }

  /// The values that were left out.
  public internal(set) var leftOut: [LeftOut] = []
  /// How many more entries of the index were left out, whose names can't be read either.
  public let unnamedCount: Int
  /// The findings of the index that were repaired in the copy, since the caller named their kinds;
  /// without damaged entries, which are left out.
  public private(set) var accepted: [VaultReport.Finding] = []
  /// The names in the copy whose value may be older than the last one written, or removed since,
  /// sorted.
  ///
  /// The index has 64 parts, and a damaged, missing or old entry leaves the others in its part
  /// unproven. From now on the copy counts as the latest state.
  public private(set) var unprovenNames: [StoreKey] = []

  init(unnamedCount: Int) { self.unnamedCount = unnamedCount }

  /// Notes which findings of `report` were accepted.
  mutating func accept(_ findings: [VaultReport.Finding], of report: VaultReport) {
    accepted = findings
    let gone = Set(leftOut.map(\.name))
    unprovenNames = report.unprovenKeys.filter { !gone.contains($0) }
  }

  /// Whether nothing was left out.
  public var isComplete: Bool { leftOut.isEmpty && unnamedCount == 0 }
}
