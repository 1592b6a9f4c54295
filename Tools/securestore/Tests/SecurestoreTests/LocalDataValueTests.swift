import CryptoCore
import Foundation
import LocalData
import StorageCore
import Testing

private enum Theme: String, Codable, Sendable { case dark, light }

private struct Window: Codable, Sendable, Equatable { var width: Double, title: String }

private func key<Value: Codable & Sendable>(
  _ name: String, _ domain: StorageDomain, _ serializer: Serializer = .json,
  of _: Value.Type = Value.self
) -> StoredKey<Value> {
  StoredKey(name, in: domain, serializer: serializer, owner: "Tests", description: "A \(name).")
}

private struct Keys {
  let port: StoredKey<Int> = key("http.port", .userDefaults)
  let scale: StoredKey<Double> = key("scale", .userDefaults, .plist)
  let theme: StoredKey<Theme> = key("theme", .userDefaults)
  let window: StoredKey<Window> = key("window", .fileSystem(directory: .documents))
  let token: StoredKey<String> = key("token", .keychain(service: nil))
  let other: StoredKey<String> = key("token", .userDefaults)
  let blob: StoredKey<Data> = key("blob", .encryptedFileSystem(directory: .documents), .data)
  let own: StoredKey<String> = key(
    "own", .userDefaults, .custom("own", encode: { Data($0.utf8) }, decode: { "\($0.count)" }))
}

/// Types whose forms differ between serializers, and from the vault's.
private struct TypedKeys {
  static let date = Date(timeIntervalSinceReferenceDate: 817_189_500)
  static let number = Decimal(string: "3.14159265358979323846")!
  let when: StoredKey<Date> = key("when", .userDefaults, .plist)
  let data: StoredKey<Data> = key("data", .userDefaults, .plist)
  let bytes: StoredKey<Data> = key("bytes", .userDefaults, .json)
  let exact: StoredKey<Decimal> = key("exact", .userDefaults, .json)
  let plain: StoredKey<Decimal> = key("plain", .userDefaults, .plist)
  let list: StoredKey<[Decimal]> = key("list", .userDefaults, .json)
  let names: StoredKey<[Int: String]> = key("names", .userDefaults, .json)
  let price: StoredKey<[String: [Decimal]]> = key("price", .userDefaults, .json)
}

private struct PasscodeKeys {
  let pin = StoredKey<String>(
    "pin", in: .keychain(service: nil),
    security: .keychain(accessibility: .whenPasscodeSetThisDeviceOnly), owner: "Tests",
    description: "A pin.")
}

/// `localdata list`, `get`, `set` and `remove` on the data of an application.
struct LocalDataValueTests {
  private let tool: Tool
  private let catalog: String

