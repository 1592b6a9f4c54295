#if Server
  internal import Metrics
  internal import StorageCore

  /// The metrics of one store.
  struct StoreMetrics: Sendable {
    private let store: String
    private let writes: Counter
    private let keyChanges: Counter
    private let checkAge: Gauge

    init(store: String) {
      self.store = store
      let dimensions = [("store", store)]
      writes = Counter(label: "securestorage_writes", dimensions: dimensions)
      keyChanges = Counter(label: "securestorage_key_changes", dimensions: dimensions)
      checkAge = Gauge(label: "securestorage_check_age_seconds", dimensions: dimensions)
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
      // Made where it is needed: most programs see few of the codes, or none.
      Counter(
        label: "securestorage_failures",
        dimensions: [("store", store), ("operation", operation), ("code", "\(code)")]
      ).increment()
    }
  }
#endif
