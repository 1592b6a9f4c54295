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
      /// All other records stay readable.
      case damagedRecord
      /// Some rows are no records: a vault never writes such a name or value.
      ///
      /// They hide nothing, and a repair removes them.
      case strayRow
      /// Records were removed by somebody without the keys.
      case deletedRecord
      /// Records were added by somebody without the keys, for example older ones that had been
      /// removed.
      case addedRecord
      /// Records were put back as they had been before.
      case rolledBackRecord
      /// The stored removals are not those that were written: a removed value may be back.
      case alteredRemoval
      /// The manifest was altered, removed or put back as it had been before.
      ///
      /// It is then unknown whether records are missing or old.
      case alteredManifest
      /// This process has seen later commits of the vault: an older file is in its place.
      case rolledBackVault
    }

    /// What is wrong.
    public let kind: Kind
    /// How many records are concerned at least; 0 if the finding is not about records.
    public let count: Int
    /// The keys concerned, as far as they can be known.
    ///
    /// If there are more than `count`, only some of them are concerned.
    public let keys: [StoreKey]
    /// What was found, in a sentence, without a key or a value.
    public let message: String
  }

  /// The sequence number of the last commit that was looked at.
  public let generation: UInt64
  /// How many records there are, damaged ones included.
  public let recordCount: Int
  /// How many of them were sealed with another authentication tag, or set aside by a rotation: they
  /// are unchanged, but do not open here.
  public let otherTagCount: Int
  /// How many records open with an earlier data key, not with the one that seals now.
  ///
  /// Either a rotation is running or was interrupted, which `keyAdministration.reencrypt` finishes,
  /// or an earlier data key had reached its limit of seals.
  public let oldKeyCount: Int
  /// What is not as it should be.
  public internal(set) var findings: [Finding]

  /// How many records, damaged ones included, are in parts of the vault, which has 64, that the
  /// manifest does not prove: each may be older than the last one written, or removed since.
  ///
  /// One damaged, missing or old record leaves its whole part unproven. A repair accepts these
  /// records as they are.
  public internal(set) var unprovenCount = 0
  /// The key names of the unproven records that open, sorted.
  public internal(set) var unprovenKeys: [StoreKey] = []

  /// Shows whether the rows are those that were looked at; nil if they could not be looked at.
  var evidence: NameHash?
  /// The numbers of the rows that are no records.
  var strays: [Int64] = []
  /// The keys that the verification's caller expected.
  var expected: [StoreKey] = []

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }

  /// The findings of other kinds than `kinds`, which may be those that a caller accepts.
  public func findings(besides kinds: Set<Finding.Kind>) -> [Finding] {
    findings.filter { !kinds.contains($0.kind) }
  }

  /// Whether a repair makes the file anew.
  var isBroken: Bool { findings.contains { $0.kind == .damagedFile } }

  /// Whether a report made now tells of the same vault, in the same state.
  ///
  /// SQLite's words about a broken structure are not compared: they name pages, which may have been
  /// in the log. A report without evidence equals no other.
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
