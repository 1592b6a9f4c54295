internal import StorageCore

internal import struct FoundationEssentials.Data

extension Ledger {
  private static let rotationKey = "rotation"
  private static let manifestPrefix = "rotation:"
  private static let droppedPrefix = "dropped group keys:"
  private static let resealing = "rotation resealing"

  func rotation() throws(StorageError) -> RotationRecord? {
    try storage.load(decodable: RotationRecord.self, forKey: Self.rotationKey)
  }

  func record(_ rotation: RotationRecord) throws(StorageError) {
    try storage.save(encodable: rotation, forKey: Self.rotationKey)
  }

  func endRotation() throws(StorageError) { try storage.delete(forKey: Self.rotationKey) }

  // MARK: - Master keys

  func manifest(ofMasterKey id: String) throws(StorageError) -> RotationManifest? {
    guard let json = try storage.load(Data.self, forKey: Self.manifestPrefix + id) else {
      return nil
    }
    return try RotationManifest(reading: json, root: nil)
  }

  /// Makes a new master key the present one, and records the values of the old one, in one step.
  func replace(
    _ check: [UInt8], _ manifest: RotationManifest, ofMasterKey id: String
  ) throws(StorageError) {
    let json = try manifest.json()
    try storage.saveAll(["master key:\(id)": check, Self.manifestPrefix + id: json])
  }

  func dropManifest(ofMasterKey id: String) throws(StorageError) {
    try storage.delete(forKey: Self.manifestPrefix + id)
  }

  // MARK: - Groups

  /// The check values of a group's keys that this program has dropped.
  func droppedGroupKeys(_ folder: String) throws(StorageError) -> [[UInt8]] {
    try storage.load(decodable: [[UInt8]].self, forKey: Self.droppedPrefix + folder) ?? []
  }

  func recordDropped(_ check: [UInt8], ofGroup folder: String) throws(StorageError) {
    let dropped = try droppedGroupKeys(folder)
    guard !dropped.contains(check) else { return }
    try storage.save(encodable: dropped + [check], forKey: Self.droppedPrefix + folder)
  }

  // MARK: - Migrations

  /// A value that is in an unfinished migration, while it is sealed again.
  struct Resealing: Codable, Equatable, Sendable {
    let address: PlaceAddress
    /// The digests of its bytes before and after.
    let old: [UInt8]
    let new: [UInt8]
  }

  func resealing() throws(StorageError) -> Resealing? {
    try storage.load(decodable: Resealing.self, forKey: Self.resealing)
  }

  func record(_ resealing: Resealing) throws(StorageError) {
    try storage.save(encodable: resealing, forKey: Self.resealing)
  }

  func endResealing() throws(StorageError) { try storage.delete(forKey: Self.resealing) }

  /// Whether a migration is unfinished.
  func hasMigrations() throws(StorageError) -> Bool { try !journalNames().isEmpty }

  /// The names of the migrations whose journals have a digest.
  func migrations(with digest: [UInt8]) throws(StorageError) -> [JournalName] {
    var names: [JournalName] = []
    for name in try journalNames() {
      guard let journal = try journal(name) else { continue }
      if journal.destination == digest || journal.sources.contains(digest) { names.append(name) }
    }
    return names
  }

  /// Replaces the digest of a value that was sealed again.
  func finish(_ resealing: Resealing) throws(StorageError) {
    for name in try migrations(with: resealing.old) {
      guard var journal = try journal(name) else { continue }
      if journal.destination == resealing.old { journal.destination = resealing.new }
      journal.sources = journal.sources.map { $0 == resealing.old ? resealing.new : $0 }
      try record(journal, name)
    }
    try endResealing()
  }

  private func journalNames() throws(StorageError) -> [JournalName] {
    try storage.keys().filter { $0.hasPrefix(JournalName.prefix) }.map { JournalName(text: $0) }
  }
}
