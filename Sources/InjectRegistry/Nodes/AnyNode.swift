public import Synchronization

/// What an injection asks for, of whatever type: what its reads have in common.
///
/// Not generic, because generic code that is not specialised asks the runtime for types at every
/// step, which costs more than all the rest.
@safe @usableFromInline
class AnyNode: @unchecked Sendable {
  // Constants and an atomic, but for the last three, which `lock` guards.

  /// How often an instance is read before it is published.
  ///
  /// What is registered anew in a test is read less often, and so given up with its registration.
  private static let readsBeforePublishing = 100

  let key: NodeKey
  // Every read looks at the next two. They stand a cache line away from both ends: at one is the
  // object's own count of references, which others may write, and behind the other may be anybody's.
  /// The count of ``Activity``.
  @usableFromInline let activity = unsafe Activity.count
  /// Where an instance is that is never given up, or nil.
  ///
  /// A reader takes it without a lock, so nobody can know when the last one is done with it. That
  /// is why only one is ever published in each node: see docs/injection-concurrency.md.
  @usableFromInline let published = unsafe Atomic<UnsafeRawPointer?>(nil)
  let qualifiers: [Qualifier]
  let parameters: Qualifier?
  // The storage keeps its nodes, and every call comes through it.
  unowned let storage: InjectStorage
  private let storageID: ObjectIdentifier
  private let lock = InjectLock()
  // What follows is guarded by `lock`.
  private var kept: Answer?
  private var keptForReaders: Answer?
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

  /// The type that is asked for.
  var type: any Any.Type { Never.self }

  /// Whether an instance is of the type that is asked for.
  func isOfType(_ instance: Any) -> Bool { false }

  /// Resolves, and gives up the instance.
  func check(_ location: InjectLocation?) throws(InjectError) {}

  /// The same, where builders may be async.
  func checkAsync(_ location: InjectLocation?) async throws(InjectError) {}

  /// What was found before, for callers around whom no builder runs; nil where one has to search.
  @usableFromInline @inline(never)
  final func answer() -> Answer? {
    let isQuiet = unsafe activity.pointee.load(ordering: .relaxed) == 0
    // A builder around the caller has to know what it asks for, and may be what is asked for.
    guard Chain.current.isEmpty else { return nil }
    if !isQuiet, let layer = Layer.innermost(of: storageID) { return layer.answer(for: self) }
    lock.lock()
    defer { lock.unlock() }
    guard let kept else { return nil }
    reads += 1
    if reads == Self.readsBeforePublishing, keptForReaders == nil { publish(kept) }
    return kept
  }

  /// Lets reads take an instance without the lock; call under it.
  private func publish(_ answer: Answer) {
    guard answer.isPublishable, let place = unsafe answer.place else { return }
    keptForReaders = answer
    unsafe published.store(place, ordering: .releasing)
  }

  /// Keeps what was found for the reads that follow, unless something has changed since, or is about
  /// to.
  final func keep(_ answer: Answer, version: Int) {
    let old = lock.withLock {
      defer { if storage.registry.isStill(at: version) { kept = answer } }
      return kept
    }
    withExtendedLifetime(old) {}
  }

  /// Forgets what was found: something that could alter it is about to change.
  ///
  /// - Returns: what was kept, to be given up outside of locks.
  final func forget() -> Answer? {
    lock.withLock {
      defer {
        kept = nil
        reads = 0
        // What was published stays: somebody may be reading it. That it is there makes sure that
        // nothing else is published.
        unsafe published.store(nil, ordering: .releasing)
      }
      return kept
    }
  }
}
