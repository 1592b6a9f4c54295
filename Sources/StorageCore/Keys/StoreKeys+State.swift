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
    /// Why the store could not be opened the last time, if the reason may still hold.
    var refusal: Refusal?
    let refused = RefusedPassphrase()
    /// The newest keys seen; a header with older keys is refused.
    var past = KeyPast()
    /// Whether a missing store is an error and must not be created.
    var mustExist = false
  }
}
