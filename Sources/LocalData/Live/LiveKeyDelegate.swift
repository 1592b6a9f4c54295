internal import CryptoCore
internal import Foundation
internal import StorageCore

/// The value of one key, as a place that live properties can observe.
///
/// The value is kept as JSON here, whatever the key's serializer. It stays in memory, like the value of
/// every live property.
final class LiveKeyDelegate<Key: StorageKey>: ObservableDelegate {
  let records: ClearRecords
  private let core: RouterCore
  private let key: Key
  private let observers = ChangeObservers()
  /// The last reported or read value, as JSON, and its name; the lock is held while the place is read.
  private let told = Lock(Told())
  private let watch = Lock<Watch?>(nil)

  private struct Told {
    var name: NameHash?
    var json: [UInt8]?
  }
  private struct Watch {
    let own: ChangeObservation
    let others: ChangeObservation
  }

  init(_ core: RouterCore, _ key: Key, records: ClearRecords) {
    self.core = core
    self.key = key
    self.records = records
  }

  var asksOthers: Bool { true }

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
    try told.withLock { (told) throws(StorageError) in
      let json = try json()
      told = Told(name: name, json: json)
      return try record(json, name)
    }
  }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    follow(name)
    try core.route(for: key).save(value(of: record, name))
  }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    follow(name)
    let new = try value(of: record, name)
    let route = try core.route(for: key)
    while true {
      let isMade: Bool? = try storageErrors {
        try route.attemptBlocking { value in
          guard value == nil else { return false }
          value = new
          return true
        }
      }
      if let isMade { return isMade }
    }
  }

  func remove(_ name: NameHash) throws(StorageError) {
    follow(name)
    try core.route(for: key).remove()
  }

  private func follow(_ name: NameHash) {
    told.withLock { told in if told.name == nil { told.name = name } }
  }

  // MARK: - Values

  private func json() throws(StorageError) -> [UInt8]? {
    guard let value = try core.route(for: key).load() else { return nil }
    var data = try Serializer.json.encode(value)
    defer { Wipe.data(&data) }
    return Array(data)
  }

  private func record(_ json: [UInt8]?, _ name: NameHash) throws(StorageError) -> [UInt8]? {
    try json.map { (json) throws(StorageError) in try records.seal(json, key.name, name) }
  }

  private func value(of record: [UInt8], _ name: NameHash) throws(StorageError) -> Key.Value {
    var json = try records.json(of: record, name)
    defer { Wipe.bytes(&json) }
    return try Serializer.json.decode(Key.Value.self, Data(json))
  }

  // MARK: - Observing

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(observers.add(observer))
    start()
    return ChangeObservation { [self] in
      registration.withLock { $0 = nil }
      guard observers.isEmpty else { return }
      let ended = watch.withLock { watch -> Watch? in
        defer { watch = nil }
        return watch
      }
      withExtendedLifetime(ended) {}
    }
  }

  private func start() {
    guard watch.withLock({ $0 == nil }) else { return }
    // If the place can't be observed, the next read throws the error.
    do throws(StorageError) {
      let route = try core.route(for: key)
      let new = Watch(
        own: route.changes.add { [weak self] in self?.look(isOwn: true) },
        others: route.place.observe { [weak self] in self?.look(isOwn: false) })
      let unused = watch.withLock { watch -> Watch? in
        guard watch == nil else { return new }
        watch = new
        return nil
      }
      withExtendedLifetime(unused) {}
    } catch {}
  }

  /// Reports the present value to the observers if it differs from the last one.
  private func look(isOwn: Bool) {
    told.withLock { told in
      guard let name = told.name else { return }
      do throws(StorageError) {
        let json = try json()
        guard isOwn || json != told.json else { return }
        told.json = json
        observers.notify(RecordChange(name: name, record: try record(json, name)))
      } catch {
        // The next read throws the error; here only the change itself can be reported.
        observers.notify(RecordChange(name: name, record: []))
      }
    }
  }
}
