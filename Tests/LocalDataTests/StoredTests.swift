import CryptoCore
import Foundation
import LocalData
import StorageTesting
import Testing

private let token = key("token", .keychain(service: "s"))
private let launches = key("launches", .userDefaults, .none, of: Int.self)

@Suite struct StoredTests {
  private let folder = TestFolder()

  @Test func aPropertyIsTheValueOfItsKey() async throws {
    let router = folder.router()
    @Stored(token, router: router) var value: String?
    @UnwrappedStored(launches, router: router) var count = 3
    #expect(value == nil)
    #expect(count == 3)
    value = "a"
    count += 1
    #expect(try await router.get(token) == "a")
    #expect(try await router.get(launches) == 4)
    try await router.set("b", for: token)
    #expect(value == "b")
    try await $value.saveAsync("c")
    #expect(try await $value.loadAsync() == "c")
    try await $value.updateAsync { $0? += "!" }
    #expect(try $value.load() == "c!")
    value = nil
    #expect($value.state == .absent)
    try $count.remove()
    #expect(count == 3)
    #expect(try await router.get(launches) == nil)
  }

  @Test func anInitialValueIsStoredOnceAndADefaultNever() async throws {
    let router = folder.router()
    @Stored(token, router: router) var value: String? = "first"
    #expect(try await router.get(token) == "first")
    try await router.set("second", for: token)
    @Stored(token, router: router) var again: String? = "first"
    #expect(again == "second")
    @UnwrappedStored(launches, router: router) var count = 3
    _ = count
    #expect(try await router.get(launches) == nil)
  }

  @Test func whatCannotBeReadIsNotReplacedByAnAssignment() async throws {
    let router = folder.router()
    try await router.set(7, for: launches)
    let text = key("launches", .userDefaults, .none)
    @UnwrappedStored(text, router: router) var wrong = "none"
    #expect(wrong == "none")
    wrong = "replaced"
    #expect(try await router.get(launches) == 7)
    #expect(throws: StorageError.self) { try $wrong.load() }
    try $wrong.save("on purpose")
    #expect(wrong == "on purpose")
    wrong = "again"
    #expect(wrong == "again")
  }

  @Test func noValueIsShownByPrinting() async throws {
    @Stored(token, router: folder.router()) var value: String? = "marker-5e1f0b"
    @UnwrappedStored(launches, router: folder.router()) var count = 1_234_567
    #expect(!"\($value) \($value.core) \(String(reflecting: $value))".contains("5e1f0b"))
    #expect(!"\($count) \(String(reflecting: $count))".contains("1234567"))
  }

  @Test(.storage()) func inATestTheSharedRouterIsTheTests() async throws {
    @Stored(token) var value: String?
    #expect(value == nil)
    value = "test's"
    #expect(try await StorageRouter.shared.get(token) == "test's")
    let file = key("f", .fileSystem(directory: .documents), .none)
    #expect(await code { try await StorageRouter.shared.set("1", for: file) } == .unsupported)
  }

  @Test func aProvidersKeyIsForAsyncCallsAlone() async throws {
    struct Provider: KeyMaterialProviding {
      func keyMaterial(for keyName: String) async throws -> Data { Data(repeating: 1, count: 32) }
    }
    let router = folder.router()
    let source = KeyMaterialSource(id: "s")
    await router.registerKeyMaterialProvider(Provider(), for: source)
    @Stored(key("x", .userDefaults, .encrypted(.external(source: source))), router: router)
    var value: String?
    try await $value.saveAsync("1")
    #expect(try await $value.loadAsync() == "1")
    let error = #expect(throws: StorageError.self) { try $value.load() }
    #expect(error?.code == .unsupported)
  }
}

@Suite struct StoredReentryTests {
  private let folder = TestFolder()

  @Test(arguments: ["save", "remove", "update", "other router"], [false, true])
  func aWriteOfTheValueInsideItsUpdateIsRefusedAtOnce(_ call: String, _ isAsync: Bool) async throws
  {
    let router = folder.router()
    let property = UnwrappedStored(wrappedValue: 0, launches, router: router)
    let same = UnwrappedStored(wrappedValue: 0, launches, router: folder.router())
    let other = UnwrappedStored(
      wrappedValue: 0, key("other", .userDefaults, .none, of: Int.self), router: router)
    try property.save(1)
    let runs = Lock(0)
    @Sendable func body(_ value: inout Int) throws {
      runs.withLock { $0 += 1 }
      try other.save(7)
      switch call {
      case "save": try property.save(5)
      case "remove": try property.remove()
      case "update": try property.update { $0 += 1 }
      default: try same.update { $0 += 1 }
      }
      value += 1
    }
    let refusal = await error {
      if isAsync { try await property.updateAsync(body) } else { try property.update(body) }
    }
    #expect(refusal?.code == .invalid && refusal?.key == "launches")
    #expect(refusal?.message.contains("inside the update of \"launches\"") == true)
    #expect(runs.withLock { $0 } == 1)
    #expect(try property.load() == 1 && other.load() == 7)
    try property.update { $0 += 1 }
    #expect(try property.load() == 2)
  }
}
