import CryptoCore
import Foundation
import LocalData
import StorageTesting
import Testing

@Suite struct LiveStoredTests {
  private let folder = TestFolder()

  /// Waits until `condition` holds, for ten seconds at most.
  private func eventually(_ condition: () -> Bool) async throws -> Bool {
    for _ in 0..<2000 {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return condition()
  }

  static let domains =
    Combination.plain + [
      Combination(domain: .userDefaults, security: .recommended),
      Combination(domain: .keychain(service: "s"), security: .recommended),
      Combination(domain: .encryptedFileSystem(directory: .documents), security: .recommended),
      Combination(domain: .fileSystem(directory: .documents), security: .recommended),
    ]

  @Test(arguments: domains)
  func everyReaderSeesEveryChangeOfThisProcess(_ case: Combination) async throws {
    let router = folder.router()
    let key = key("live", `case`.domain, `case`.security)
    @LiveStored(key, router: router) var theme = "dark"
    @LiveStored(key, router: router) var optional: String?
    #expect(theme == "dark")
    #expect(optional == nil)
    theme = "light"
    #expect(optional == "light")
    #expect(try await router.get(key) == "light")
    try await router.set("blue", for: key)
    #expect(theme == "blue")
    #expect(optional == "blue")
    optional = nil
    #expect(theme == "dark")
    #expect(try await router.get(key) == nil)
    try await router.update(key) { $0 = "x" }
    #expect(theme == "x")
    try await router.remove(key)
    #expect(theme == "dark")
  }

  @Test(arguments: domains)
  func changesOfAnotherRouterAreSeen(_ case: Combination) async throws {
    let router = folder.router()
    let key = key("live", `case`.domain, `case`.security)
    try await router.set("1", for: key)
    @LiveStored(key, router: router) var value: String?
    #expect(value == "1")
    try await folder.router().set("2", for: key)
    #expect(try await eventually { value == "2" })
    try await folder.router().remove(key)
    #expect(try await eventually { value == nil })
  }

  @Test func whatIsDamagedIsAFailureAndNotAbsent() async throws {
    let key = key("x", .fileSystem(directory: .documents))
    let router = folder.router()
    try await router.set("1", for: key)
    let file = folder.url.appendingPathComponent("data/com.example.app/Documents/x")
    try Data("nonsense".utf8).write(to: file)
    @LiveStored(key, router: router) var value = "default"
    #expect(value == "default")
    guard case .failed(let error) = $value.state else {
      Issue.record("not a failure")
      return
    }
    #expect(error.code == .damaged)
    value = "assigned"
    #expect(try Data(contentsOf: file) == Data("nonsense".utf8))
  }

  @Test(arguments: domains.filter { "\($0)".contains("userDefaults") })
  func aBadValueOfAnotherRouterLeavesTheLastOne(_ case: Combination) async throws {
    let router = folder.router()
    let key = key("port", `case`.domain, `case`.security, of: Int.self)
    @LiveStored(key, router: router, validate: { $0 > 0 }) var port = 8080
    @LiveStored(key, router: router, validate: { $0 > 0 }) var optional: Int?
    port = 0
    #expect(port == 8080 && optional == nil)
    #expect(try await router.get(key) == nil)
    optional = 9000
    #expect(port == 9000)
    let text: StoredKey<String> = LocalDataTests.key("port", `case`.domain, `case`.security)
    try await folder.router().set("ninety", for: text)
    let property = $port
    #expect(
      try await eventually {
        if case .failed(let error) = property.state { error.code == .typeMismatch } else { false }
      })
    for _ in 0..<3 { #expect(port == 9000) }
    try await folder.router().set(0, for: key)
    #expect(
      try await eventually {
        if case .failed(let error) = property.state { error.code == .invalid } else { false }
      })
    #expect(port == 9000 && optional == 9000)
    try await folder.router().set(9001, for: key)
    #expect(try await eventually { property.wrappedValue == 9001 })
    try await folder.router().remove(key)
    #expect(try await eventually { property.wrappedValue == 8080 })
  }

  // MARK: - The shared value

  @Test func allPropertiesOfAKeyShareOneValueWhichEndsWithThem() async throws {
    let router = folder.router()
    let key = key("live", .userDefaults)
    weak var shared: LiveValue<String?>?
    do {
      let one = LiveStored(wrappedValue: "dark", key, router: router)
      let two = LiveStored(key, router: router)
      shared = two.projectedValue.live
      #expect(one.projectedValue.live === shared)
      let other = LiveStored(key, router: folder.router())
      #expect(other.projectedValue.live !== shared)
      one.wrappedValue = "light"
      #expect(two.wrappedValue == "light")
    }
    // The queue of the value may be using it.
    #expect(try await eventually { shared == nil })
    let three = LiveStored(key, router: router)
    #expect(three.wrappedValue == "light")
  }

