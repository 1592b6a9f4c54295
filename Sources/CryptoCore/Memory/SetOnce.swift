public import Synchronization

/// Holds an object that is set once and kept as long as the holder.
///
/// Any thread may use it. It replaces `AtomicLazyReference`, whose load is a generic call to
/// another module: 700 instructions, most of which look for metadata.
@safe @usableFromInline
// Unchecked, since its pointer is not Sendable. The pointer is read, and once written, in atomic
// steps, and its object is Sendable.
package struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  /// A counted reference, released in `deinit`.
  @usableFromInline let pointer = unsafe Atomic<UnsafeRawPointer?>(nil)

  @inlinable @inline(__always)
  package init() {}

  @inlinable
  deinit { unsafe uncounted?.release() }

  /// The object without a counted reference; the object lives as long as the holder.
  @inlinable @inline(__always)
  package var uncounted: Unmanaged<Object>? {
    guard let pointer = unsafe pointer.load(ordering: .acquiring) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(pointer)
  }

  /// The object, or nil before it was set.
  @inlinable @inline(__always)
  package func load() -> Object? { unsafe uncounted?.takeUnretainedValue() }

  /// Sets the object, unless another thread has set one already.
  ///
  /// - Returns: the object that the holder has now.
  package func storeIfNil(_ new: Object) -> Object {
    let pointer = unsafe Unmanaged.passRetained(new).toOpaque()
    let (isFirst, original) = unsafe self.pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(pointer), ordering: .acquiringAndReleasing)
    guard !isFirst, let original = unsafe original else { return new }
    unsafe Unmanaged<Object>.fromOpaque(pointer).release()
    return unsafe Unmanaged<Object>.fromOpaque(original).takeUnretainedValue()
  }
}
