internal import Synchronization

/// Reusable values, each lent to one thread at a time and made on first use.
///
/// A pool begins with one value, which is all that most keys ever need. The first thread that finds
/// it lent makes one for each lane of threads (see ``Lanes``), so two threads that open records at
/// the same time write to no cache line in common. Nothing waits: where all values are lent, a
/// fresh value serves the call and is dropped. That holds in a forked child as well, where the
/// values of threads that the child does not have stay lent.
///
/// Not a class: a pool is a part of the key that owns it, and a loan counts no references.
@safe
struct ContextPool<Context: ~Copyable>: ~Copyable, @unchecked Sendable {
  /// One flag and one value, which belongs to whoever turned the flag from false to true.
  private struct Slot: ~Copyable {
    let isLent = Atomic<Bool>(false)
    var value: Context?
  }

  private let lanes = Lanes.shared
  /// The value of a pool that never had two users at once.
  private let first: UnsafeMutableRawPointer
  /// One slot for each lane, `Lanes.stride` bytes apart; null until two threads met at `first`.
  private let shared = unsafe Atomic<UnsafeMutableRawPointer?>(nil)
  private let make: @Sendable () throws(CryptoError) -> Context

  init(_ make: @escaping @Sendable () throws(CryptoError) -> Context) {
    self.make = make
    precondition(MemoryLayout<Slot>.size <= Lanes.stride)
    unsafe first = Self.slots(1)
  }

  deinit {
    unsafe Self.release(first, 1)
    if let shared = unsafe shared.load(ordering: .acquiring) {
      unsafe Self.release(shared, lanes.count)
    }
  }

  private static func slots(_ count: Int) -> UnsafeMutableRawPointer {
    let start = UnsafeMutableRawPointer.allocate(
      byteCount: count * Lanes.stride, alignment: Lanes.stride)
    for lane in 0..<count {
      unsafe (start + Lanes.offset(lane)).bindMemory(to: Slot.self, capacity: 1)
        .initialize(to: Slot())
    }
    return unsafe start
  }

  /// Frees the values.
  ///
  /// One that is still lent is left: this is a forked child, whose parent has a thread that uses
  /// the value. Here it may be half changed.
  private static func release(_ start: UnsafeMutableRawPointer, _ count: Int) {
    for lane in 0..<count {
      let slot = unsafe slot(start, lane)
      guard unsafe !slot.pointee.isLent.load(ordering: .acquiring) else { continue }
      unsafe slot.deinitialize(count: 1)
    }
    unsafe start.deallocate()
  }

  @inline(__always)
  private static func slot(
    _ start: UnsafeMutableRawPointer, _ lane: Int
  ) -> UnsafeMutablePointer<Slot> {
    unsafe (start + Lanes.offset(lane)).assumingMemoryBound(to: Slot.self)
  }

  /// Lends a value to `body`.
  @inline(__always)
  func with<Result>(
    _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    let mine: UnsafeMutablePointer<Slot>
    if let shared = unsafe shared.load(ordering: .acquiring) {
      unsafe mine = Self.slot(shared, lanes.mine)
    } else {
      unsafe mine = Self.slot(first, 0)
    }
    guard unsafe Self.take(mine) else { return try withAnother(body) }
    return try unsafe lend(mine, body)
  }

  /// Lends the value of a lane, the calling thread's if it is there, or a fresh one.
  @inline(never)
  private func withAnother<Result>(
    _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    let shared = unsafe shareable()
    let mine = lanes.mine
    var lane = mine
    repeat {
      let slot = unsafe Self.slot(shared, lane)
      if unsafe Self.take(slot) { return try unsafe lend(slot, body) }
      lane = lanes.next(lane)
    } while lane != mine
    return try body(make())
  }

  /// The slots of the lanes, made by the first thread that needs them.
  private func shareable() -> UnsafeMutableRawPointer {
    if let shared = unsafe shared.load(ordering: .acquiring) { return unsafe shared }
    let mine = unsafe Self.slots(lanes.count)
    let (isMine, theirs) = unsafe shared.compareExchange(
      expected: nil, desired: mine, ordering: .acquiringAndReleasing)
    guard !isMine, let theirs = unsafe theirs else { return unsafe mine }
    unsafe Self.release(mine, lanes.count)
    return unsafe theirs
  }

  @inline(__always)
  private static func take(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
    unsafe !slot.pointee.isLent.exchange(true, ordering: .acquiring)
  }

  /// Lends the value of a slot that was taken, and gives the slot back.
  @inline(__always)
  private func lend<Result>(
    _ slot: UnsafeMutablePointer<Slot>,
    _ body: (borrowing Context) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    defer { unsafe slot.pointee.isLent.store(false, ordering: .releasing) }
    if unsafe slot.pointee.value == nil { unsafe slot.pointee.value = try make() }
    return try unsafe body(slot.pointee.value!)
  }
}
