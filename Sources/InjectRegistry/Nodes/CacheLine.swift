/// Memory that shares no cache line with anything else.
///
/// A write takes the whole cache line out of other readers' caches. When such memory lay beside an
/// instance's reference count, which every copy writes, two reading threads took more than twice as
/// long (`make bench`).
enum CacheLine {
  private static let size = 64

  /// Puts a value into memory of its own, which the caller frees.
  static func allocate<Value: ~Copyable>(_ value: consuming Value) -> UnsafeMutablePointer<Value> {
    let layout = MemoryLayout<Value>.self
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: (layout.size / size + 1) * size, alignment: max(layout.alignment, size))
    let pointer = unsafe memory.bindMemory(to: Value.self, capacity: 1)
    unsafe pointer.initialize(to: value)
    return unsafe pointer
  }
}
