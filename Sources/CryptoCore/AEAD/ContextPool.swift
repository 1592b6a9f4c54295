internal import Synchronization

/// Reusable values, one for each lane of threads, each lent to one thread at a time and made on first use.
///
/// A thread takes the value of its own lane (see ``Lanes``), so two threads that open records at the same
/// time write to no cache line in common. Nothing waits: where all values are lent, a fresh value serves the
/// call and is dropped. That holds in a forked child as well, where the values of threads that the child does
/// not have stay lent.
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

  private let lanes = Lanes.shared
  /// One slot for each lane, `Lanes.stride` bytes apart.
  private let slots: UnsafeMutableRawPointer
  private let make: @Sendable () throws(CryptoError) -> Context

  init(_ make: @escaping @Sendable () throws(CryptoError) -> Context) {
    self.make = make
    precondition(MemoryLayout<Slot>.size <= Lanes.stride)
    unsafe slots = .allocate(byteCount: lanes.count * Lanes.stride, alignment: Lanes.stride)
    for lane in 0..<lanes.count {
      unsafe (slots + Lanes.offset(lane)).bindMemory(to: Slot.self, capacity: 1)
        .initialize(to: Slot())
    }
  }

  deinit {
    for lane in 0..<lanes.count { unsafe slot(lane).deinitialize(count: 1) }
    unsafe slots.deallocate()
  }

  @inline(__always)
  private func slot(_ lane: Int) -> UnsafeMutablePointer<Slot> {
    unsafe (slots + Lanes.offset(lane)).assumingMemoryBound(to: Slot.self)
  }

  /// Lends a value to `body`.
  @inline(__always)
  func with<Result>(
    _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    let mine = lanes.mine
    guard take(mine) else { return try withAnother(than: mine, body) }
    return try lend(mine, body)
  }

  /// Lends a value of another lane, or a fresh one.
  @inline(never)
  private func withAnother<Result>(
    than mine: Int, _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    var lane = lanes.next(mine)
    while lane != mine {
      if take(lane) { return try lend(lane, body) }
      lane = lanes.next(lane)
    }
    return try body(make())
  }

  @inline(__always)
  private func take(_ lane: Int) -> Bool {
    unsafe !slot(lane).pointee.isLent.exchange(true, ordering: .acquiring)
  }

  /// Lends the value of a lane that was taken, and gives the lane back.
  @inline(__always)
  private func lend<Result>(
    _ lane: Int, _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    let slot = unsafe slot(lane)
    defer { unsafe slot.pointee.isLent.store(false, ordering: .releasing) }
    if unsafe slot.pointee.value == nil { unsafe slot.pointee.value = try make() }
    return try unsafe body(slot.pointee.value!)
  }
}
