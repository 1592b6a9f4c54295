internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// How far a migration is: recorded before its copy is written, so that a later run can tell its own copy
/// from a value of somebody else's.
struct MigrationJournal: Codable, Equatable, Sendable {
  /// The digests of what the sources stored; nil for one that had nothing.
  var sources: [[UInt8]?]
  /// The digest of what the destination is to store.
  var destination: [UInt8]
  /// Whether the copy was read back and opened.
  var isCopied = false
  /// Whether the destination's own value is to stay.
  var isAdopted = false
}

/// The name of a migration's journal: it follows from the places, so that a run after a restart finds it.
struct JournalName: Hashable, Sendable {
  let text: String

  init(_ sources: [MigrationEnd], _ destination: MigrationEnd) throws(StorageError) {
    var names = ""
    for end in sources + [destination] {
      names += "\(end.address.kind.rawValue)\u{1F}\(end.address)\u{1F}\(end.label)\u{1F}"
      names += "\(end.entry.protection)\u{1F}\(end.entry.serializer)\u{1E}"
    }
    text = "migration:" + Hexadecimal.encode(try ValueDigest.of(Data(names.utf8)))
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
