internal import StorageCore

/// Stores that are discarded, whatever they contain.
extension StorePromise {
  static let discarding: [StorePromise] = [
    StorePromise("a store under a lost key is discarded, and works at once as a new one") {
      subject in
      let place = try subject.make()
      let first = try place.filled(5)
      let second = try place.storage(.second)
      try subject.require(.wrongKey, "reading it") { _ = try second.load(Int.self, forKey: "k1") }
      try subject.require(.wrongKey, "removing all") {
        try second.removeAll()
        try second.open()
      }
      try second.discard()
      try requireNew(second, place, subject)
      try subject.require(.wrongKey, "reading it with the old key") {
        _ = try first.load(Int.self, forKey: "k1")
      }
      try subject.require(.wrongKey, "writing to it with the old key") {
        try first.save(1, forKey: "k1")
      }
    },
    StorePromise("a header that is none, or is gone, keeps nobody from discarding a store") {
      subject in
      for bytes in [nil, [], [1, 2, 3], [UInt8](repeating: 0xA5, count: 300)] as [[UInt8]?] {
        let place = try subject.make()
        _ = try place.filled(3)
        try place.plant(bytes, for: nil)
        let storage = try place.storage()
        try subject.require(.damaged, "reading it") {
          _ = try storage.load(Int.self, forKey: "k1")
        }
        try storage.discard()
        try requireNew(storage, place, subject)
      }
    },
    StorePromise("discarding nothing is no error, and discarding twice is none") { subject in
      let place = try subject.make()
      let storage = try place.storage()
      try storage.discard()
      try subject.require(try place.raw().header().header == nil, "there is a header")
      _ = try place.filled(2)
      try storage.discard()
      try storage.discard()
      try requireNew(storage, place, subject)
    },
    StorePromise("other storages of a discarded store find a new one") { subject in
      let place = try subject.make()
      let (one, other) = (try place.filled(3), try place.storage())
      try subject.require(["k1": 1], in: other)
      try one.discard()
      try subject.require(try other.load(Int.self, forKey: "k1") == nil, "the other reads k1")
      try subject.require(try other.keys().isEmpty, "the other lists keys")
      try other.save(7, forKey: "k1")
      try subject.require(["k1": 7], in: one)
      try one.save(8, forKey: "k2")
      try subject.require(["k1": 7, "k2": 8], in: other)
    },
    StorePromise("properties of a discarded store have their defaults, and may be assigned") {
      subject in
      let place = try subject.make()
      let first = try place.filled(2)
      if try place.raw().asksOthers { try first.open() }
      let live = Live(wrappedValue: 40, first, "k1")
      try subject.require(live.wrappedValue == 1, "it is \(live.state)")
      try first.discard()
      try subject.require(live.wrappedValue == 40, "afterwards it is \(live.state)")
      live.wrappedValue = 2
      try subject.require(["k1": 2], in: first)
      // A read that failed forbids assignments, until the store that failed is gone.
      let second = try place.storage(.second)
      let property = Store<Int, DelegatedStorage>(second, "k1")
      try subject.require(property.wrappedValue == nil, "another key opens it")
      try second.discard()
      property.wrappedValue = 3
      try subject.require(["k1": 3], in: second)
    },
    StorePromise("a store that must exist is not made anew once it is discarded") { subject in
      let place = try subject.make()
      let storage = try place.filled(1)
      try storage.open(.mustExist)
      try storage.discard()
      try subject.require(.unavailable, "saving") { try storage.save(1, forKey: "k0") }
      try subject.require(.unavailable, "loading") { _ = try storage.load(Int.self, forKey: "k0") }
    },
  ]

  private static func requireNew(
    _ storage: DelegatedStorage, _ place: any StorePlace, _ subject: StoreSubject
  ) throws {
    try subject.require(try storage.load(Int.self, forKey: "k1") == nil, "k1 is still there")
    try subject.require(try place.raw().names().isEmpty, "there are records")
    try subject.require(try place.raw().header().header == nil, "there is a header")
    try storage.save(11, forKey: "k1")
    try subject.require(["k1": 11], in: storage)
    try subject.require(try storage.keys() == ["k1"], "other keys are there")
  }
}
