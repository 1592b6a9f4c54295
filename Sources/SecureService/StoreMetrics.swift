#if Server
  internal import CoreMetrics
  internal import CryptoCore
  internal import RemoteBackend
  internal import StorageCore

  /// The metrics of one store.
  struct StoreMetrics: Sendable {
    private let store: String
    private let factory: any MetricsFactory
    private let writes: Counter
    private let keyChanges: Counter
    private let checkAge: Gauge
    /// The slots that were recorded before.
    private let known = Lock<Set<UInt32>>([])

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
        gauge("away_seconds", span / .seconds(1))
      case .repaired(let changes): count("repaired_changes", by: changes)
      }
    }

    /// Records how current a store is that machines share, and which key slots this machine has
    /// acknowledged.
    func record(_ state: RemoteState, _ acknowledged: Set<UInt32>, of slots: Set<UInt32>) {
      switch state {
      case .unused: gauge("connected", 0)
      case .current(let age), .unkept(_, _, let age):
        gauge("connected", 1)
        gauge("age_seconds", age / .seconds(1))
      case .away(_, _, let age):
        gauge("connected", 0)
        gauge("age_seconds", age / .seconds(1))
      }
      let known = known.withLock { known in
        defer { known = slots }
        return known
      }
      for slot in slots.union(known) {
        gauge("acknowledged", acknowledged.contains(slot) ? 1 : 0, [("slot", "\(slot)")])
      }
    }

    private func gauge(
      _ name: String, _ value: Double, _ dimensions: [(String, String)] = []
    ) {
      Gauge(
        label: "securestorage_\(name)", dimensions: [("store", store)] + dimensions,
        factory: factory
      ).record(value)
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
