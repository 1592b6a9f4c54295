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

    func age(_ age: Duration?) {
      guard let age else { return }
      checkAge.record(age / .seconds(1))
    }

    private func failed(_ operation: String, _ code: StorageError.Code) {
      // Created on first use: most programs see few of the codes, or none.
      Counter(
        label: "securestorage_failures",
        dimensions: [("store", store), ("operation", operation), ("code", "\(code)")],
        factory: factory
      ).increment()
    }
  }
#endif