  private func router() -> StorageRouter {
    StorageRouter(
      applicationID: "com.example.shop",
      keySource: .file(URL(fileURLWithPath: tool.path("key"))),
      folder: URL(fileURLWithPath: tool.path("store"), isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
  }

  init() throws {
    tool = try Tool(hasVault: false)
    catalog = tool.path("catalog.json")
    let router = router()
    try router.registerKeys(Keys())
    try tool.write(try router.catalogReport().json, to: "catalog.json")
  }

  private func run(
    _ command: String, _ arguments: String..., input: String = ""
  ) throws -> Tool.Result {
    let folder = command == "list" ? [] : ["--key-file", tool.path("key")]
    return try tool.run(
      ["localdata", command, catalog] + arguments + ["--folder", tool.path("store")] + folder,
      input: Data(input.utf8))
  }

  @Test func keysAreListed() throws {
    let names = try run("list").lines
    #expect(names.contains("http.port") && names.count == 8)
    #expect(try run("list", "--match", "t*", "--long").lines.count == 3)
    #expect(try run("list", "--long").text.contains("A http.port."))
    let json = try run("list", "--match", "http.*", "--json").json()
    #expect((json["keys"] as? [[String: String]])?.first?["type"] == "Int")
  }

  @Test func whatIsSetTheApplicationReadsAndTheReverse() async throws {
    let router = router()
    try await router(Keys()).set(8080, for: \.port)
    #expect(try run("get", "http.port").text == "8080")
    let set = try run("set", "http.port", input: "9000\n")
    #expect(set.code == 0 && set.errors.contains("as Int (4 bytes)"), "\(set.errors)")
    #expect(try await self.router()(Keys()).get(\.port) == 9000)
    #expect(try run("set", "scale", input: "2").code == 0)
    #expect(try await self.router()(Keys()).get(\.scale) == 2)
    #expect(try run("set", "theme", input: "light").code == 0)
    #expect(try await self.router()(Keys()).get(\.theme) == .light)
    #expect(try run("set", "window", input: #"{"width": 1.5, "title": "x"}"#).code == 0)
    #expect(try await self.router()(Keys()).get(\.window) == Window(width: 1.5, title: "x"))
    #expect(try run("get", "window").text == #"{"title":"x","width":1.5}"#)
    #expect(try run("set", "blob", input: "\u{1}\u{2}").code == 0)
    #expect(try await self.router()(Keys()).get(\.blob) == Data([1, 2]))
    #expect(try run("remove", "http.port", "blob").code == 0)
    #expect(try await self.router()(Keys()).get(\.port) == nil)
    #expect(try run("get", "http.port").code == 1)
    #expect(try run("remove", "http.port").code == 1)
    #expect(try run("remove", "http.port", "--force").code == 0)
  }

  @Test func eachTypeIsReadAndWrittenInTheFormOfItsSerializer() async throws {
    let keys = TypedKeys()
    let router = router()
    try router.registerKeys(keys)
    try tool.write(try router.catalogReport().json, to: "catalog.json")
    let number = TypedKeys.number
    func check<Value: Codable & Sendable & Equatable>(
      _ path: KeyPath<TypedKeys, StoredKey<Value>>, _ value: Value, _ text: String
    ) async throws {
      let name = keys[keyPath: path].name
      #expect(try run("set", name, input: text).code == 0, "\(name)")
      #expect(try await self.router().get(keys[keyPath: path]) == value, "\(name)")
      try await router(keys).set(value, for: path)
      #expect(try run("get", name).text == text, "\(name)")
      #expect(try run("set", name, input: text).code == 0, "\(name)")
      #expect(try await self.router().get(keys[keyPath: path]) == value, "\(name)")
    }
    try await check(\.when, TypedKeys.date, "2026-11-24T05:05:00.000Z")
    try await check(\.data, Data([1, 2, 3]), "\u{1}\u{2}\u{3}")
    try await check(\.bytes, Data([1, 2, 3]), "\u{1}\u{2}\u{3}")
    try await check(\.exact, number, "3.14159265358979323846")
    try await check(\.plain, number, "3.14159265358979323846")
    try await check(\.list, [number], #"["3.14159265358979323846"]"#)
    try await check(\.names, [1: "a"], #"[[1,"a"]]"#)
    try await check(\.price, ["a": [number]], #"{"a":["3.14159265358979323846"]}"#)
  }

  @Test func aNumberInAValueOfTheApplicationKeepsItsDigits() async throws {
    struct Price: Codable, Sendable, Equatable { var amount: Decimal }
    struct Prices { let price: StoredKey<Price> = key("price", .userDefaults) }
    let (router, keys) = (router(), Prices())
    try router.registerKeys(keys)
    try tool.write(try router.catalogReport().json, to: "catalog.json")
    try await router(keys).set(Price(amount: TypedKeys.number), for: \.price)
    let text = #"{"amount":3.14159265358979323846}"#
    #expect(try run("get", "price").text == text)
    #expect(try run("set", "price", input: text).code == 0)
    #expect(try await self.router().get(keys.price) == Price(amount: TypedKeys.number))
  }

  @Test func aPropertyListOfTheApplicationKeepsItsDatesAndData() async throws {
    struct Visit: Codable, Sendable, Equatable { var at: Date, count: Double, mark: Data }
    struct Visits { let visit: StoredKey<Visit> = key("visit", .userDefaults, .plist) }
    let (router, keys) = (router(), Visits())
    try router.registerKeys(keys)
    try tool.write(try router.catalogReport().json, to: "catalog.json")
    let visit = Visit(at: TypedKeys.date, count: 2, mark: Data([1, 2]))
    try await router(keys).set(visit, for: \.visit)
    let text = try run("get", "visit").text
    #expect(text.contains(#""$type":"Date""#) && text.contains("AQI="))
    #expect(try run("remove", "visit").code == 0)
    #expect(try run("set", "visit", input: text).code == 0)
    #expect(try await self.router().get(keys.visit) == visit)
  }

  @Test func aValueUnderAPasscodeNeedsThePasscode() async throws {
    let router = router()
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    try router.registerKeys(PasscodeKeys())
    try tool.write(try router.catalogReport().json, to: "catalog.json")
    let option = "--passcode-command"
    let command = "sh -c 'echo correct horse; echo user: me'"
    #expect(try run("set", "pin", option, command, input: "1234").code == 0)
    #expect(try run("get", "pin", option, command).text == "1234")
    #expect(try await router(PasscodeKeys()).get(\.pin) == "1234")
    #expect(try run("get", "pin").code == 18)
    let wrong = try run("get", "pin", option, "echo wrong horse")
    #expect(wrong.code == 11 && !wrong.errors.contains("wrong horse"), "\(wrong.errors)")
    let failing = try run("get", "pin", option, "sh -c 'echo correct horse; exit 3'")
    #expect(failing.code == 10 && !failing.errors.contains("horse"), "\(failing.errors)")
    let late = try run("get", "pin", option, "sleep 1000", "--command-timeout", "0.2")
    #expect(late.code == 75 && late.errors.contains("within 0.2 seconds"), "\(late.errors)")
    #expect(try run("get", "pin", "--passcode", option, command).code == 64)
    let unasked = "setsid -w \"$0\" localdata get catalog.json pin --passcode </dev/null"
    #expect(try tool.shell(unasked).code == 64)
  }

  @Test func aLivePropertySeesTheChange() async throws {
    let router = router()
    let keys = Keys()
    try await router(keys).set(8080, for: \.port)
    let live = LiveStored(wrappedValue: 1, keys.port, router: router, validate: { $0 > 0 })
    #expect(live.wrappedValue == 8080)
    #expect(try run("set", "http.port", input: "9000").code == 0)
    for _ in 0..<2_000 where live.wrappedValue != 9000 {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(live.wrappedValue == 9000)
  }

  @Test func whatDoesNotFitTheDeclarationIsRefused() async throws {
    try await router()(Keys()).set(8080, for: \.port)
    try await router()(Keys()).set(Window(width: 1, title: "x"), for: \.window)
    for (name, input) in [("http.port", "ninety"), ("http.port", "1.5"), ("window", "[1]")] {
      let result = try run("set", name, input: input)
      #expect(result.code == 13 && !result.errors.contains("ninety"), "\(name) \(result.errors)")
    }
    #expect(try run("set", "http.port").code == 65)
    #expect(try run("set", "http.port", "9000").code == 64)
    #expect(try run("get", "own").code == 18)
    #expect(try await router()(Keys()).get(\.port) == 8080)
  }

  @Test func aNameThatIsNotDeclaredIsRefused() throws {
    for command in ["get", "set", "remove"] {
      let result = try run(command, "http.prot", input: "1")
      #expect(result.code == 1 && result.errors.contains("did you mean http.port?"))
    }
    let several = try run("get", "token")
    #expect(several.code == 64 && several.errors.contains("userDefaults/token"))
    #expect(try run("set", "userDefaults/token", input: "x").code == 0)
    #expect(try run("get", "userDefaults/token").text == "x")
    #expect(try run("get", "keychain(default)/token").code == 1)
  }
}
