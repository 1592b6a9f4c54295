internal import Glibc
public import Synchronization

/// The nodes of plain types, found without a lock.
///
/// A hash table with open addressing whose places are filled once and never emptied: these nodes
/// live as long as their storage. When the table is half full, one of twice the size replaces it,
/// and the old one is kept for threads that still read it; all old tables together are no larger
/// than the new one.
@safe @usableFromInline
final class NodeTable: @unchecked Sendable {
  // Written under the storage's lock, read without it: places are atomic, and the node of a place
  // is written before its type.

  /// The number of places less one, then for each place a type and its node.
  @usableFromInline typealias Words = UnsafeMutablePointer<Atomic<UInt>>

  /// The words, as an address.
  @usableFromInline let address: Atomic<UInt>
  private var outgrown: [UInt] = []
  private var count = 0

  init() { address = Atomic(unsafe UInt(bitPattern: Self.make(places: 64))) }

  @inlinable @inline(__always)
  var words: Words {
    unsafe Words(bitPattern: address.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  deinit {
    for address in outgrown {
      if let words = unsafe Words(bitPattern: address) { unsafe Self.free(words) }
    }
    unsafe Self.free(words)
  }

  private static func make(places: Int) -> Words {
    let words = Words.allocate(capacity: 1 + 2 * places)
    for index in 0...2 * places { unsafe (words + index).initialize(to: Atomic(0)) }
    unsafe words[0].store(UInt(places - 1), ordering: .relaxed)
    return unsafe words
  }

  private static func free(_ words: Words) {
    let places = unsafe Int(words[0].load(ordering: .relaxed)) + 1
    unsafe words.deinitialize(count: 1 + 2 * places)
    unsafe words.deallocate()
  }

  /// The index where the search for a type begins: the pointer bits that differ most, spread.
  @inlinable @inline(__always)
  static func start(_ type: UInt, _ mask: UInt) -> UInt {
    ((type >> 3) &* 0x9E37_79B9_7F4A_7C15) >> 32 & mask
  }

  /// The node of a type, or nil.
  @inlinable @inline(__always)
  func node(of type: ObjectIdentifier) -> UnsafeRawPointer? {
    let type = UInt(bitPattern: type)
    let words = unsafe self.words
    let mask = unsafe words[0].load(ordering: .relaxed)
    var place = Self.start(type, mask)
    while true {
      let found = unsafe words[Int(1 &+ 2 &* place)].load(ordering: .acquiring)
      if found == type {
        return unsafe UnsafeRawPointer(
          bitPattern: words[Int(2 &+ 2 &* place)].load(ordering: .relaxed))
      }
      if found == 0 { return nil }
      place = (place &+ 1) & mask
    }
  }

  /// Adds the node of a type that has none; call under the storage's lock.
  func add(_ node: AnyNode, of type: ObjectIdentifier) {
    let words = unsafe self.words
    let places = unsafe Int(words[0].load(ordering: .relaxed)) + 1
    let pointer = unsafe UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
    count += 1
    guard 2 * count > places else {
      return unsafe Self.fill(words, UInt(bitPattern: type), pointer)
    }
    let larger = unsafe Self.make(places: 2 * places)
    for place in 0..<places {
      let type = unsafe words[1 + 2 * place].load(ordering: .relaxed)
      guard type != 0 else { continue }
      unsafe Self.fill(larger, type, words[2 + 2 * place].load(ordering: .relaxed))
    }
    unsafe Self.fill(larger, UInt(bitPattern: type), pointer)
    outgrown.append(UInt(bitPattern: words))
    address.store(UInt(bitPattern: larger), ordering: .releasing)
  }

  private static func fill(_ words: Words, _ type: UInt, _ node: UInt) {
    let mask = unsafe words[0].load(ordering: .relaxed)
    var place = start(type, mask)
    while unsafe words[Int(1 + 2 * place)].load(ordering: .relaxed) != 0 {
      place = (place + 1) & mask
    }
    unsafe words[Int(2 + 2 * place)].store(node, ordering: .relaxed)
    unsafe words[Int(1 + 2 * place)].store(type, ordering: .releasing)
  }
}
