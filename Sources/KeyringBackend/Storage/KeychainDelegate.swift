internal import CryptoCore
internal import StorageCore

/// The delegate of a ``KeychainStorage``, made at the first use; the settings may change until
/// then.
///
/// Every use checks the settings, so that no use has other settings than the program asked for.
final class KeychainDelegate: RecordPlace {
  private let settings: KeychainSettings
  private let use: @Sendable () -> StoreAccess
  private let make: @Sendable (KeychainSettings.Values) -> any RecordPlace
  private let made = Lock<(any RecordPlace)?>(nil)

  let asksOthers: Bool

  /// A delegate whose records `make` provides; `make` is called once or, in a race, twice.
  init(
    _ settings: KeychainSettings, asksOthers: Bool,
    use: @escaping @Sendable () -> StoreAccess,
    make: @escaping @Sendable (KeychainSettings.Values) -> any RecordPlace
  ) {
    self.settings = settings
    self.asksOthers = asksOthers
    self.use = use
    self.make = make
  }

  private var records: any RecordPlace {
    get throws(StorageError) {
      let values = try settings.settle()
      if let records = made.withLock({ $0 }) { return records }
      let records = make(values)
      return made.withLock { made in
        made = made ?? records
        return made!  // set in the line above
      }
    }
  }

  /// The records, or nil after an error; the next use that can throw gets the error as well.
  private var recordsIfAny: (any RecordPlace)? {
    do throws(StorageError) { return try records } catch { return nil }
  }

  var identity: DelegateIdentity? { recordsIfAny?.identity }
  var location: String? { recordsIfAny?.location }
  var commitLimit: Int { recordsIfAny?.commitLimit ?? 1 }
  var allowance: StoreAccess { use() }

  /// Does nothing: neither place makes anything besides the store itself.
  func makeNothing() {}

  func place() throws(StorageError) -> String { try records.place() }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try records.header()
  }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try records.updateHeader(body)
  }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try records.lookup(name)
  }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try records.commit(writes, headerVersion: headerVersion)
  }

  func names() throws(StorageError) -> [NameHash] { try records.names() }

  func discard() throws(StorageError) {
    try requireWritable()
    try records.discard()
  }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    recordsIfAny?.observe(observer) ?? ChangeObservation {}
  }
}
