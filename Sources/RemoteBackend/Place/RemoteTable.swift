internal import CryptoCore
internal import StorageCore

/// The sealed records that one process knows of a store, by name.
///
/// Each process of a fleet has all of a store in memory, so what a record takes beside its own bytes
/// counts. Here it is one block of memory for the name, the version and the bytes, and one pointer in
/// a hash set. An object, an array and a name in a dictionary take three times as much for a short
/// record. Readers count no reference, as in `RecordTable`: they run at the same time on many cores.
@safe struct RemoteTable: ~Copyable {
  /// What stands before the bytes of a record.
  ///
  /// The name is first, so that a pointer to a block is one to a name.
  fileprivate struct Head {
    let name: NameHash
    /// The mark of the commit that wrote the record.
    let version: Mark
    let count: Int
    /// Whether it was replaced or removed before, and somebody put it back.
    let isPast: Bool
  }

  /// A record in its block, which lives as long as the table holds it.
  @safe struct Record {
    fileprivate let head: UnsafePointer<Head>

    fileprivate init(_ block: Block) {
      unsafe head = UnsafeRawPointer(block.name).assumingMemoryBound(to: Head.self)
    }

    var version: Mark { unsafe head.pointee.version }
    var isPast: Bool { unsafe head.pointee.isPast }

    /// A copy of the bytes.
    var bytes: [UInt8] { unsafe [UInt8](rawBytes) }

    /// The bytes themselves.
    var rawBytes: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(
        start: UnsafeRawPointer(head) + MemoryLayout<Head>.size, count: head.pointee.count)
    }
  }

  /// A pointer to a block, or to a name that is looked up.
  ///
  /// Hashed by the name's own bytes, as in `SingletonStorageDelegate`: they are uniform under a
  /// secret key. Rows that others planted may collide; they cost time and no more.
  @safe fileprivate struct Block: Hashable {
    let name: UnsafePointer<NameHash>

    static func == (left: Block, right: Block) -> Bool {
      unsafe left.name.pointee == right.name.pointee
    }

    func hash(into hasher: inout Hasher) { unsafe hasher.combine(name.pointee) }

    // See there for the seed.
    func _rawHashValue(seed: Int) -> Int {
      let first = unsafe name.pointee.firstWord
      let mixed = (first ^ UInt64(bitPattern: Int64(seed))) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }
  }

  private var blocks: Set<Block> = []

  deinit { for block in blocks { Self.free(block) } }

  /// The number of records.
  var count: Int { blocks.count }

  /// The record under a name.
  @inline(__always)
  subscript(name: NameHash) -> Record? {
    unsafe withUnsafePointer(to: name) { pointer in
      blocks.firstIndex(of: unsafe Block(name: pointer)).map { Record(blocks[$0]) }
    }
  }

  /// The names of all records.
  var names: [NameHash] { blocks.map { unsafe $0.name.pointee } }

  /// Calls `body` with each record.
  func visit(_ body: (NameHash, Record) -> Void) {
    for block in blocks { unsafe body(block.name.pointee, Record(block)) }
  }

  /// Stores a record under a name.
  mutating func update(_ bytes: [UInt8], _ version: Mark, isPast: Bool, for name: NameHash) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Head>.size + bytes.count, alignment: MemoryLayout<Head>.alignment)
    let head = Head(name: name, version: version, count: bytes.count, isPast: isPast)
    unsafe memory.initializeMemory(as: Head.self, to: head)
    unsafe bytes.withUnsafeBytes {
      unsafe UnsafeMutableRawBufferPointer(
        start: memory + MemoryLayout<Head>.size, count: bytes.count
      ).copyMemory(from: $0)
    }
    let block = unsafe Block(name: UnsafePointer(memory.assumingMemoryBound(to: NameHash.self)))
    if let old = blocks.update(with: block) { Self.free(old) }
  }

  /// Removes a record.
  mutating func remove(_ name: NameHash) {
    let old = unsafe withUnsafePointer(to: name) { blocks.remove(unsafe Block(name: $0)) }
    if let old { Self.free(old) }
  }

  private static func free(_ block: Block) {
    unsafe UnsafeMutableRawPointer(mutating: UnsafeRawPointer(block.name)).deallocate()
  }
}

// Unchecked, since blocks are pointers. They are changed only by code that has exclusive access to
// the table.
extension RemoteTable: @unchecked Sendable {}
