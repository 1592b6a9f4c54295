#if Configuration
  import Configuration
  import ConfigurationTesting
  import Foundation
  import SecureConfiguration
  import StorageCore
  import StorageTesting
  import TestSupport
  import Testing

  struct ProviderTests {
    private let magic: [UInt8] = Array("magic".utf8)
    private let magic2: [UInt8] = Array("magic2".utf8)

    private func config(_ storage: any Storage) -> ConfigReader {
      ConfigReader(provider: SecureStorageProvider(storage))
    }

    @Test(arguments: Place.Kind.allCases, [false, true])
    func applesOwnTestPasses(_ kind: Place.Kind, asTexts: Bool) async throws {
      let place = try Place(kind)
      let storage = place.storage
      if asTexts {
        for (name, text) in texts { try storage.save(text, forKey: name) }
      } else {
        try fill(storage)
      }
      let configuration = ProviderCompatTest.TestConfiguration(overrides: [
        "bytes": .bytes(magic), "other.bytes": .bytes(magic2),
        "byteChunky.array": .byteChunkArray([magic, magic2]),
        "other.byteChunky.array": .byteChunkArray([magic, magic2, magic]),
      ])
      try await ProviderCompatTest(
        provider: SecureStorageProvider(place.another()), configuration: configuration
      ).runTest()
    }

    private func fill(_ storage: any Storage) throws {
      try storage.save("Hello", forKey: "string")
      try storage.save("Other Hello", forKey: "other.string")
      try storage.save(42, forKey: "int")
      try storage.save(24, forKey: "other.int")
      try storage.save(3.14, forKey: "double")
      try storage.save(2.72, forKey: "other.double")
      try storage.save(true, forKey: "bool")
      try storage.save(false, forKey: "other.bool")
      try storage.save(Data(magic), forKey: "bytes")
      try storage.save(magic2, forKey: "other.bytes")
      try storage.save(["Hello", "World"], forKey: "stringy.array")
      try storage.save(["Hello", "Swift"], forKey: "other.stringy.array")
      try storage.save([42, 24], forKey: "inty.array")
      try storage.save([16, 32], forKey: "other.inty.array")
      try storage.save([3.14, 2.72], forKey: "doubly.array")
      try storage.save([0.9, 1.8], forKey: "other.doubly.array")
      try storage.save([true, false], forKey: "booly.array")
      try storage.save([false, true, true], forKey: "other.booly.array")
      try storage.save([Data(magic), Data(magic2)], forKey: "byteChunky.array")
      try storage.save([Data(magic), Data(magic2), Data(magic)], forKey: "other.byteChunky.array")
    }

    /// The same as an env file has it.
    private var texts: [String: String] {
      let (first, second) = (Data(magic).base64EncodedString(), Data(magic2).base64EncodedString())
      return [
        "string": "Hello", "other.string": "Other Hello", "int": "42", "other.int": "24",
        "double": "3.14", "other.double": "2.72", "bool": "true", "other.bool": "no",
        "bytes": first, "other.bytes": second,
        "stringy.array": "Hello,World", "other.stringy.array": "Hello, Swift",
        "inty.array": "42,24", "other.inty.array": "16, 32", "doubly.array": "3.14,2.72",
        "other.doubly.array": "0.9,1.8", "booly.array": "true,false",
        "other.booly.array": "false,true,1", "byteChunky.array": "\(first),\(second)",
        "other.byteChunky.array": "\(first),\(second),\(first)",
      ]
    }

    @Test(arguments: Place.Kind.allCases)
    func aWrittenValueIsReadAtOnce(_ kind: Place.Kind) async throws {
      let place = try Place(kind)
      let config = config(place.storage)
      #expect(config.string(forKey: "database.password") == nil)
      try place.another().save("s3cret", forKey: "database.password")
      #expect(try await config.fetchRequiredString(forKey: "database.password") == "s3cret")
      #expect(config.scoped(to: "database").string(forKey: "password") == "s3cret")
      try place.another().delete(forKey: "database.password")
      #expect(try await config.fetchString(forKey: "database.password") == nil)
    }

    @Test func whatComesFirstInTheChainCounts() throws {
      let storage = InMemoryStorage()
      try storage.save("5432", forKey: "DATABASE_PORT")
      try storage.save("from the store", forKey: "DATABASE_HOST")
      let config = ConfigReader(providers: [
        EnvironmentVariablesProvider(environmentVariables: ["DATABASE_HOST": "from the environment"]
        ),
        SecureStorageProvider(storage, naming: .environment),
      ])
      #expect(config.string(forKey: "database.host") == "from the environment")
      #expect(config.int(forKey: "database.port") == 5432)
    }

    @Test(arguments: [
      ("http.port", "HTTP_PORT"), ("http.serverTimeout", "HTTP_SERVER_TIMEOUT"),
      ("http.user-agent", "HTTP_USER_AGENT"), ("a", "A"), ("log4j.x", "LOG4J_X"),
    ])
    func environmentNamesAreThoseOfApplesProvider(_ key: String, _ name: String) throws {
      let key = AbsoluteConfigKey(ConfigKey(key))
      #expect(KeyNaming.environment.name(of: key) == name)
      let theirs = EnvironmentVariablesProvider(environmentVariables: [name: "x"])
      #expect(try theirs.value(forKey: key, type: .string).encodedKey == name)
      let storage = InMemoryStorage()
      try storage.save("x", forKey: name)
      let ours = SecureStorageProvider(storage, naming: .environment)
      #expect(try ours.value(forKey: key, type: .string).value?.content == .string("x"))
    }

    // MARK: - Errors

    @Test func aValueThatCannotBeReadIsAnErrorAndNeverAbsent() async throws {
      let storage = FaultyStorage()
      try storage.save("s3cret", forKey: "password")
      let provider = SecureStorageProvider(storage)
      let config = ConfigReader(provider: provider)
      let key = AbsoluteConfigKey(["password"])
      storage.faults.fail(.reads, with: .failure(StorageError(.locked, "locked for the test")))
      #expect(throws: StorageError.self) { try provider.value(forKey: key, type: .string) }
      #expect(throws: StorageError.self) { try config.requiredString(forKey: "password") }
      await #expect(throws: StorageError.self) {
        try await config.fetchString(forKey: "password")
      }
      #expect(throws: StorageError.self) {
        try provider.snapshot().value(forKey: key, type: .string)
      }
      try await provider.watchValue(forKey: key, type: .string) { updates in
        for await update in updates {
          #expect(throws: StorageError.self) { try update.get() }
          break
        }
      }
    }

    @Test func aDamagedValueIsAnErrorAndTheOthersAreRead() throws {
      let storage = FaultyStorage()
      try storage.save("s3cret", forKey: "password")
      let snapshot = SecureStorageProvider(storage).snapshot()
      storage.faults.fail(.reads, with: .corruption)
      let key = AbsoluteConfigKey(["password"])
      let error = #expect(throws: StorageError.self) {
        try SecureStorageProvider(storage).value(forKey: key, type: .string)
      }
      #expect(error?.code == .damaged)
      // Read before.
      #expect(try snapshot.value(forKey: key, type: .string).value?.content == .string("s3cret"))
    }

    @Test(arguments: [
      ("text", ConfigType.int), ("text", .double), ("text", .bool), ("fraction", .int),
      ("number", .string), ("number", .bool), ("number", .bytes), ("large", .int),
      ("large", .double), ("mixed", .intArray), ("number", .intArray), ("date", .string),
      ("codable", .string), ("no base64", .bytes), ("bytes", .string), ("gap", .intArray),
      ("empty", .intArray), ("huge", .double),
    ])
    func whatWouldChangeIsRefused(_ name: String, _ type: ConfigType) throws {
      let storage = InMemoryStorage()
      try storage.save("1x", forKey: "text")
      try storage.save(1.5, forKey: "fraction")
      try storage.save(1, forKey: "number")
      try storage.save(UInt64.max, forKey: "large")
      try storage.save("1,2,x", forKey: "mixed")
      try storage.save(Date(), forKey: "date")
      try storage.save(encodable: ["a": 1], forKey: "codable")
      try storage.save("%%%", forKey: "no base64")
      try storage.save("1,,2", forKey: "gap")
      try storage.save("", forKey: "empty")
      try storage.save("1e400", forKey: "huge")
      try storage.save(Data([1, 2]), forKey: "bytes")
      let provider = SecureStorageProvider(storage)
      let error = #expect(throws: StorageError.self) {
        try provider.value(forKey: AbsoluteConfigKey([name]), type: type)
      }
      #expect(error?.code == .typeMismatch && error?.key == name)
      #expect("\(error!)".contains("1x") == false)
    }

    @Test func whatStaysTheSameIsConverted() throws {
      let storage = InMemoryStorage()
      try storage.save(Int8(-3), forKey: "small")
      try storage.save(UInt64(7), forKey: "unsigned")
      try storage.save(Float(0.5), forKey: "float")
      try storage.save(12, forKey: "whole")
      try storage.save(URL(string: "https://example.com/a")!, forKey: "url")
      try storage.save("YES", forKey: "yes")
      let config = config(storage)
      #expect(config.int(forKey: "small") == -3 && config.int(forKey: "unsigned") == 7)
      #expect(config.double(forKey: "float") == 0.5 && config.double(forKey: "whole") == 12)
      #expect(config.string(forKey: "url") == "https://example.com/a")
      #expect(config.bool(forKey: "yes") == true)
    }

    @Test func noElementOfAListIsDropped() throws {
      let storage = InMemoryStorage()
      try storage.save("a,, b\n", forKey: "list")
      let value = try SecureStorageProvider(storage)
        .value(forKey: AbsoluteConfigKey(["list"]), type: .stringArray)
      #expect(value.value?.content == .stringArray(["a", "", "b"]))
    }

    @Test(arguments: [["a.b"], ["a", "b.c"], ["a", ""], ["", "a"], ["a", ".\u{301}"]])
    func noKeyReachesAnotherKeysValue(_ components: [String]) throws {
      let storage = InMemoryStorage()
      let key = AbsoluteConfigKey(components)
      try storage.save("s3cret", forKey: KeyNaming.dotted.name(of: key))
      let provider = SecureStorageProvider(storage)
      for read: () throws -> LookupResult in [
        { try provider.value(forKey: key, type: .string) },
        { try provider.snapshot().value(forKey: key, type: .string) },
      ] {
        let error = #expect(throws: StorageError.self) { try read() }
        #expect(error?.code == .invalid)
      }
    }

    @Test func aKeyThatCanBeNoNameIsAnError() {
      let provider = SecureStorageProvider(InMemoryStorage())
      for components in [[], [String(repeating: "k", count: 2000)]] {
        let key = AbsoluteConfigKey(components)
        let error = #expect(throws: StorageError.self) {
          try provider.value(forKey: key, type: .string)
        }
        #expect(error?.code == .invalid)
        #expect(throws: StorageError.self) {
          try provider.snapshot().value(forKey: key, type: .string)
        }
      }
    }

    // MARK: - Secrets

    @Test func everyValueIsSecretUnlessTheApplicationSaysOtherwise() throws {
      let storage = InMemoryStorage()
      try storage.save("MARKER-5501", forKey: "password")
      try storage.save("dark", forKey: "theme")
      let all = SecureStorageProvider(storage)
      let some = SecureStorageProvider(storage, secrets: .specific(["password"]))
      for (provider, isSecret) in [(all, true), (some, false)] {
        let theme = try provider.value(forKey: AbsoluteConfigKey(["theme"]), type: .string)
        #expect(theme.value?.isSecret == isSecret)
        let password = try provider.value(forKey: AbsoluteConfigKey(["password"]), type: .string)
        #expect(password.value?.isSecret == true)
        #expect(!"\(password.value!)".contains("MARKER"))
        let snapshot = provider.snapshot()
        #expect(
          try snapshot.value(forKey: AbsoluteConfigKey(["theme"]), type: .string).value?.isSecret
            == isSecret)
        let marker = Array("MARKER-5501".utf8)
        for subject: Any in [provider, snapshot] {
          #expect(!Disclosure.texts(of: subject).contains { Disclosure.shows(marker, in: $0) })
        }
      }
    }
  }
#endif
