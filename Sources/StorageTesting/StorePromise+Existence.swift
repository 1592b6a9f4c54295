internal import StorageCore

/// Stores that must exist.
extension StorePromise {
  static let existence: [StorePromise] = [
    StorePromise("a store that must exist is not made, and is opened if there is one") { subject in
      let place = try subject.make()
      let storage = try place.storage()
      for _ in 0..<2 {
        try subject.require(.unavailable, "opening") { try storage.open(.mustExist) }
      }
      try requireUnavailable(storage, subject)
      try subject.require(.unavailable, "opening it later") { try storage.open() }
      try subject.require(try place.raw().header().header == nil, "there is a header")
      let other = try place.storage()
      if place.sharesExistence {
        try subject.require(.unavailable, "saving by another storage") {
          try other.save("value", forKey: "key")
        }
        return
      }
      try subject.require(try other.load(String.self, forKey: "key") == nil, "there is a value")
      try other.save("value", forKey: "key")
      try storage.open(.mustExist)
      try subject.require(
        try storage.load(String.self, forKey: "key") == "value", "it is not opened")
      try storage.save("newer", forKey: "key")
      try subject.require(
        try other.load(String.self, forKey: "key") == "newer", "it is not written to")
      let stranger = try place.storage(.second)
      try subject.require(.wrongKey, "opening it with another key") {
        try stranger.open(.mustExist)
      }
    },
    StorePromise("a store that must exist is not made anew when it vanishes") { subject in
      let place = try subject.make()
      let (storage, other) = (try place.storage(), try place.storage())
      try storage.save("value", forKey: "key")
      try storage.open(.mustExist)
      let live = Live(wrappedValue: "default", storage, "key")
      try subject.require(live.wrappedValue == "value", "it is \(live.state)")
      guard let bringBack = try place.moveAway() else { return }
      try requireUnavailable(storage, subject)
      if place.sharesExistence {
        try subject.require(.unavailable, "saving by another") {
          try other.save("lost", forKey: "key")
        }
      }
      try subject.require(.unavailable, "saving a live value") {
        try live.projectedValue.save("lost")
      }
      try bringBack()
      try subject.require(
        try storage.load(String.self, forKey: "key") == "value", "it does not come back")
      try storage.save("newer", forKey: "key")
      try subject.require(
        try other.load(String.self, forKey: "key") == "newer", "it is not written to")
    },
  ]

  private static func requireUnavailable(
    _ storage: DelegatedStorage, _ subject: StoreSubject
  ) throws {
    let calls: [(String, () throws -> Void)] = [
      // First a write: a place may read from memory until it writes.
      ("saving", { try storage.save("lost", forKey: "key") }),
      ("loading", { _ = try storage.load(String.self, forKey: "key") }),
      ("saving if absent", { _ = try storage.saveIfAbsent("lost", forKey: "key") }),
      ("listing", { _ = try storage.keys() }),
      ("a transaction", { try storage.transaction { try $0.save("lost", forKey: "key") } }),
    ]
    for (what, call) in calls { try subject.require(.unavailable, what, call) }
  }
}
