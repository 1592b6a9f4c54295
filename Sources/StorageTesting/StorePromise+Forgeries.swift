internal import CryptoCore
internal import StorageCore

private import struct Foundation.Data

/// Records and headers that were altered, moved or lost.
extension StorePromise {
  static let forgeries: [StorePromise] = [
    StorePromise("no call makes a value of a damaged record or replaces it unasked") { subject in
      let place = try subject.make()
      let storage = try place.storage()
      try storage.save("a value", forKey: "k")
      var (name, record) = try place.onlyRecord()
      record[record.count - 1] ^= 1
      try place.plant(record, for: name)
      let error = try subject.require(.damaged, "reading it") {
        _ = try storage.load(String.self, forKey: "k")
      }
      try subject.require(error.key == "k", "the error names \(error.key ?? "nothing")")
      try subject.require(storage.string(forKey: "k") == nil, "a string is made of it")
      try subject.require(storage.data(forKey: "k") == nil, "data is made of it")
      try subject.require(storage.array(forKey: "k") == nil, "an array is made of it")
      try subject.require(storage.integer(forKey: "k") == 0, "a number is made of it")
      try subject.require(try storage.contains("k"), "it is said to be absent")
      try subject.require(try !storage.saveIfAbsent("new", forKey: "k"), "it is taken for absent")
      storage.register(defaults: ["k": "new"])
      try subject.require(.damaged, "listing") { _ = try storage.keys() }
      try subject.require(.damaged, "updating it") {
        try storage.update(String.self, forKey: "k") { $0 = "new" }
      }
      try subject.require(try place.onlyRecord().record == record, "it was replaced")
      try storage.save("another", forKey: "other")
      try subject.require(
        try storage.load(String.self, forKey: "other") == "another", "it hides another record")
      try storage.save("new", forKey: "k")
      try subject.require(
        try place.storage().load(String.self, forKey: "k") == "new", "it can't be replaced")
    },
    StorePromise("records that are swapped between two keys are refused") { subject in
      let place = try subject.make()
      let storage = try place.storage()
      try storage.save("of a", forKey: "a")
      let (name, record) = try place.onlyRecord()
      try storage.save("of b", forKey: "b")
      guard let (other, otherRecord) = try place.records().first(where: { $0.key != name })
      else { throw BrokenPromise(description: "\(subject.promise): there is no second record") }
      try place.plant(otherRecord, for: name)
      try place.plant(record, for: other)
      for key in ["a", "b"] as [StoreKey] {
        try subject.require(.damaged, "reading \(key)") {
          _ = try storage.load(String.self, forKey: key)
        }
      }
      try place.plant(record, for: name)
      try subject.require(
        try storage.load(String.self, forKey: "a") == "of a", "the right record is not read")
    },
    StorePromise("a record of another store is refused even under the same key") { subject in
      let (one, other) = (try subject.make(), try subject.make())
      let (first, second) = (try one.storage(), try other.storage())
      try first.save("of the first", forKey: "k")
      try second.save("of the second", forKey: "k")
      let (name, record) = try one.onlyRecord()
      let (otherName, _) = try other.onlyRecord()
      try subject.require(name != otherName, "the same name has the same hash in both")
      try other.plant(record, for: otherName)
      try subject.require(.damaged, "reading it") {
        _ = try second.load(String.self, forKey: "k")
      }
      // Under its own name it is as if it were not there.
      try other.plant(nil, for: otherName)
      try other.plant(record, for: name)
      try subject.require(try second.load(String.self, forKey: "k") == nil, "it is read")
    },
    StorePromise("another key is the wrong key, another tag is damage, and neither writes") {
      subject in
      let place = try subject.make()
      let owner = try place.storage(.first, tag: "tag")
      try owner.save("value", forKey: "k")
      let before = try place.records()
      let stranger = try place.storage(.second, tag: "tag")
      try subject.require(.wrongKey, "reading with another key") {
        _ = try stranger.load(String.self, forKey: "k")
      }
      try subject.require(.wrongKey, "writing with another key") {
        try stranger.save("new", forKey: "k")
      }
      for tag in [nil, "", "other", "tag2", "ta", "TAG"] {
        let other = try place.storage(.first, tag: tag)
        try subject.require(.damaged, "reading with the tag \(tag ?? "nil")") {
          _ = try other.load(String.self, forKey: "k")
        }
        try subject.require(.damaged, "listing with the tag \(tag ?? "nil")") {
          _ = try other.keys()
        }
      }
      try subject.require(try place.records() == before, "a record was changed")
      try subject.require(try owner.load(String.self, forKey: "k") == "value", "it is lost")
    },
    StorePromise("a lost header is damage while there are records, and no other is made") {
      subject in
      let place = try subject.make()
      try place.storage().save("kept", forKey: "k")
      let before = try place.records()
      try place.plant(nil, for: nil)
      let storage = try place.storage()
      let calls: [() throws -> Void] = [
        { _ = try storage.load(String.self, forKey: "k") }, { try storage.open() },
        { try storage.save("new", forKey: "k") }, { try storage.delete(forKey: "k") },
      ]
      for call in calls { try subject.require(.damaged, "a call", call) }
      // A place that knows what it lacks may refuse to give a header.
      do {
        try subject.require(try place.raw().header().header == nil, "there is another header")
        try subject.require(try place.records() == before, "a record was changed")
      } catch let error as StorageError where error.code == .damaged {
      }
    },
    StorePromise("no name, no value and no tag is stored in the clear") { subject in
      let place = try subject.make()
      let storage = try place.storage(.first, tag: "tag marker")
      try storage.save("value marker", forKey: "name marker")
      try storage.save(encodable: ["field marker": "value marker"], forKey: "other marker")
      let stored = Data(try place.storedBytes())
      try subject.require(!stored.isEmpty, "nothing is stored")
      try subject.require(stored.range(of: Data("marker".utf8)) == nil, "it is in the clear")
    },
  ]
}
