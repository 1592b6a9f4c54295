internal import Synchronization

/// A few reusable values, each lent to one thread at a time and made on first use.
///
/// Nothing waits: when all slots are lent, a fresh value serves the call and is dropped. That
/// holds in a forked child as well, where the slots of threads it does not have stay lent.
///
/// Not a class: a pool is a part of the key that owns it, and a loan counts no references.
@safe
struct ContextPool<Context: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Slots are the only state, and the value of each is touched by whoever has turned its `isLent`
  // from false to true, one at a time.
  private struct Slot: ~Copyable {
    let isLent = Atomic<Bool>(false)
    var value: Context?
  }

  private static var slotCount: Int { 4 }

  // A slot's `value` belongs to whoever turned its `isLent` from false to true.
  private let slots: UnsafeMutablePointer<Slot>
  private let make: @Sendable () throws(CryptoError) -> Context

  init(_ make: @escaping @Sendable () throws(CryptoError) -> Context) {
    self.make = make
    unsafe slots = .allocate(capacity: Self.slotCount)
    for index in 0..<Self.slotCount { unsafe (slots + index).initialize(to: Slot()) }
  }

  deinit {
    unsafe slots.deinitialize(count: Self.slotCount)
    unsafe slots.deallocate()
  }

  /// Lends a value to `body`.
  @inline(__always)
  func with<Result>(
    _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    for index in 0..<Self.slotCount {
      let slot = unsafe slots + index
      guard unsafe !slot.pointee.isLent.exchange(true, ordering: .acquiring) else { continue }
      defer { unsafe slot.pointee.isLent.store(false, ordering: .releasing) }
      if unsafe slot.pointee.value == nil { unsafe slot.pointee.value = try make() }
      return try unsafe body(slot.pointee.value!)
    }
    return try body(make())
  }
}
