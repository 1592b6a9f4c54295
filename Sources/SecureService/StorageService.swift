#if Server
  internal import CryptoCore
  public import CoreMetrics
  public import Logging
  public import ServiceLifecycle
  internal import StorageCore

  /// Opens the stores of a server at its start, looks at them while it runs, and closes them at its end.
  ///
  ///     let stores = StorageService([.vault(.standard, existence: .mustExist)], logger: logger)
  ///     try await stores.open()  // the start fails here, with the reason
  ///     let group = ServiceGroup(services: [stores, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  ///     try await group.run()
  ///
  /// A service group ends its services in the reverse of their order: put this one before those that use the
  /// stores, so that it closes them last.
  ///
  /// With a metrics system bootstrapped it counts, for each store, under the label `store`:
  ///
  /// | metric | |
  /// |---|---|
  /// | `securestorage_writes` | values saved or removed through the given storage |
  /// | `securestorage_failures` | reads and writes of values that failed; labels `operation` and `code` |
  /// | `securestorage_key_changes` | changes of keys that this process saw, whoever made them |
  /// | `securestorage_check_age_seconds` | how long ago the store was last found readable, past what is in memory |
  ///
  /// Reads that succeed are not counted, and cost what they cost without it.
  public final class StorageService: Service {
    /// The stores.
    public let stores: [ManagedStore]
    private let logger: Logger
    private let interval: Duration
    private let states: Lock<[StoreState]>
    private let metrics: [StoreMetrics]
    private let observations = Lock<[ChangeObservation]>([])
    private let opening = Opening()

    /// A service for stores; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - stores: the stores, in the order in which they are opened.
    ///   - logger: told what is opened, what fails, and that it works again.
    ///   - checkInterval: how long after one look at the stores the next begins. A look costs one small
    ///     read of each.
    ///   - metrics: makes the metrics; nil for what `MetricsSystem` was bootstrapped with.
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

    /// Opens all stores, or makes those that are new; does nothing when that was done.
    ///
    /// Call it before the service group runs, so that nothing is served without the stores; ``run()`` does it
    /// otherwise.
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
      let all = stores.indices.map { index in
        stores[index].storage.store.events.watch { [self] event in note(event, index) }
      }
      observations.withLock { $0 = all }
    }

    /// Opens the stores, looks at them now and then, and closes them when it is to end.
    ///
    /// - Throws: ``StorageStartError`` when they can't be opened; `StorageError` when something could not be
    ///   written at the end.
    public func run() async throws {
      try await open()
      await cancelWhenGracefulShutdown { [self] in
        while await pause() { await check() }
      }
      try await close()
    }

    /// Waits for the next look.
    ///
    /// - Returns: false when the task is to end.
    private func pause() async -> Bool {
      do {
        try await Task.sleep(for: interval)
        return true
      } catch {
        return false
      }
    }

    /// Looks at each store now, past what is in memory, and gives ``health``.
    @discardableResult
    public func check() async -> [StorageHealth] {
      for (index, store) in stores.enumerated() {
        do throws(StorageError) {
          try await store.check()
          found(index, nil)
        } catch {
          guard error.code != .cancelled else { continue }
          found(index, error)
        }
      }
      return health
    }

    /// What is known of the stores, without looking at them.
    public var health: [StorageHealth] {
      states.withLock { states in
        zip(stores, states).map { store, state in
          StorageHealth(
            store: store.name, readFailure: state.failure, writeFailure: state.writeFailure,
            age: state.checked.map { $0.duration(to: .now) })
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
  }

  /// Does a thing once; who comes meanwhile waits for the outcome.
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
      // A start that failed may be tried again.
      if case .failure = result { self.task = nil }
      try result.get()
    }
  }

  extension StorageError.Code {
    /// Whether the place can't take writes, whatever is written.
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
