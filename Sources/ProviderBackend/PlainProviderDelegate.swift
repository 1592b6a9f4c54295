internal import CryptoCore
internal import StorageCore

/// Keeps names and JSON at a ``KeychainProvider`` in the clear.
///
/// The layers above still see hashed names and sealed records. They use a key that is created with
/// the process, and this delegate has that key too.
final class PlainProviderDelegate: ObservableDelegate {
  /// One key for all, so that storages over one provider hash names alike.
  static let key = SymmetricKey(size: .bits256)

  private let place: ProviderPlace
  private let deadline: Duration
  private let polling: Duration?
  let records = ClearRecords(key: key)

  init(_ provider: any KeychainProvider, deadline: Duration, polling: Duration?) {
    place = .of(provider, isPlain: true)
    self.deadline = deadline
    self.polling = polling
  }

  var identity: DelegateIdentity? { DelegateIdentity(of: place) }
  var asksOthers: Bool { true }

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
    let key = try records.name(of: name)
    return try perform(.timedOut) { [place, records] () throws(StorageError) in
      let json = place.data(key)
      let record = try json.map { (json) throws(StorageError) in try records.seal(json, key, name) }
      try place.follow(name, json, version: nil) { record }
      return record
    }
  }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    _ = try set(record, name, isReplacing: true)
  }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    try set(record, name, isReplacing: false)
  }

  private func set(
    _ record: [UInt8], _ name: NameHash, isReplacing: Bool
  ) throws(StorageError) -> Bool {
    let key = try records.name(of: name)
    let json = try records.json(of: record, name)
    // Also after an error, since the provider may have done a part.
    defer { place.lookElsewhere(name, within: deadline) }
    return try perform(.outcomeUnknown) { [place] () throws(StorageError) in
      guard isReplacing || place.data(key) == nil else { return false }
      try place.set(json, key)
      try place.follow(name, json, isOwn: true, version: nil) { record }
      return true
    }
  }

  func remove(_ name: NameHash) throws(StorageError) {
    let key = try records.name(of: name)
    defer { place.lookElsewhere(name, within: deadline) }
    try perform(.outcomeUnknown) { [place] () throws(StorageError) in
      try place.delete(key)
      try place.follow(name, nil, isOwn: true, version: nil) { nil }
    }
  }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    place.add(observer, every: polling) { [weak place, records] name in
      guard let place else { return }
      // An observer can't receive an error; a reader of the key gets it.
      do throws(StorageError) {
        let key = try records.name(of: name)
        let json = place.data(key)
        try place.follow(name, json, version: nil) { () throws(StorageError) in
          try json.map { (json) throws(StorageError) in try records.seal(json, key, name) }
        }
      } catch {}
    }
  }

  private func perform<Result: Sendable>(
    _ late: StorageError.Code, _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try place.calls.perform(within: deadline, late: late, body)
  }
}
