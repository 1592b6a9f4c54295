public import Synchronization

/// The request of an injection, of any type: the part of its reads that does not depend on the
/// type.
///
/// It is not generic, because unspecialised generic code asks the runtime for types at every step,
/// which costs more than the rest of a read.
@safe @usableFromInline
class AnyNode: @unchecked Sendable {
  // All properties are constants and an atomic, except the last three, which `lock` guards.

  /// After how many reads an instance is published.
  ///
  /// An instance that is registered anew in a test is read less often, and so is released with its
  /// registration.
  private static let readsBeforePublishing = 100

  let key: NodeKey
  // Every read looks at the next two. They lie a cache line away from both ends of the object: at
  // the start is its reference count, which others may write, and behind the end may be anybody's
  // memory.
  /// The count of ``Activity``.
  @usableFromInline let activity = unsafe Activity.count
  /// The address of an instance that is never released, or nil.
  ///
  /// A reader takes the instance without a lock, so nobody can know when the last reader is done
  /// with it. So only one instance is ever published in each node: see
  /// docs/injection-concurrency.md.
  @usableFromInline let published = unsafe Atomic<UnsafeRawPointer?>(nil)
  let qualifiers: [Qualifier]
  let parameters: Qualifier?
  // Every call comes through the storage, or through a property of the standard one.
  unowned let storage: InjectStorage
  private let storageID: ObjectIdentifier
  private let lock = InjectLock()
  // The following properties are guarded by `lock`.
  private var kept: CachedResult?
  private var keptForReaders: CachedResult?
  private var reads = 0

  init(
    _ storage: InjectStorage, _ key: NodeKey, _ qualifiers: [Qualifier], _ parameters: Qualifier?
  ) {
    self.storage = storage
    storageID = ObjectIdentifier(storage)
    self.key = key
    self.qualifiers = qualifiers
    self.parameters = parameters
  }

  /// The requested type.
  var type: any Any.Type { Never.self }

  /// Whether an instance has the requested type.
  func isOfType(_ instance: Any) -> Bool { false }

  /// Resolves, and releases the instance.
  func check(_ location: InjectLocation?) throws(InjectError) {}

  /// The same, where builders may be async.
  func checkAsync(_ location: InjectLocation?) async throws(InjectError) {}

  /// The earlier result, for callers around whom no builder runs; nil if a search is needed.
  @usableFromInline @inline(never)
  final func cached() -> CachedResult? {
    let isQuiet = unsafe activity.pointee.load(ordering: .relaxed) == 0
    // If a builder runs around the caller, its request must be recorded, and may be a cycle: it
    // needs a search.
    guard Chain.current.isEmpty else { return nil }
    if !isQuiet, let layer = Layer.innermost(of: storageID) { return layer.result(for: self) }
    lock.lock()
    defer { lock.unlock() }
    guard let kept else { return nil }
    reads += 1
    if reads == Self.readsBeforePublishing, keptForReaders == nil { publish(kept) }
    return kept
  }

  /// Lets reads take an instance without the lock; call under it.
  private func publish(_ result: CachedResult) {
    guard result.isPublishable, let place = unsafe result.place else { return }
    keptForReaders = result
    unsafe published.store(place, ordering: .releasing)
  }

  /// Keeps the result for later reads, unless something has changed since, or is about to.
  final func keep(_ result: CachedResult, version: Int) {
    let old = lock.withLock {
      defer { if storage.registry.isStill(at: version) { kept = result } }
      return kept
    }
    withExtendedLifetime(old) {}
  }

  /// Forgets the result, because something that could alter it is about to change.
  ///
  /// - Returns: the kept result, to be released outside of locks.
  final func forget() -> CachedResult? {
    lock.withLock {
      defer {
        kept = nil
        reads = 0
        // `keptForReaders` stays, because somebody may be reading it. As long as it is set, nothing
        // else is published.
        unsafe published.store(nil, ordering: .releasing)
      }
      return kept
    }
  }
}
