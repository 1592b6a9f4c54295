internal import CryptoCore
internal import Synchronization

/// The stores that a test uses instead of the program's own.
///
/// They are task-local; `StorageTesting` sets them. They take effect at two moments. First,
/// `standard` is the test's storage while the test has stores. A wrapper created in a test
/// therefore keeps the test's storage, even on threads outside the test's tasks. Second, a wrapper
/// of a standard storage that was created elsewhere, such as a global one, checks at each access.
/// Outside of tests that check costs one relaxed load.
@usableFromInline
package final class TestStores: Sendable {
  /// The current task's stores, or nil outside of tests.
  @TaskLocal package static var current: TestStores?
  /// The number of instances, so that the task-local value is read only if there are any.
  private static let alive = Atomic<Int>(0)

  /// Whether any test has its own stores.
  @usableFromInline package static var areInUse: Bool { alive.load(ordering: .relaxed) > 0 }

  /// The current task's stores, or nil; fast outside of tests.
  package static var inUse: TestStores? { areInUse ? current : nil }

  /// The folder of the files, or nil when everything is in memory.
  package let folder: String?
  /// The test's own key, used instead of the bootstrapped source.
  package let keySource: KeySource
  private let makeDelegate: @Sendable () -> any KeysetDelegate
  private struct State {
    var objects: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    var delegates: [String: any KeysetDelegate] = [:]
  }
  private let state = Lock(State())

  /// Creates stores in an existing folder, or in memory.
  ///
  /// - Parameters:
  ///   - folder: the folder of the files; nil for memory.
  ///   - makeDelegate: creates an in-memory delegate.
  package init(
    folder: String?, makeDelegate: @escaping @Sendable () -> any KeysetDelegate
  ) {
    self.folder = folder
    self.makeDelegate = makeDelegate
    keySource = .key(SymmetricKey(size: .bits256))
    Self.alive.add(1, ordering: .relaxed)
  }

  // A task holds this object, and may outlive the test that started the task.
  deinit { Self.alive.subtract(1, ordering: .relaxed) }

  /// The test's instance of a type; created once.
  package func kept<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    let id = ObjectIdentifier(Object.self)
    if let object = state.withLock({ $0.objects[id] }) as? Object { return object }
    // Outside the lock, because `make` may ask for a delegate.
    let object = make()
    return state.withLock { state in
      if let first = state.objects[id] as? Object { return first }
      state.objects[id] = object
      return object
    }
  }

  /// The test's in-memory delegate for a place; created once.
  package func delegate(of place: String) -> any KeysetDelegate {
    state.withLock { state in
      if let delegate = state.delegates[place] { return delegate }
      let delegate = makeDelegate()
      state.delegates[place] = delegate
      return delegate
    }
  }

  /// The error of a call that needs a file when a test keeps its values in memory.
  package static let hasNoFile = StorageError(
    .unsupported,
    "the test keeps this storage in memory, so it has no file; use .storage(.temporaryFolder) to give "
      + "the test files")
}
