public import Synchronization

/// An object that is set once and kept as long as this is.
///
/// Any thread may use it. In the place of `AtomicLazyReference`, whose load is a generic call to
/// another module: 700 instructions, most of which look for its metadata.
@safe @usableFromInline
// Unchecked, since pointers are not Sendable and this has one: it is read and, once, written in
// atomic steps, and the object that it points to is Sendable.
package struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  /// A counted reference, released in `deinit`.
  @usableFromInline let pointer = unsafe Atomic<UnsafeRawPointer?>(nil)

  @inlinable @inline(__always)
  package init() {}

  @inlinable
  deinit { unsafe uncounted?.release() }

  /// The object without a reference to it: it lives as long as this does.
  @inlinable @inline(__always)
  package var uncounted: Unmanaged<Object>? {
    guard let pointer = unsafe pointer.load(ordering: .acquiring) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(pointer)
  }

  /// The object, once it was set.
  @inlinable @inline(__always)
  package func load() -> Object? { unsafe uncounted?.takeUnretainedValue() }

  /// Sets the object, unless another thread was first.
  ///
  /// - Returns: the object that is set.
  package func storeIfNil(_ new: Object) -> Object {
    let pointer = unsafe Unmanaged.passRetained(new).toOpaque()
    let (isFirst, original) = unsafe self.pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(pointer), ordering: .acquiringAndReleasing)
    guard !isFirst, let original = unsafe original else { return new }
    unsafe Unmanaged<Object>.fromOpaque(pointer).release()
    return unsafe Unmanaged<Object>.fromOpaque(original).takeUnretainedValue()
  }
}
