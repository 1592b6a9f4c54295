#if Server
  internal import CoreMetrics
  internal import StorageCore

  /// The metrics of one store.
  struct StoreMetrics: Sendable {
    private let store: String
    private let factory: any MetricsFactory
    private let writes: Counter
    private let keyChanges: Counter
    private let checkAge: Gauge

    init(store: String, _ factory: any MetricsFactory) {
      self.store = store
      self.factory = factory
      let dimensions = [("store", store)]
      writes = Counter(label: "securestorage_writes", dimensions: dimensions, factory: factory)
      keyChanges = Counter(
        label: "securestorage_key_changes", dimensions: dimensions, factory: factory)
      checkAge = Gauge(
        label: "securestorage_check_age_seconds", dimensions: dimensions, factory: factory)
    }

    func count(_ event: StoreEvents.Event) {
      switch event {
      case .wrote(let count): writes.increment(by: count)
      case .failedToRead(let code): failed("read", code)
      case .failedToWrite(let code): failed("write", code)
      case .changedKeys: keyChanges.increment()
      }
    }

    func count(_ event: ConnectionEvent) {
      switch event {
      case .lost(let error): count("connection_losses", [("code", "\(error.code)")])
      case .found(let span):
        // A gauge and not a counter: how long the last time was is what an operator asks.
        Gauge(
          label: "securestorage_away_seconds", dimensions: [("store", store)], factory: factory
        ).record(span / .seconds(1))
      case .repaired(let changes): count("repaired_changes", by: changes)
      }
    }

    func age(_ age: Duration?) {
      guard let age else { return }
      checkAge.record(age / .seconds(1))
    }

    private func failed(_ operation: String, _ code: StorageError.Code) {
      count("failures", [("operation", operation), ("code", "\(code)")])
    }

    /// Raises a counter that is made on its first use: most programs see few of them, or none.
    private func count(_ name: String, _ dimensions: [(String, String)] = [], by amount: Int = 1) {
      Counter(
        label: "securestorage_\(name)", dimensions: [("store", store)] + dimensions,
        factory: factory
      ).increment(by: amount)
    }
  }
#endif
