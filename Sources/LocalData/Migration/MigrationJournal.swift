internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The progress of a migration.
///
/// It is recorded before the copy is written, so that a later run can
/// distinguish its own copy from another program's value.
struct MigrationJournal: Codable, Equatable, Sendable {
  /// The digests of the stored bytes of the sources; nil for a source without a value.
  ///
  var sources: [[UInt8]?]
  /// The digest of the bytes that the destination is to store.
  var destination: [UInt8]
  /// Whether the copy was read back and opened.
  var isCopied = false
  /// Whether the destination keeps its own value.
  var isAdopted = false
}

/// The name of a migration's journal, derived from the places, so that a run after a restart finds
/// it.
struct JournalName: Hashable, Sendable {
  static let prefix = "migration:"
  let text: String

  init(text: String) { self.text = text }

  init(_ sources: [MigrationEnd], _ destination: MigrationEnd) throws(StorageError) {
    var names = ""
    for end in sources + [destination] {
      names += "\(end.address.kind.rawValue)\u{1F}\(end.address)\u{1F}\(end.label)\u{1F}"
      names += "\(end.entry.protection)\u{1F}\(end.entry.serializer)\u{1E}"
    }
    text = Self.prefix + Hexadecimal.encode(try ValueDigest.of(Data(names.utf8)))
  }
}

extension Ledger {
  func journal(_ name: JournalName) throws(StorageError) -> MigrationJournal? {
    try storage.load(decodable: MigrationJournal.self, forKey: name.text)
  }

  func record(_ journal: MigrationJournal, _ name: JournalName) throws(StorageError) {
    try storage.save(encodable: journal, forKey: name.text)
  }

  func clear(_ name: JournalName) throws(StorageError) { try storage.delete(forKey: name.text) }
}
