public import StorageCore
public import VaultBackend

/// What a verification of a sealed folder found.
public struct SealedFolderReport: Hashable, Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Hashable, Sendable {
    /// The kinds of findings.
    public enum Kind: String, Hashable, Sendable {
      /// The index has something else under the name than an entry, or one of a newer release.
      case damagedEntry
      /// The file of a value is gone.
      case missingBlob
      /// The file is not the one that the index names: cut, longer, an older one in its place, or changed by
      /// somebody who has its key.
      case otherBlob
      /// Parts of the file do not authenticate; the others can be read.
      case damagedBlob
      /// The file is a link, or another user's, or one that others can write to.
      case deniedBlob
      /// A file that no name has and nobody writes: left by a restored index, or put there.
      case unnamedBlob
    }

    /// What is wrong.
    public let kind: Kind
    /// The name concerned; nil for a blob that has none.
    public let name: StoreKey?
    /// The file concerned, if there is one.
    public let path: String?
    /// The bytes of the value that can't be read, where only some can't.
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
  /// How many blobs were not sealed since the last rotation, or by an earlier release.
  ///
  /// Who had the keys before the rotation may have theirs. ``SealedFolder/reencrypt(progress:)`` seals them
  /// anew.
  public let oldBlobCount: Int
  /// What is not as it should be beside the index.
  public let findings: [Finding]

  /// Whether nothing was found, in the index neither.
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

/// What a backup of a sealed folder has not, because that was asked for.
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
  /// How many entries of the index were left out besides, whose name can't be read either.
  public let unnamedCount: Int
  /// What was wrong with the index and is not with the copy's, since the caller has named its kind; damaged
  /// entries aside, which are left out.
  public private(set) var accepted: [VaultReport.Finding] = []
  /// The names in the copy whose value may be older than what was written last, or removed since, sorted.
  ///
  /// An entry that is damaged, missing or old leaves the others of its part of the index, one of 64, unproven.
  /// The copy is taken for what was written last from now on.
  public private(set) var unprovenNames: [StoreKey] = []

  init(unnamedCount: Int) { self.unnamedCount = unnamedCount }

  /// Notes what was accepted of the index that `report` is of.
  mutating func accept(_ findings: [VaultReport.Finding], of report: VaultReport) {
    accepted = findings
    let gone = Set(leftOut.map(\.name))
    unprovenNames = report.unprovenKeys.filter { !gone.contains($0) }
  }

  /// Whether nothing was left out.
  public var isComplete: Bool { leftOut.isEmpty && unnamedCount == 0 }
}
