internal import CryptoCore
public import Synchronization

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
  @usableFromInline package static let alive = Atomic<Int>(0)

  /// Whether any test has its own stores.
  @inlinable package static var areInUse: Bool { alive.load(ordering: .relaxed) > 0 }

  /// The current task's stores, or nil; fast outside of tests.
  package static var inUse: TestStores? { areInUse ? current : nil }

  /// Where the records are.
  package let places: TestPlaces
  /// The test's own key, used instead of the bootstrapped source; it marks stores as the test's.
  package let keySource: KeySource
  private let owner: OwningTest
  private let objects = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])
  /// The live values of the test, by themselves.
  private let live = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Creates stores in an existing folder, or in memory.
  ///
  /// - Parameters:
  ///   - title: the name of the test, for errors.
  ///   - folder: the folder of the files; nil for memory.
  ///   - makeDelegate: creates an in-memory delegate.
  package init(
    of title: String?, folder: String?, makeDelegate: @escaping @Sendable () -> any RecordPlace
  ) {
    places = TestPlaces(folder: folder, makeDelegate)
    owner = OwningTest(title)
    var keySource = KeySource.key(SymmetricKey(size: .bits256))
    keySource.owner = owner
    self.keySource = keySource
    Self.alive.add(1, ordering: .relaxed)
  }

  // A task holds this object, and may outlive the test that started the task.
  deinit { Self.alive.subtract(1, ordering: .relaxed) }

  /// Runs a test with these stores; no other test may use them then or later.
  package func run<Result>(_ test: () throws -> Result) rethrows -> Result {
    defer { owner.end() }
    return try Self.$current.withValue(self) {
      try OwningTest.$current.withValue(owner, operation: test)
    }
  }

  /// Runs an async test with these stores.
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ test: () async throws -> Result
  ) async rethrows -> Result {
    defer { owner.end() }
    return try await Self.$current.withValue(
      self,
      operation: {
        try await OwningTest.$current.withValue(owner, operation: test, isolation: isolation)
      }, isolation: isolation)
  }

  /// The folder of the files, or nil when everything is in memory.
  package var folder: String? { places.folder }

  /// The test's in-memory delegate for a place; created once.
  package func delegate(of place: String) -> any RecordPlace { places.delegate(of: place) }

  /// The test's instance of a type; created once.
  ///
  /// The instance may hold ``places``, but not this object, which holds the instance.
  package func kept<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    let id = ObjectIdentifier(Object.self)
    if let object = objects.withLock({ $0[id] }) as? Object { return object }
    // Outside the lock, because `make` may ask for a delegate.
    let object = make()
    return objects.withLock { objects in
      if let first = objects[id] as? Object { return first }
      objects[id] = object
      return object
    }
  }

  /// Keeps a live value until the test and its tasks have ended.
  ///
  /// A property outlives tests, so it can't keep a test's value itself, and the value knows the
  /// last one that could be read.
  func keep(_ value: some AnyObject & Sendable) {
    live.withLock { $0[ObjectIdentifier(value)] = value }
  }

  /// The error of a call that needs a file when a test keeps its values in memory.
  package static let hasNoFile = StorageError(
    .unsupported,
    "the test keeps this storage in memory, so it has no file; use .storage(.temporaryFolder) to give "
      + "the test files")
}

/// Where a test's storages keep their records.
package final class TestPlaces: Sendable {
  /// The folder of the files, or nil when everything is in memory.
  package let folder: String?
  private let makeDelegate: @Sendable () -> any RecordPlace
  private let delegates = Lock<[ExactString: any RecordPlace]>([:])

  init(folder: String?, _ makeDelegate: @escaping @Sendable () -> any RecordPlace) {
    self.folder = folder
    self.makeDelegate = makeDelegate
  }

  /// The in-memory delegate for a place; created once.
  package func delegate(of place: String) -> any RecordPlace {
    let place = ExactString(text: place)
    return delegates.withLock { delegates in
      if let delegate = delegates[place] { return delegate }
      let delegate = makeDelegate()
      delegates[place] = delegate
      return delegate
    }
  }
}
