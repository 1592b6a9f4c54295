internal import CryptoCore
public import StorageCore

/// What a verification of a vault found.
public struct VaultReport: Hashable, Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Hashable, Sendable {
    /// The kinds of findings.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
      /// SQLite finds the file's structure broken.
      case damagedFile
      /// A record is there and does not open.
      ///
      /// All others stay readable.
      case damagedRecord
      /// Rows are there that are no records: their name or value is nothing that a vault writes.
      ///
      /// They hide nothing, and a repair removes them.
      case strayRow
      /// Records were removed by somebody without the keys.
      case deletedRecord
      /// Records were brought in by somebody without the keys, as older ones that had been removed.
      case addedRecord
      /// Records were put back as they had been before.
      case rolledBackRecord
      /// What is kept of removals is not what was written: a value that had been removed may be back,
      /// as it was before.
      case alteredRemoval
      /// The manifest was altered, removed or put back as it had been before.
      ///
      /// Then nothing can be said about records that are gone or old.
      case alteredManifest
      /// This process has seen later commits of the vault: an older file is in its place.
      case rolledBackVault
    }

    /// What is wrong.
    public let kind: Kind
    /// How many records are concerned at least; 0 where records are not what it is about.
    public let count: Int
    /// The keys concerned, as far as they can be known.
    ///
    /// More than `count` of them means: some of these.
    public let keys: [StoreKey]
    /// What was found, in a sentence, without a key or a value.
    public let message: String
  }

  /// The sequence number of the last commit that was looked at.
  public let generation: UInt64
  /// How many records there are, damaged ones included.
  public let recordCount: Int
  /// How many of them were sealed with another authentication tag, or set aside by a rotation: they are
  /// as they were written, and do not open here.
  public let otherTagCount: Int
  /// How many records open by a data key from before, and not by the one that seals now.
  ///
  /// A rotation is going on or was interrupted, and `keyAdministration.reencrypt` finishes it; or a data
  /// key had sealed as often as one may.
  public let oldKeyCount: Int
  /// What is not as it should be.
  public internal(set) var findings: [Finding]

  /// How many records, damaged ones included, are in a part of the vault that the manifest does not prove,
  /// one of 64: each may be older than what was written last, or removed since.
  ///
  /// One record that is damaged, missing or old leaves all of its part unproven. A repair takes them as they
  /// are.
  public internal(set) var unprovenCount = 0
  /// The key names of those of them that open, sorted.
  public internal(set) var unprovenKeys: [StoreKey] = []

  /// Tells whether the rows are those that were looked at; nil where they could not be.
  var evidence: NameHash?
  /// The numbers of the rows that are no records.
  var strays: [Int64] = []
  /// What was expected when it was made.
  var expected: [StoreKey] = []

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }

  /// The findings that are of none of `kinds`, as of those that a caller accepts.
  public func findings(besides kinds: Set<Finding.Kind>) -> [Finding] {
    findings.filter { !kinds.contains($0.kind) }
  }

  /// Whether the file is to be made anew.
  var isBroken: Bool { findings.contains { $0.kind == .damagedFile } }

  /// Whether a report made now tells of the same vault, in the same state.
  ///
  /// What SQLite says of a broken structure is not compared: it names pages, which may have been in the
  /// log. A report of what could not be looked at is of nothing.
  func isOfTheSame(as now: VaultReport) -> Bool {
    guard evidence != nil else { return false }
    func comparable(_ findings: [Finding]) -> [Finding] {
      findings.filter { $0.kind != .damagedFile }
    }
    return generation == now.generation && evidence == now.evidence && strays == now.strays
      && recordCount == now.recordCount && otherTagCount == now.otherTagCount
      && oldKeyCount == now.oldKeyCount && comparable(findings) == comparable(now.findings)
  }
}
