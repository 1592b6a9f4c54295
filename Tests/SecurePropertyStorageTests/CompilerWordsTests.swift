import Foundation
import TestSupport
import Testing

/// What the compiler says of the most natural mistakes.
@Suite struct CompilerWordsTests {
  private static let common = """
    import DefaultsBackend
    import FileBackend
    import Foundation
    import KeychainStorageShim
    import LocalData
    import SingletonBackend
    import StorageCore
    import VaultBackend
    struct User: Codable, Equatable, Sendable { var name = "" }
    struct Launches: StorageKey {
      typealias Value = Int
      let name = "l", owner = "o", description = "d", domain = StorageDomain.userDefaults
    }
    enum Keys: String { case count }
    struct Keychain: KeychainProvider {
      func setData(_ data: Data, forKey key: String) -> Bool { true }
      func deleteData(forKey key: String) -> Bool { true }
      func getData(forKey key: String) -> Data? { nil }
    }
    """
  private static let cModules = ["COpenSSL", "CSQLite", "CLibsecret", "CGlibc"]

  private static let needsDefault =
    "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  private static let needsEither =
    "give it a default or an optional type: `var x = 0` or `var x: Int?`"
  private static let needsTypedKey =
    "a typed key is needed, as in @Stored(Key()); for a name, use @Vault or @UserDefault"
  private static let needsValue = "say what the key's value is, as in `typealias Value = String`"

  private static let mistakes = [
    ("struct S { @UnwrappedVault(\"k\") var v: Int }", needsDefault),
    ("struct S { @UnwrappedUserDefault(Keys.count) var v: Int }", needsDefault),
    ("struct S { @UnwrappedSingleton(\"k\") var v: User }", needsDefault),
    ("struct S { @UnwrappedCodableVault(\"k\") var v: User }", needsDefault),
    ("func f(_ s: VaultStorage) { @UnwrappedStore(s, \"k\") var v: Int }", needsDefault),
    ("func f(_ s: VaultStorage) { @UnwrappedCodableStore(s, \"k\") var v: User }", needsDefault),
    ("struct S { @UnwrappedSealedFile(\"k\") var v: Data }", needsDefault),
    ("struct S { @UnwrappedCodableSealedFile(\"k\") var v: User }", needsDefault),
    (
      "struct S { @UnwrappedStored(Launches()) var v: Int }",
      "give it a default, as in `var x = 0`, or use @Stored and write `var x: Int?`"
    ),
    ("struct S { @LiveVault(\"k\") var v: Int }", needsEither),
    ("struct S { @LiveUserDefault(Keys.count) var v: User }", needsEither),
    ("func f(_ s: VaultStorage) { @Live(s, \"k\") var v: Int }", needsEither),
    ("struct S { @LiveStored(Launches()) var v: Int }", needsEither),
    (
      "struct S { @KeychainStorage(provider: Keychain(), key: \"k\") var v: Bool }",
      "give it an initial value or an optional type: `var x = 0` or `var x: Int?`"
    ),
    (
      "struct S { @UnwrappedVault var v = 1 }",
      "name the key, as in @UnwrappedVault(\"launches\") var launches = 0"
    ),
    (
      "struct S { @LiveVault var v = 1 }",
      "name the key, as in @LiveVault(\"launches\") var launches = 0"
    ),
    ("struct S { @UnwrappedStored(\"k\") var v = 1 }", needsTypedKey),
    (
      "struct K: StorageKey { let name = \"l\", owner = \"o\", description = \"d\", "
        + "domain = StorageDomain.userDefaults }", needsValue
    ),
  ]

  private static let accepted = """
    struct Settings {
      @UnwrappedVault("k") var v = 1
      @UnwrappedVault(Keys.count) var w = 1
      @LiveVault("k") var x = 1
      @LiveVault(Keys.count) var y: Int?
      @LiveVault("k") var z: Int? = 1
      @UnwrappedStored(Launches()) var t = 1
      @LiveStored(Launches()) var l = 1
      @LiveStored(Launches()) var m: Int?
      @UnwrappedSealedFile("k") var f = Data()
      @KeychainStorage(provider: Keychain(), key: "k") var b = false
      @KeychainStorage(provider: Keychain(), key: "k") var o: Bool?
    }
    struct Members { @UnwrappedVault var v: Int; @LiveVault var w: Int }
    let members = Members(
      v: UnwrappedVault(wrappedValue: 0, "k"), w: LiveVault(wrappedValue: 0, "k"))
    struct Made { @UnwrappedVault var v: Int; init() { _v = UnwrappedVault(wrappedValue: 0, "k") } }
    struct Both: StorageKey {
      struct Value: Codable, Sendable {}
      let name = "b", owner = "o", description = "d", domain = StorageDomain.userDefaults
    }
    func f(_ s: VaultStorage) {
      @UnwrappedStore(s, "k") var v = 1
      @Live(s, "k") var w = 1
      @Live(s, "k") var x: Int?
      _ = (v, w, x)
    }
    """

  private func errors(
    of sources: [String], _ flags: [String] = [], after more: String = ""
  ) throws -> [[Substring]] {
    let lines = sources.enumerated().map { "enum Case\($0) { \($1) }" }
    let common = Self.common + more
    let first = common.split(separator: "\n", omittingEmptySubsequences: false).count + 1
    let said = try Compiler.check(
      common + "\n" + lines.joined(separator: "\n") + "\n", flags, cModules: Self.cModules)
    let errors = said.filter { $0.hasPrefix("/") && $0.contains(" error: ") }
    let others = errors.filter { line in (1..<first).contains { line.contains(".swift:\($0):") } }
    #expect(others.isEmpty, "\(others)")
    return sources.indices.map { index in
      errors.filter { $0.contains("source.swift:\(first + index):") }
        .map { $0[$0.range(of: " error: ")!.upperBound...] }
    }
  }

