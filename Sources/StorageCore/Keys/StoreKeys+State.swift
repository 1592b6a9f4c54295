extension StoreKeys {
  /// What the lock `gate` protects.
  struct State {
    var source: KeySource
    /// All keys that were ever current.
    ///
    /// They stay as long as the store, so that a reader can use the current keys without counting
    /// references.
    var history: [OpenKeys] = []
    var nextBlock = 1024
    /// The source whose key opened the store.
    var opener: KeySource.Candidate?
    /// The last time that a source did not answer; callers that waited meanwhile get the same
    /// error.
    var unanswered: (error: StorageError, end: ContinuousClock.Instant)?
    /// Why the store could not be opened the last time, for a second.
    var refusal: Refusal?
    /// The newest keys seen; a header with older keys is refused.
    var past = KeyPast()
    /// Whether a missing store is an error and must not be created.
    var mustExist = false
  }

  /// A key that did not open the store, so that it is not tried again at each read: that may
  /// stretch a passphrase.
  struct Refusal {
    let error: StorageError
    private let headerVersion: UInt64
    /// How many sources were listed; a listed source may change while keys are replaced.
    private let count: Int
    private let end = ContinuousClock.now + .seconds(1)

    /// Remembers `error`; nil for a failure that may end by itself.
    init?(_ error: StorageError, _ headerVersion: UInt64, of source: KeySource) {
      guard error.code == .wrongKey else { return nil }
      (self.error, self.headerVersion, count) = (error, headerVersion, source.candidates.count)
    }

    /// Whether the key is not tried again yet.
    func holds(for version: UInt64, with source: KeySource) -> Bool {
      version == headerVersion && source.candidates.count == count && ContinuousClock.now < end
    }
  }
}
