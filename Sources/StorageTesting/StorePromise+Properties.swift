internal import CryptoCore
internal import StorageCore

/// Properties over several storages.
extension StorePromise {
  static let properties: [StorePromise] = [
    StorePromise("the four forms of properties are kept, and another storage has their values") {
      subject in
      let place = try subject.make()
      let storage = try place.storage()
      let first = Properties(storage)
      try subject.require(
        first.token.wrappedValue == nil && first.region.wrappedValue == "eu"
          && first.user.wrappedValue == nil && first.admin.wrappedValue == User(name: "root")
          && first.launches.wrappedValue == 0 && first.guest.wrappedValue == User(name: "guest"),
        "the defaults are others")
      // A default is stored for those that can be nil, and only for those.
      try subject.require(
        try storage.keys().sorted() == ["admin", "region"], "other keys are there")
      first.token.wrappedValue = "secret"
      first.launches.wrappedValue += 1
      first.user.wrappedValue = User(name: "Ada")
      first.admin.wrappedValue?.roles.append("all")
      first.guest.wrappedValue.name = "Grace"
      let again = Properties(try place.storage())
      try subject.require(
        again.token.wrappedValue == "secret" && again.launches.wrappedValue == 1
          && again.user.wrappedValue == User(name: "Ada")
          && again.admin.wrappedValue == User(name: "root", roles: ["all"])
          && again.guest.wrappedValue == User(name: "Grace"), "the values are others")
      again.user.wrappedValue = nil
      try again.guest.remove()
      try subject.require(
        first.user.wrappedValue == nil && first.guest.wrappedValue == User(name: "guest"),
        "they are not removed")
    },
    StorePromise("a value that a live property refuses leaves the last one, and is reported once") {
      subject in
      let place = try subject.make()
      let (storage, other) = (try place.storage(), try place.storage())
      if try place.raw().asksOthers { try storage.open() }
      let codes = Lock<[StorageError.Code]>([])
      storage.errorClosure = { error in
        codes.withLock { $0.append((error as? StorageError)?.code ?? .io) }
      }
      let live = Live(wrappedValue: 8080, storage, "port", validate: { $0 > 0 })
      try await live.projectedValue.saveAsync(9000)
      let bad = [("ninety", StorageError.Code.typeMismatch), ("0", .invalid), ("-1", .invalid)]
      for (text, code) in bad {
        codes.withLock { $0 = [] }
        try other.save(text, forKey: "port")
        while true {
          if case .failed(let error) = live.state, error.code == code { break }
          try await Task.sleep(for: .milliseconds(1))
        }
        for _ in 0..<3 {
          try subject.require(live.wrappedValue == 9000, "\(text) changes it")
        }
        let told = codes.withLock { $0 }
        try subject.require(told == [code], "\(text) is reported as \(told)")
        try other.save("9000", forKey: "port")
        while live.state != .value(9000) { try await Task.sleep(for: .milliseconds(1)) }
      }
      try other.delete(forKey: "port")
      while live.wrappedValue != 8080 { try await Task.sleep(for: .milliseconds(1)) }
    },
  ]

  private struct User: Codable, Equatable, Sendable {
    var name: String
    var roles: [String] = []
  }

  private struct Properties {
    let token: Store<String, DelegatedStorage>
    let region: Store<String, DelegatedStorage>
    let launches: UnwrappedStore<Int, DelegatedStorage>
    let user: CodableStore<User, DelegatedStorage>
    let admin: CodableStore<User, DelegatedStorage>
    let guest: UnwrappedCodableStore<User, DelegatedStorage>

    init(_ storage: DelegatedStorage) {
      token = .init(storage, "token")
      region = .init(wrappedValue: "eu", storage, "region")
      launches = .init(wrappedValue: 0, storage, "launches")
      user = .init(storage, "user")
      admin = .init(wrappedValue: User(name: "root"), storage, "admin")
      guest = .init(wrappedValue: User(name: "guest"), storage, "guest")
    }
  }
}
