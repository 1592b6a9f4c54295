import Foundation
import InjectTesting
import SecurePropertyStorage
import StorageTesting
import TestSupport
import Testing

// The code of the guide ActorsFunctionsAndTests, line for line, and what it says.

private protocol Drawing: Sendable {}
private protocol Printing: Sendable {}
private struct Square: Drawing, Printing {}

private struct Report: Sendable {
  @UnwrappedInject var now: @Sendable () -> Date
  @UnwrappedInject var server: (host: String, port: Int)
  @UnwrappedInject var shape: any Drawing & Printing
  @UnwrappedInject var retries: Int
}

private func registerReport() {
  @Register var now: @Sendable () -> Date = { Date() }
  @Register var server = (host: "localhost", port: 80)
  @Register var shape: any Drawing & Printing = Square()
  @Register var retries = { 3 }  // a builder of an Int
}

private func registerClock(_ clock: @escaping @Sendable () -> Date) {
  InjectStorage.standard.register(clock, as: (@Sendable () -> Date).self)
}

private protocol Plugin: Sendable { var name: String { get } }
private struct Bold: Plugin { let name = "bold" }
private struct Italic: Plugin { let name = "italic" }

private func registerPlugins(_ plugins: [any Plugin]) {
  for plugin in plugins { InjectStorage.standard.register(plugin, group: plugin.name) }
}

private protocol Checker: Sendable { func check(_ text: String) -> String }

private struct Spelling: Checker {
  func check(_ text: String) -> String { text == "teh" ? "teh: the" : "" }
}

private struct Grammar: Checker {
  func check(_ text: String) -> String { "" }
}

private struct Editor: Sendable {
  func check(_ text: String) throws -> [String] {
    try InjectStorage.standard.resolveAll((any Checker).self).map { $0.check(text) }
  }
}

@MainActor final class Screen {
  let title: String
  init(_ title: String = "start") { self.title = title }
}

private struct Presenter: Sendable {
  @UnwrappedInject var screen: Screen
}

private func startScreens() async throws {
  @Register var screen = { @MainActor in Screen() }
  @Register var titled = { (title: String) in await Screen(title) }
  _ = try await InjectStorage.standard.resolveAsync(Screen.self)
}

private enum Account {
  static let token = Vault<String>("guide-token")
  static let launches = UnwrappedVault(wrappedValue: 0, "guide-launches")
  static let checker = UnwrappedInject<any Checker>()

  static func signIn(_ text: String) throws {
    try token.save(text)
    try launches.update { $0 += 1 }
  }

  static func isClean(_ text: String) -> Bool {
    checker.wrappedValue.check(text).isEmpty
  }
}

private func registerChecker(@Register checker: any Checker = Spelling()) {}

private func review(
  _ text: String, checker: UnwrappedInject<any Checker> = UnwrappedInject(),
  last: Vault<String> = Vault("guide-last")
) throws -> String {
  try last.save(text)
  return checker.wrappedValue.check(text)
}

private struct Notes: Sendable {
  let storage: VaultStorage
  init(_ storage: VaultStorage) { self.storage = storage }
}

@Suite(
  .storage(),
  .injecting {
    @Register var notes = Notes(VaultStorage.standard)
  })
struct NotesTests {
  @UnwrappedInject private var notes: Notes

  @Test func aNewNotebookIsEmpty() throws {
    #expect(try notes.storage.keys().isEmpty)
    try notes.storage.save("text", forKey: "note")
  }

  @Test func soItIsInTheNextTest() throws {
    #expect(try notes.storage.keys().isEmpty)
    try notes.storage.save("text", forKey: "note")
  }
}

@Suite(.storage(), .injecting()) struct GuideTests {
  /// The block about a module whose default is the main actor, which is compiled by itself.
  private static let isOfDefaultIsolation = "nonisolated struct Settings"

  @Test func theGuideShowsThisCode() throws {
    let missing = try GuideCode("InjectRegistry/ActorsFunctionsAndTests")
      .blocks(missingIn: #filePath)
    #expect(missing.count == 1, "\(missing)")
    #expect(missing.allSatisfy { $0.hasPrefix(Self.isOfDefaultIsolation) })
  }

  @Test(arguments: ["5", "6"])
  func theModuleOfTheMainActorCompilesWithoutAWarning(_ mode: String) throws {
    let guide = try GuideCode("InjectRegistry/ActorsFunctionsAndTests")
    let block = try #require(
      guide.blocks.first { $0.first?.hasPrefix(Self.isOfDefaultIsolation) == true })
    let source = "import InjectRegistry\n" + block.joined(separator: "\n") + "\n"
    #expect(try errors(in: source, mode).isEmpty)
    let unmarked = source.replacing("{ @MainActor in Window() }", with: "{ Window() }")
    #expect(try !errors(in: unmarked, mode).isEmpty)
  }

  /// What the compiler says about a module whose default is the main actor.
  private func errors(in source: String, _ mode: String) throws -> [String] {
    try Compiler.check(
      source,
      ["-swift-version", mode, "-default-isolation", "MainActor", "-warnings-as-errors"])
  }

  @Test func functionsTuplesAndCompositions() throws {
    registerReport()
    let report = Report()
    #expect(try report.$now.resolve()() <= Date() && report.server.port == 80)
    #expect(report.shape is Square && report.retries == 3)
    #expect(throws: InjectError.self) { try InjectStorage.standard.resolve(Date.self) }
  }

  @Test func aFunctionByACall() throws {
    registerClock { .distantPast }
    #expect(Report().now() == .distantPast)
  }

  @Test func existentialsAndAllOfAType() throws {
    registerPlugins([Bold(), Italic()])
    #expect(try InjectStorage.standard.resolve((any Plugin).self, group: "italic") is Italic)
    registerChecker()
    @Register var grammar: any Checker = Grammar()
    #expect(try Editor().check("teh") == ["teh: the", ""])
    #expect(throws: InjectError.self) { try InjectStorage.standard.resolve([any Checker].self) }
  }

  @Test func typesOfTheMainActor() async throws {
    try await startScreens()
    let screen = try Presenter().$screen.resolve()
    #expect(screen.title == "start")
    let titled = try await InjectStorage.standard.resolveAsync(Screen.self, with: "other")
    #expect(titled.title == "other")
  }

  @Test func staticPropertiesFollowTheTest() throws {
    registerChecker()
    #expect(Account.token.wrappedValue == nil && Account.launches.wrappedValue == 0)
    try Account.signIn("secret")
    #expect(Account.token.wrappedValue == "secret" && Account.launches.wrappedValue == 1)
    #expect(Account.isClean("the") && !Account.isClean("teh"))
  }

  @Test func soTheyDoInTheNextTest() throws {
    #expect(Account.token.wrappedValue == nil && Account.launches.wrappedValue == 0)
    try Account.signIn("secret")
    #expect(Account.launches.wrappedValue == 1)
  }

  @Test func parametersTakeTheWrapper() throws {
    registerChecker()
    let last = Vault<String>("guide-other")
    #expect(try review("teh") == "teh: the" && review("the", last: last).isEmpty)
    #expect(Vault<String>("guide-last").wrappedValue == "teh" && last.wrappedValue == "the")
  }

  @Test(.injecting { @Register var retries = { 4 } }, .injecting { @Register var retries = { 5 } })
  func ofTwoTraitsTheLaterWins() throws {
    registerClock { .distantPast }
    #expect(try InjectStorage.standard.resolve(Int.self) == 5)
  }
}
