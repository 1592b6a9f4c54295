/// Memory that shares no cache line with anything else.
///
/// Who writes beside what others read takes it from their caches. Beside the count of references of
/// an instance, which every copy writes, two threads that read it took more than twice as long
/// (`make bench`).
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
