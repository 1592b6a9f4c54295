#if Server
  internal import CryptoCore
  public import CoreMetrics
  public import Logging
  internal import RemoteBackend
  public import ServiceLifecycle
  internal import StorageCore

  /// Opens the stores of a server at its start, checks them while it runs, and closes them at its
  /// end.
  ///
  ///     let stores = StorageService([.vault(.standard, existence: .mustExist)], logger: logger)
  ///     try await stores.open()  // a store that can't be opened fails the start here, with the reason
  ///     let group = ServiceGroup(services: [stores, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  ///     try await group.run()
  ///
  /// A service group ends its services in reverse order at a graceful shutdown: put this service
  /// before those that use the stores, so that it closes them last. When a service fails, the group
  /// ends all of them at once.
  ///
  /// With a metrics system bootstrapped it reports, for each store, under the label `store`:
  ///
  /// | metric | |
  /// |---|---|
  /// | `securestorage_writes` | values saved or removed through the given storage |
  /// | `securestorage_failures` | reads and writes of values that failed; labels `operation` and `code` |
  /// | `securestorage_key_changes` | changes of keys that this process saw, by any process |
  /// | `securestorage_check_age_seconds` | the time since the last successful check of the place itself |
  ///
  /// and of a store that machines share:
  ///
  /// | metric | |
  /// |---|---|
  /// | `securestorage_connected` | 1 while changes are followed, 0 while the engine is away |
  /// | `securestorage_age_seconds` | everything that was written so long ago is known here |
  /// | `securestorage_acknowledged` | 1 for each key slot that this machine has acknowledged, else 0; label `slot` |
  /// | `securestorage_connection_losses` | how often the engine was lost; label `code` |
  /// | `securestorage_away_seconds` | how long it was away the last time |
  /// | `securestorage_repaired_changes` | changes that only a comparison found |
  ///
  /// Successful reads are not counted and cost the same as without the service.
  public final class StorageService: Service {
    /// The stores.
    public let stores: [ManagedStore]
    private let logger: Logger
    private let interval: Duration
    private let states: Lock<[StoreState]>
    private let metrics: [StoreMetrics]
    private let observations = Lock<[ChangeObservation]>([])
    private let opening = Opening()

    /// Creates a service for stores; opens nothing yet.
    ///
    /// - Parameters:
    ///   - stores: the stores, in the order in which they are opened.
    ///   - logger: receives a message when a store is opened, fails, or works again.
    ///   - checkInterval: the time between the end of one check of the stores and the next. A check
    ///     costs one small read of each store.
    ///   - metrics: creates the metrics; nil for the factory that `MetricsSystem` was bootstrapped
    ///     with.
    public init(
      _ stores: [ManagedStore], logger: Logger, checkInterval: Duration = .seconds(15),
      metrics: (any MetricsFactory)? = nil
    ) {
      let factory = metrics ?? MetricsSystem.factory
      self.stores = stores
      self.logger = logger
      interval = max(checkInterval, .milliseconds(10))
      states = Lock(stores.map { _ in StoreState() })
      self.metrics = stores.map { StoreMetrics(store: $0.name, factory) }
    }

    /// Opens all stores, and creates new ones; does nothing if they are already open.
    ///
    /// Call it before the service group runs, so that nothing is served without the stores.
    /// Otherwise ``run()`` opens them.
    ///
    /// - Throws: ``StorageStartError``: which store can't be used, why, and what to do.
    public func open() async throws(StorageStartError) {
      try await opening.once { () throws(StorageStartError) in try await self.openAll() }
    }

    private func openAll() async throws(StorageStartError) {
      for (index, store) in stores.enumerated() {
        do throws(StorageError) {
          try await store.open()
        } catch {
          logger.critical(
            "a store can't be opened", metadata: .of(error, store: store.name))
          throw StorageStartError(store: store.name, reason: error)
        }
        found(index, nil)
        logger.info("a store is open", metadata: ["store": "\(store.name)"])
      }
      let all = stores.indices.flatMap { index in
        let store = stores[index].storage.store
        return [
          store.events.watch { [self] event in note(event, index) },
          store.distantPlace?.watchConnection { [self] event in metrics[index].count(event) },
        ].compactMap(\.self)
      }
      observations.withLock { $0 = all }
    }

    /// Opens the stores, checks them regularly, and closes them when the service ends.
    ///
    /// - Throws: ``StorageStartError`` if they can't be opened; `StorageError` if something could
    ///   not be written at the end.
    public func run() async throws {
      try await open()
      await cancelWhenGracefulShutdown { [self] in
        await withTaskGroup { group in
          group.addTask { [self] in while await pause() { await check() } }
          // Apart from the checks, which may hang.
          group.addTask { [self] in while await pause() { recordAges() } }
          // Apart as well: a store that was never read asks its engine.
          group.addTask { [self] in
            repeat { await Blocking.run { self.recordStates() } } while await pause()
          }
        }
      }
      try await close()
    }

    /// Waits until the next check.
    ///
    /// - Returns: false if the task must end.
    private func pause() async -> Bool {
      do {
        try await Task.sleep(for: interval)
        return true
      } catch {
        return false
      }
    }

    /// Checks the place of each store now, and returns ``health``.
    @discardableResult
    public func check() async -> [StorageHealth] {
      for (index, store) in stores.enumerated() {
        states.withLock { $0[index].began = $0[index].began ?? .now }
        do throws(StorageError) {
          try await store.check()
          found(index, nil)
        } catch {
          guard error.code != .cancelled else {
            states.withLock { $0[index].began = nil }
            continue
          }
          found(index, error)
        }
      }
      return health
    }

    /// The last known state of the stores, without a new check.
    public var health: [StorageHealth] {
      states.withLock { states in
        zip(stores, states).map { store, state in
          StorageHealth(
            store: store.name, readFailure: state.failure ?? overdue(state),
            writeFailure: state.writeFailure, age: state.checked.map { $0.duration(to: .now) })
        }
      }
    }

    /// An error for a store whose check hangs, as on a network file system that does not answer.
    private func overdue(_ state: StoreState) -> StorageError? {
      guard let began = state.began, began.duration(to: .now) > patience else { return nil }
      return StorageError(
        .timedOut,
        "the check of the store has been running for more than \(patience.components.seconds) s; check its "
          + "disk"
      )
    }

    /// How long a check may take before the store counts as one that can't be read.
    private var patience: Duration { max(interval * 3, .seconds(2)) }

    private func recordAges() {
      let ages = states.withLock { states in
        states.map { $0.checked?.duration(to: .now) }
      }
      for (metrics, age) in zip(metrics, ages) { metrics.age(age) }
    }

    /// Records how current the stores are that machines share; reads from memory.
    private func recordStates() {
      for (metrics, store) in zip(metrics, stores) {
        guard let storage = store.storage as? RemoteStorage else { continue }
        // A failing read is told by the check and by `securestorage_failures`.
        do throws(StorageError) {
          let acknowledged = try storage.acknowledgement()
          metrics.record(storage.state, acknowledged.slots, of: acknowledged.all)
        } catch {
          metrics.record(storage.state, [], of: [])
        }
      }
    }

    private func close() async throws(StorageError) {
      var failure: StorageError?
      for store in stores.reversed() {
        do throws(StorageError) {
          try await store.close()
          logger.info("a store is closed", metadata: ["store": "\(store.name)"])
        } catch {
          logger.error("a store can't be closed", metadata: .of(error, store: store.name))
          failure = failure ?? error
        }
      }
      observations.withLock { $0 = [] }
      for line in StorageDiagnostics.restOfLines() { logger.error("\(line)") }
      if let failure { throw failure }
    }

    // MARK: - What was seen

    private func found(_ index: Int, _ failure: StorageError?) {
      let (was, age) = states.withLock { states in
        let was = states[index].failure
        states[index].failure = failure
        states[index].began = nil
        if failure == nil { states[index].checked = .now }
        return (was, states[index].checked?.duration(to: .now))
      }
      metrics[index].age(age)
      let name = stores[index].name
      if let failure, failure.code != was?.code {
        logger.error("a store can't be read", metadata: .of(failure, store: name))
      } else if failure == nil, was != nil {
        logger.info("a store can be read again", metadata: ["store": "\(name)"])
      }
    }

    private func note(_ event: StoreEvents.Event, _ index: Int) {
      metrics[index].count(event)
      switch event {
      case .wrote: states.withLock { $0[index].writeFailure = nil }
      case .failedToWrite(let code) where code.isOfThePlace:
        states.withLock { $0[index].writeFailure = code }
      default: break
      }
    }
  }

  private struct StoreState: Sendable {
    var failure: StorageError?
    var writeFailure: StorageError.Code?
    var checked: ContinuousClock.Instant?
    /// When the check began that has not ended yet.
    var began: ContinuousClock.Instant?
  }

  /// Runs an operation once; concurrent callers wait for its result.
  private actor Opening {
    private var task: Task<Result<Void, StorageStartError>, Never>?

    func once(
      _ body: @escaping @Sendable () async throws(StorageStartError) -> Void
    ) async throws(StorageStartError) {
      let task =
        task
        ?? Task {
          do throws(StorageStartError) { return .success(try await body()) } catch {
            return .failure(error)
          }
        }
      self.task = task
      let result = await task.value
      // A failed start may be tried again.
      if case .failure = result { self.task = nil }
      try result.get()
    }
  }

  extension StorageError.Code {
    /// Whether the place rejects all writes, whatever their content.
    fileprivate var isOfThePlace: Bool {
      switch self {
      case .invalid, .unsupported, .typeMismatch, .cancelled, .busy: false
      default: true
      }
    }
  }

  extension StorageService: CustomStringConvertible {
    /// The type and the names of the stores.
    public var description: String {
      "StorageService(\(stores.map(\.name).joined(separator: ", ")))"
    }
  }
#endif
