public import Synchronization

/// An immutable state of a live value.
@safe @usableFromInline
// Unchecked, because a pointer and a key path are not Sendable. The memory is written only in
// `init` and `deinit`, the value in it is Sendable, and a key path is never changed.
final class LiveSnapshot<Value: Sendable & Equatable>: @unchecked Sendable {
  /// The key path under which readers of the value are registered as observers.
  @usableFromInline typealias Path = KeyPath<LiveValue<Value>, Value>

  /// The memory of the value, for readers that borrow the snapshot from the ``ReadGate``.
  ///
  /// The compiler treats this memory as mutable. A reader must copy the value before it leaves its
  /// lane; with a constant property, the compiler could make the copy later.
  @usableFromInline let memory: UnsafeMutablePointer<Value>
  /// A retained reference to the path of the generation, released in `deinit`; nil until the first
  /// read.
  ///
  /// Creating a path takes as long as everything else that a change costs here.
  @usableFromInline let readPath: Atomic<UnsafeRawPointer?>
  /// The number of generations before this one; consecutive equal values share a generation.
  let generation: Int
  /// Whether the store held no value.
  let isAbsent: Bool
  /// Why the value could not be read, or nil.
  ///
  /// ``value`` is then the last one that could be read, if ``isOfStore`` is true.
  let error: StorageError?
  /// Whether the value was read from the store, now or before the error.
  let isOfStore: Bool
  /// Whether the error was reported.
  private let isReported = Atomic<Bool>(false)

  /// Creates a snapshot of a new generation, or of the generation that `path` belongs to.
  ///
  /// Whoever holds that path has read its generation.
  init(
    _ value: Value, isAbsent: Bool, error: StorageError? = nil, isOfStore: Bool = false,
    generation: Int, path: Path? = nil
  ) {
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: value)
    self.isAbsent = isAbsent
    self.error = error
    self.isOfStore = isOfStore
    self.generation = generation
    unsafe readPath = Atomic(
      path.map { unsafe UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) })
  }

  deinit {
    unsafe memory.deinitialize(count: 1)
    unsafe memory.deallocate()
    if let path = unsafe readPath.load(ordering: .acquiring) {
      unsafe Unmanaged<Path>.fromOpaque(path).release()
    }
  }

  /// The path of the generation, for a reader that borrows the snapshot.
  ///
  /// The snapshot keeps the path alive, so that readers do not change a reference count that they
  /// share.
  @inlinable @inline(__always)
  var uncountedPath: Unmanaged<Path> {
    if let path = unsafe readPath.load(ordering: .acquiring) {
      return unsafe Unmanaged<Path>.fromOpaque(path)
    }
    return unsafe makePath()
  }

  @usableFromInline @inline(never)
  func makePath() -> Unmanaged<Path> {
    let path: Path = \LiveValue<Value>.[generation: generation]
    let made = unsafe Unmanaged.passRetained(path)
    let (isFirst, first) = unsafe readPath.compareExchange(
      expected: nil, desired: UnsafeRawPointer(made.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isFirst, let first = unsafe first else { return unsafe made }
    unsafe made.release()
    return unsafe Unmanaged<Path>.fromOpaque(first)
  }

  /// The path, or nil if nobody has read the generation.
  var pathIfRead: Path? {
    unsafe readPath.load(ordering: .acquiring).map {
      unsafe Unmanaged<Path>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The path; created if nobody has read the generation.
  var path: Path { unsafe uncountedPath.takeUnretainedValue() }

  /// The value; nil when there is none, and when none could be read yet.
  var value: Value { withExtendedLifetime(self) { unsafe memory.pointee } }

  /// Whether the caller has to report the error: always without a value, else once.
  func takesReport() -> Bool {
    !isOfStore || !isReported.exchange(true, ordering: .relaxed)
  }
}

extension LiveValue {
  /// The value, whatever the generation.
  ///
  /// A key path needs a member to refer to.
  fileprivate subscript(generation _: Int) -> Value { value }
}

/// A pointer to the current snapshot; readers follow it while they occupy a lane of the
/// ``ReadGate``.
@safe @usableFromInline
// Unchecked, because the pointer is not Sendable. It is read and written atomically, and the object
// that it points to is Sendable.
struct LivePointer<Value: Sendable & Equatable>: ~Copyable, @unchecked Sendable {
  /// A retained reference, released in `replace` and `deinit`.
  @usableFromInline let pointer: Atomic<UnsafeRawPointer>

  init(_ first: LiveSnapshot<Value>) {
    unsafe pointer = Atomic(UnsafeRawPointer(Unmanaged.passRetained(first).toOpaque()))
  }

  deinit { unsafe uncounted.release() }

  /// The snapshot, without retaining it.
  @inlinable @inline(__always)
  var uncounted: Unmanaged<LiveSnapshot<Value>> {
    unsafe Unmanaged.fromOpaque(pointer.load(ordering: .acquiring))
  }

  func isTo(_ snapshot: LiveSnapshot<Value>) -> Bool {
    unsafe uncounted.toOpaque() == Unmanaged.passUnretained(snapshot).toOpaque()
  }

  /// Points to another snapshot from now on.
  ///
  /// Only one thread at a time may call this.
  ///
  /// - Returns: the old snapshot, which readers may still use.
  func replace(by new: LiveSnapshot<Value>) -> LiveSnapshot<Value> {
    let old = unsafe pointer.exchange(
      UnsafeRawPointer(Unmanaged.passRetained(new).toOpaque()), ordering: .acquiringAndReleasing)
    return unsafe Unmanaged<LiveSnapshot<Value>>.fromOpaque(old).takeRetainedValue()
  }
}
