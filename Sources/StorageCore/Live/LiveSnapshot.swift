public import Synchronization

/// What a live value is at one time; never changed.
@safe @usableFromInline
// Unchecked, since a pointer and a key path are not Sendable: the memory is written in `init` and `deinit`
// alone, the value in it is Sendable, and a key path is never changed.
final class LiveSnapshot<Value: Sendable & Equatable>: @unchecked Sendable {
  /// The key path under which those who read the value are registered as observers.
  @usableFromInline typealias Path = KeyPath<LiveValue<Value>, Value>

  /// Where the value is, for those who borrow the snapshot from the ``ReadGate``.
  ///
  /// Memory that the compiler takes for variable: a reader has to have made its copy before it leaves its
  /// lane, and of a constant property the compiler makes it whenever it likes.
  @usableFromInline let memory: UnsafeMutablePointer<Value>
  /// A counted reference to the path of the generation, given up in `deinit`; nil until somebody reads.
  ///
  /// To make one takes as long as the rest of what a change costs here.
  @usableFromInline let readPath: Atomic<UnsafeRawPointer?>
  /// How many others there were before; equal values that follow each other are of one generation.
  let generation: Int
  /// Whether the store was found to hold no value.
  let isAbsent: Bool
  /// Why it could not be read.
  let error: StorageError?

  /// A snapshot of a generation of its own, or of the one that `path` is of: who has the path has read this
  /// generation.
  init(
    _ value: Value, isAbsent: Bool, error: StorageError? = nil, generation: Int, path: Path? = nil
  ) {
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: value)
    self.isAbsent = isAbsent
    self.error = error
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

  /// The path of the generation, for a reader who borrows the snapshot: the snapshot keeps it, and readers
  /// count no reference to what all of them use.
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

  /// The path if anybody has read the generation.
  var pathIfRead: Path? {
    unsafe readPath.load(ordering: .acquiring).map {
      unsafe Unmanaged<Path>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The path, made if nobody has read the generation.
  var path: Path { unsafe uncountedPath.takeUnretainedValue() }

  /// The value; nil when there is none, and when it could not be read.
  var value: Value { withExtendedLifetime(self) { unsafe memory.pointee } }
}

extension LiveValue {
  /// The value, whatever the generation: a key path needs something to lead to.
  fileprivate subscript(generation _: Int) -> Value { value }
}

/// The way to the snapshot of now, which readers follow while they occupy a lane of the ``ReadGate``.
@safe @usableFromInline
// Unchecked, since pointers are not Sendable and this has one: it is read and written in atomic steps,
// and the object that it points to is Sendable.
struct LivePointer<Value: Sendable & Equatable>: ~Copyable, @unchecked Sendable {
  /// A counted reference, given up in `replace` and `deinit`.
  @usableFromInline let pointer: Atomic<UnsafeRawPointer>

  init(_ first: LiveSnapshot<Value>) {
    unsafe pointer = Atomic(UnsafeRawPointer(Unmanaged.passRetained(first).toOpaque()))
  }

  deinit { unsafe uncounted.release() }

  /// The snapshot without a reference to it.
  @inlinable @inline(__always)
  var uncounted: Unmanaged<LiveSnapshot<Value>> {
    unsafe Unmanaged.fromOpaque(pointer.load(ordering: .acquiring))
  }

  func isTo(_ snapshot: LiveSnapshot<Value>) -> Bool {
    unsafe uncounted.toOpaque() == Unmanaged.passUnretained(snapshot).toOpaque()
  }

  /// Leads to another snapshot from now on; to be called by one thread at a time.
  ///
  /// - Returns: the old one, which readers may have in use.
  func replace(by new: LiveSnapshot<Value>) -> LiveSnapshot<Value> {
    let old = unsafe pointer.exchange(
      UnsafeRawPointer(Unmanaged.passRetained(new).toOpaque()), ordering: .acquiringAndReleasing)
    return unsafe Unmanaged<LiveSnapshot<Value>>.fromOpaque(old).takeRetainedValue()
  }
}
