internal import CryptoCore
internal import Synchronization

/// The stores that a test uses in the place of the program's own.
///
/// Task-local: `StorageTesting` sets it. A standard storage asks for it in two moments. `standard` itself
/// is the test's while a test has stores, so a wrapper that is made in a test keeps the test's storage,
/// also on threads that know of no test. And a wrapper of a standard storage that was made elsewhere, as a
/// global one, looks at each access; outside of tests that costs one relaxed load.
@usableFromInline
package final class TestStores: Sendable {
  /// Those of the current task, or nil outside of tests.
  @TaskLocal package static var current: TestStores?
  /// How many there are, so that nobody looks at the task where there are none.
  private static let alive = Atomic<Int>(0)

  /// Whether any test has stores of its own.
  @usableFromInline package static var areInUse: Bool { alive.load(ordering: .relaxed) > 0 }

  /// Those of the current task, or nil; quick outside of tests.
  package static var inUse: TestStores? { areInUse ? current : nil }

  /// Where files are, or nil where everything is in memory.
  package let folder: String?
  /// A key of the test's own, in the place of the bootstrapped source.
  package let keySource: KeySource
  private let makeDelegate: @Sendable () -> any KeysetDelegate
  private struct State {
    var objects: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    var delegates: [String: any KeysetDelegate] = [:]
  }
  private let state = Lock(State())

  /// Stores in a folder, which is there, or in memory.
  ///
  /// - Parameters:
  ///   - folder: where files are; nil for none.
  ///   - makeDelegate: makes a delegate in memory.
  package init(
    folder: String?, makeDelegate: @escaping @Sendable () -> any KeysetDelegate
  ) {
    self.folder = folder
    self.makeDelegate = makeDelegate
    keySource = .key(SymmetricKey(size: .bits256))
    Self.alive.add(1, ordering: .relaxed)
  }

  // A task may outlive the test that started it, and holds it.
  deinit { Self.alive.subtract(1, ordering: .relaxed) }

  /// The test's object of a type, which is made once.
  package func kept<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    let id = ObjectIdentifier(Object.self)
    if let object = state.withLock({ $0.objects[id] }) as? Object { return object }
    // Outside the lock: it may ask for a delegate.
    let object = make()
    return state.withLock { state in
      if let first = state.objects[id] as? Object { return first }
      state.objects[id] = object
      return object
    }
  }

  /// The test's delegate in memory for a place, which is made once.
  package func delegate(of place: String) -> any KeysetDelegate {
    state.withLock { state in
      if let delegate = state.delegates[place] { return delegate }
      let delegate = makeDelegate()
      state.delegates[place] = delegate
      return delegate
    }
  }

  /// The error of a call that needs a file, where a test keeps its values in memory.
  package static let hasNoFile = StorageError(
    .unsupported,
    "the test keeps this storage in memory, where it has no file; give the test files with "
      + ".storage(.temporaryFolder)")
}