  @Test func aMistakeIsRefusedInWordsThatSayWhatToWrite() throws {
    let errors = try errors(of: Self.mistakes.map(\.0))
    for ((source, advice), said) in zip(Self.mistakes, errors) {
      #expect(!said.isEmpty && said.allSatisfy { $0.contains(advice) }, "\(source): \(said)")
    }
  }

  @Test func whatIsWrittenRightIsAccepted() throws {
    let said = try Compiler.check(
      Self.common + "\n" + Self.accepted, ["-warnings-as-errors"], cModules: Self.cModules)
    #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
  }

  // MARK: - Types of the main actor

  /// Calls that would decode or encode on no actor.
  private static let elsewhere = [
    "func f() async throws { _ = try await p.$user.loadAsync() }",
    "func f() async throws { try await p.$user.saveAsync(User()) }",
    "func f() async throws { try await p.$user.updateAsync { $0 = nil } }",
    "func f() async throws { for await state in p.$user.states { _ = state } }",
    "func f() async throws { for await value in p.$user.values { _ = value } }",
    "func f() async throws { _ = try await p.$user.async { try $0.load() } }",
    "func f() async throws { _ = try await p.$other.loadAsync() }",
    "func f() async throws { try await p.$other.saveAsync(User()) }",
    "func f() async throws { try await p.$other.updateAsync { _ in } }",
    "func f() async throws { for await value in p.$other.values { _ = value } }",
    "func f() async throws { _ = try await p.$file.loadAsync() }",
    "func f() async throws { try await p.$file.saveAsync(User()) }",
    "func f() async throws { try await p.$file.updateAsync { $0 = nil } }",
    "func f() async throws { _ = try await vault.loadAsync(decodable: User.self, forKey: \"k\") }",
    "func f() async throws { try await vault.saveAsync(encodable: User(), forKey: \"k\") }",
    "struct S { @LiveVault(\"k\") var v: User? }",
  ]

  private static let properties = """

    struct P {
      @CodableVault("user") var user: User?
      @UnwrappedCodableVault("user") var other = User()
      @CodableSealedFile("user") var file: User?
      @Vault("token") var token: String?
    }
    let p = P()
    let vault = VaultStorage.standard
    """

  @Test func theGuideOfTheDefaultCompilesAndItsTableHolds() throws {
    let guide = try GuideCode("StorageCore/MainActorByDefault")
    let code = "import SecurePropertyStorage\n" + guide.blocks[0].joined(separator: "\n") + "\n"
    let flags = ["-default-isolation", "MainActor"]
    let said = try Compiler.check(code, flags + ["-warnings-as-errors"], cModules: Self.cModules)
    #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
    // Of the main actor, the type is refused where the guide says so, and nowhere else.
    let bound = try Compiler.check(
      code.replacing("nonisolated struct User", with: "struct User"), flags, cModules: Self.cModules
    )
    let lines = bound.filter { $0.contains(" error: ") }.compactMap { line in
      line.split(separator: ":").dropFirst().first.flatMap { Int($0) }
    }
    let source = code.split(separator: "\n", omittingEmptySubsequences: false)
    let refused = Set(lines.map { String(source[$0 - 1]) })
    #expect(
      refused
        == Set(
          source.map(String.init).filter {
            ["@LiveVault(\"owner\")", "loadAsync", ".values"].contains(where: $0.contains)
          }), "\(bound.joined(separator: "\n"))")
  }

  @Test func asyncCallsOfATypeOfTheMainActorAreRefused() throws {
    let sources = Self.elsewhere.map { "@MainActor " + $0 }
    let flags = ["-default-isolation", "MainActor"]
    let said = try errors(of: sources, flags, after: Self.properties)
    for (source, errors) in zip(sources, said) {
      #expect(
        errors.contains { $0.contains("main actor-isolated conformance of 'User'") },
        "\(source): \(errors)")
    }
  }

  @Test func itsOtherCallsAndNonisolatedTypesAreAccepted() throws {
    let source =
      Self.common + Self.properties + """

        func f() async throws {
          _ = try p.$user.load()
          try p.$other.save(User())
          try p.$file.update { $0 = nil }
          _ = (p.$user.state, p.user, try await p.$token.loadAsync())
          try await p.$user.removeAsync()
          for await token in p.$token.values { _ = token }
        }
        """
    let said = try Compiler.check(
      source, ["-default-isolation", "MainActor", "-warnings-as-errors"], cModules: Self.cModules)
    #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
    let free = (Self.common + Self.properties).replacingOccurrences(
      of: "struct User:", with: "nonisolated struct User:")
    let calls = Self.elsewhere.enumerated().map { "enum Case\($0) { \($1) }" }
      .map { $0.replacingOccurrences(of: "{ func f", with: "{ @MainActor func f") }
    let nonisolated = try Compiler.check(
      free + "\n" + calls.joined(separator: "\n") + "\n", ["-default-isolation", "MainActor"],
      cModules: Self.cModules)
    #expect(
      !nonisolated.contains { $0.contains(" error: ") }, "\(nonisolated.joined(separator: "\n"))")
  }
}
