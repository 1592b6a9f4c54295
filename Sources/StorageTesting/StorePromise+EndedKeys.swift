internal import CryptoCore
internal import SingletonBackend
internal import StorageCore

/// What somebody does who has the data keys of before a rotation, and may write to the place.
extension StorePromise {
  static let endedKeys: [StorePromise] = [
    StorePromise("a listener gets no record that was put back from before a rotation") { subject in
      try await expectNothingOld(subject) { place, _ in
        let (name, record) = try place.onlyRecord()
        return { (name, record) }
      }
    },
    StorePromise("a listener gets no record that is forged with keys that ended") { subject in
      try await expectNothingOld(subject) { place, key in
        let copy = try StolenStore(of: place)
        return { try copy.forge("forged", key) }
      }
    },
    StorePromise("junk keeps no key that leaked, and is reported") { subject in
      let place = try subject.make()
      let storage = try place.filled(20)
      let copy = try StolenStore(of: place)
      try plantJunk(place)
      let report = try await storage.keyAdministration.async { try $0.rotate(openedBy: .second) }
      try require(report, 20, 1, [], subject)
      // Whoever has the old keys forges a record with them.
      let (name, forged) = try copy.forge("forged", "k7")
      try place.plant(forged, for: name)
      let next = try place.storage(.second)
      let error = try subject.require(.damaged, "reading the forged record") {
        _ = try next.load(String.self, forKey: "k7")
      }
      try subject.require(error.key == "k7", "the error names \(error.key ?? "nothing")")
      try subject.require(
        error.message.contains("retired") && error.message.contains("readmitting"),
        "the error does not say what takes the record back")
      let again = try await next.keyAdministration.async { try $0.reencrypt() }
      try require(again, 0, 2, ["k7"], subject)
      let last = try place.storage(.second)
      try subject.require(.damaged, "reading it after a second pass") {
        _ = try last.load(String.self, forKey: "k7")
      }
      try subject.require(.damaged, "updating it") {
        try last.update(String.self, forKey: "k7") { $0 = "new" }
      }
      try subject.require(try last.listing().unreadable == 2, "the listing does not count it")
      try subject.require(["k8": 8], in: last)
      // Somebody has looked, and says that it is theirs.
      let back = try await next.keyAdministration.async { try $0.reencrypt(readmitting: true) }
      try subject.require(back.reencrypted == 1, "\(back.reencrypted) are taken back")
      try subject.require(
        try next.load(String.self, forKey: "k7") == "forged", "it was not taken back")
    },
    StorePromise("a record of another tag is set aside, and taken back by its own storage") {
      subject in
      let place = try subject.make()
      let storage = try place.filled(3)
      let tagged = try place.storage(.first, tag: "tag")
      try tagged.save("tagged", forKey: "t")
      try require(try storage.keyAdministration.rotate(), 3, 1, [], subject)
      // Not by accident, and not by somebody without the tag.
      let accident = try tagged.keyAdministration.reencrypt()
      let other = try storage.keyAdministration.reencrypt(readmitting: true)
      try subject.require(accident.reencrypted + other.reencrypted == 0, "it is taken back")
      try subject.require(.damaged, "reading it") {
        _ = try tagged.load(String.self, forKey: "t")
      }
      try subject.require(
        try tagged.load(String.self, forKey: "absent") == nil, "an absent one is there")
      try require(
        try tagged.keyAdministration.reencrypt(readmitting: true), 1, 0, [], subject)
      let last = try place.storage(.first, tag: "tag")
      try subject.require(try last.load(String.self, forKey: "t") == "tagged", "it is lost")
    },
    StorePromise("old keys stay valid where that is said") { subject in
      let place = try subject.make()
      let storage = try place.filled(3)
      try place.storage(.first, tag: "tag").save("tagged", forKey: "t")
      let report = try storage.keyAdministration.rotate(openedBy: .second, keepingOldKeys: true)
      try subject.require(
        report.reencrypted == 3 && report.remaining == 1 && report.setAside == 0,
        "the report is \(report)")
      let tagged = try place.storage(.second, tag: "tag")
      try subject.require(try tagged.load(String.self, forKey: "t") == "tagged", "it is lost")
      try require(try tagged.keyAdministration.reencrypt(), 1, 0, [], subject)
      try subject.require(try tagged.load(String.self, forKey: "t") == "tagged", "it is lost")
    },
  ]

  private static func require(
    _ report: ReencryptionReport, _ reencrypted: Int, _ setAside: Int, _ keys: [StoreKey],
    _ subject: StoreSubject
  ) throws {
    try subject.require(
      report.reencrypted == reencrypted && report.remaining == 0 && report.setAside == setAside
        && report.setAsideKeys == keys, "the report is \(report)")
  }

  /// 66 bytes that name data key 1 and are no record, under a name that nobody uses.
  private static func plantJunk(_ place: any StorePlace) throws {
    let name = NameHash([UInt8](repeating: 0xA5, count: 64))
    try place.plant([1, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 60), for: name)
  }

  /// Rotates while somebody listens, and plants what `steal` returns afterwards.
  private static func expectNothingOld(
    _ subject: StoreSubject,
    steal: (any StorePlace, StoreKey) throws -> () throws -> (NameHash, [UInt8])
  ) async throws {
    let place = try subject.make()
    let storage = try place.storage()
    try storage.save("revoked", forKey: "key")
    let stolen = try steal(place, "key")
    try storage.save("current", forKey: "key")
    var states = Store<String, DelegatedStorage>(storage, "key").states.makeAsyncIterator()
    let first = await states.next()
    try subject.require(first == .value("current"), "the listener begins with \(first as Any)")
    let report = try await storage.keyAdministration.async { try $0.rotate(openedBy: .second) }
    try require(report, 1, 0, [], subject)
    let (name, record) = try stolen()
    try place.plant(record, for: name)
    try place.wakeListeners(by: storage)
    var state = await states.next()
    while state == .value("current") { state = await states.next() }  // sealed anew
    guard case .failed(let error) = state else {
      throw BrokenPromise(description: "\(subject.promise): it gets \(state as Any)")
    }
    try subject.require(error.code == .damaged && error.key == "key", "it gets \(error)")
    for reader in [storage, try place.storage(.second)] {
      try subject.require(.damaged, "reading it") {
        _ = try reader.load(String.self, forKey: "key")
      }
    }
    try storage.save("next", forKey: "key")
    let last = await states.next()
    try subject.require(last == .value("next"), "the next save is heard as \(last as Any)")
  }
}

/// A copy of a store in memory, of somebody who has the key of that time.
private final class StolenStore: ForwardingPlace {
  let base: any RecordPlace = SingletonStorageDelegate()
  private let name: String

  init(of place: any StorePlace) throws {
    let raw = try place.raw()
    name = try raw.place()
    let header = try raw.header().header
    _ = try base.updateHeader { (bytes, _) throws(StorageError) in bytes = header }
    for (name, record) in try place.records() { try base.set(record, for: name) }
  }

  func place() throws(StorageError) -> String { name }

  /// The record that the old key makes of a value.
  func forge(_ value: String, _ key: StoreKey) throws -> (NameHash, [UInt8]) {
    let before = try DelegatePlace(base).records()
    let storage = DelegatedStorage(self, keySource: .first, errorClosure: { _ in })
    try storage.save(value, forKey: key)
    guard let forged = try DelegatePlace(base).records().first(where: { before[$0] != $1 }) else {
      throw StorageError(.invalid, "nothing was written")
    }
    return forged
  }
}
