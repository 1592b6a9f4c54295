internal import CryptoCore

/// The header of a store, with its slots and its sealed keys: docs/file-format.md, section
/// "Header".
struct StoreHeader: Hashable, Sendable {
  static let magic: [UInt8] = Array("SPSh".utf8)
  static let version: UInt8 = 1
  static let slotLimit = 32
  static let keysetLimit = 1 << 20

  let store: StoreID
  var slots: [Slot]
  /// A value derived from the root key; it tells whether a root key belongs to this store.
  var rootCheck: [UInt8]
  /// The keyset, sealed as a record with a key derived from the root key.
  var sealedKeyset: [UInt8]

  var bytes: [UInt8] {
    var bytes = Self.magic + [Self.version] + store.bytes
    bytes.append(UInt8(slots.count))
    for slot in slots { bytes.appendField(slot.bytes) }
    bytes += rootCheck
    bytes.appendField(sealedKeyset)
    return bytes
  }

  init(store: StoreID, slots: [Slot], rootCheck: [UInt8], sealedKeyset: [UInt8]) {
    self.store = store
    self.slots = slots
    self.rootCheck = rootCheck
    self.sealedKeyset = sealedKeyset
  }

  /// Reads a header and checks every number in it.
  init(reading array: [UInt8]) throws(StorageError) {
    let bytes = unsafe array.span.bytes
    var offset = 0
    guard try ByteReading.array(of: 4, bytes, at: &offset) == Self.magic else {
      throw StorageError(
        .damaged, "the store's header does not begin as a header does; restore it from a backup")
    }
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read store version \(version); update the program")
    }
    store = StoreID(try ByteReading.array(of: StoreID.byteCount, bytes, at: &offset))!
    let count = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard (1...Self.slotLimit).contains(Int(count)) else {
      throw StorageError(.damaged, "a store has 1 to \(Self.slotLimit) key slots, not \(count)")
    }
    slots = []
    for _ in 0..<count {
      let slot = try ByteReading.field(limit: 4096, bytes, at: &offset)
      slots.append(try unsafe Slot(reading: slot.span.bytes))
    }
    guard Set(slots.map(\.id)).count == slots.count else {
      throw StorageError(.damaged, "two key slots have the same number")
    }
    rootCheck = try ByteReading.array(of: Slot.checkSize, bytes, at: &offset)
    sealedKeyset = try ByteReading.field(limit: Self.keysetLimit, bytes, at: &offset)
    guard offset == bytes.byteCount else {
      throw StorageError(.damaged, "the store's header has bytes after its end")
    }
  }

  /// A slot number above all others, or the lowest free one if a slot has the highest possible
  /// number.
  var freeSlotID: UInt32 {
    let taken = Set(slots.map(\.id))
    if let highest = taken.max(), highest < .max { return highest + 1 }
    return (1...UInt32.max).first { !taken.contains($0) } ?? 1
  }

  /// The slots recorded for the source `candidate`.
  func slots(of candidate: KeySource.Candidate) -> [Slot] {
    slots.filter { $0.kind == candidate.kind && $0.identifier == candidate.identifier }
  }
}