  @Test func aKeyThatCouldNotBeReadAtFirstIsFollowedOnceItCan() async throws {
    let router = folder.router()
    try await router.set("1", for: StoredKey<String>.followed)
    try router.registerCatalog(Empty.self)
    @LiveStored(StoredKey<String>.followed, router: router) var value = "default"
    #expect(value == "default")
    guard case .failed = $value.state else {
      Issue.record("not a failure")
      return
    }
    value = "assigned"
    try router.registerCatalog(Followed.self)
    #expect(value == "1")
    try await folder.router().set("2", for: StoredKey<String>.followed)
    #expect(try await eventually { value == "2" })
  }

  @Test func anUpdateChangesTheValueOnceAndRefusesAWriteInsideIt() async throws {
    let router = folder.router()
    let key = key("count", .userDefaults, of: Int.self)
    @LiveStored(key, router: router) var count = 1
    let result = try $count.update { count -> Int in
      count += 1
      return count
    }
    #expect(result == 2)
    #expect(count == 2)
    let property = $count
    let refusal = #expect(throws: StorageError.self) {
      try property.update { count in
        count += 1
        try property.save(7)
      }
    }
    #expect(refusal?.code == .invalid)
    #expect(count == 2)
    #expect(try await router.get(key) == 2)
  }

  @Test func writesOfOtherKeysInTheFolderDoNotStopAReader() async throws {
    let router = folder.router()
    let domain = StorageDomain.fileSystem(directory: .documents)
    let (key, other) = (
      key("live", domain, of: Int.self), key("other", domain, .none, of: Int.self)
    )
    @LiveStored(key, router: router) var value = 0
    let writer = UnwrappedStored(wrappedValue: 0, other, router: folder.router())
    let isEnded = Lock(false)
    let task = Task.detached {
      while !isEnded.withLock({ $0 }) { try writer.update { $0 += 1 } }
    }
    for number in 1...50 {
      value = number
      #expect(value == number)
    }
    isEnded.withLock { $0 = true }
    try await task.value
    #expect($value.state == .value(50))
  }

  @Test func aRotationOfTheKeysIsNoEndOfFollowing() async throws {
    let application = RotatedApplication()
    let owner = application.router(RotatedApplication.old)
    try await application.fill("before", owner)
    let properties = application.keys.map { LiveStored($0.key, router: owner) }
    for property in properties { #expect(property.wrappedValue == "before") }
    #expect(try await owner.rotate(openedBy: RotatedApplication.new).isComplete)
    for property in properties { #expect(property.wrappedValue == "before") }
    try await application.fill("after", owner)
    for property in properties { #expect(property.wrappedValue == "after") }
    try await application.fill("elsewhere", application.router(RotatedApplication.new))
    for property in properties {
      #expect(try await eventually { property.wrappedValue == "elsewhere" }, "\(property)")
    }
  }

  // MARK: - States

  @Test(arguments: domains)
  func everyChangeOfThisProcessIsAStateInItsOrder(_ case: Combination) async throws {
    let router = folder.router()
    let key = key("live", `case`.domain, `case`.security)
    let property = LiveStored(key, router: router).projectedValue
    var states = property.states.makeAsyncIterator()
    #expect(await states.next() == .absent)
    try property.save("1")
    try await router.set("2", for: key)
    try property.save("3")
    try property.remove()
    try await folder.router().set("4", for: key)
    var told: [PropertyState<String?>] = []
    while told.last != .value("4"), let state = await states.next() {
      // A value may be told twice: as written here, and as found after a hint of the place.
      if state != told.last { told.append(state) }
    }
    #expect(told == [.value("1"), .value("2"), .value("3"), .absent, .value("4")])
  }

  @Test func noValueIsShownByPrinting() async throws {
    let router = folder.router()
    @LiveStored(key("x", .userDefaults), router: router) var value = "marker-5e1f0b"
    value = "marker-5e1f0c"
    let (live, states) = ($value.live, $value.states)
    _ = value
    for shown in [
      "\($value) \(live) \(states) \($value.values) \(states.makeAsyncIterator())",
      String(reflecting: $value), String(reflecting: live), String(reflecting: states),
    ] {
      #expect(!shown.contains("5e1f0"))
    }
  }
}

private struct Empty: StorageKeyCatalog {
  static var allKeys: [AnyStorageKey] { [.key(key("other", .userDefaults))] }
}

private struct Followed: StorageKeyCatalog {
  static var allKeys: [AnyStorageKey] { [.key(StoredKey<String>.followed)] }
}

extension StoredKey<String> {
  fileprivate static var followed: StoredKey { key("followed", .userDefaults) }
}
