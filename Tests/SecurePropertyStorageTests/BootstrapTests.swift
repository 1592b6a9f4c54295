import Foundation
import SecurePropertyStorage
import StorageTesting
import TestSupport
import Testing

/// Lines of source that an error is to name; in an exit test all lines are that of the macro.
private enum Source {
  static let line = #line + 1
  static func bootstrap() { SecureStorage.bootstrap(applicationID: "a") }
  static func bootstrapAgain() { SecureStorage.bootstrap(applicationID: "a") }
  struct Settings {
    @UserDefault("bootstrap-theme") var theme: String?
    @Vault("bootstrap-token") var token: String?
  }
  struct Initial {
    @Vault("bootstrap-region") var region = "eu"
  }
}

/// What ends a process that bootstraps too late, or twice, and what says who was first.
@Suite struct BootstrapTests {
  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func aSecondCallNamesTheFirst() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Source.bootstrap()
      Source.bootstrapAgain()
    }
    let said = text(result)
    #expect(said.contains("was called twice: the first call is at \(#fileID):\(Source.line)."))
    #expect(said.contains("\(#fileID):\(Source.line + 1): Fatal error"))
  }

  @Test func aCallAfterAPropertyWasUsedNamesTheProperty() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let settings = Source.Settings()
      _ = settings.theme
      _ = settings.token
      SecureStorage.bootstrap(applicationID: "a")
    }
    #expect(
      text(result).contains(
        "called after the property \"bootstrap-theme\" at \(#fileID):\(Source.line + 3) was used"))
  }

  @Test func aCallAfterAPropertyWithAnInitialValueNamesIt() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [path = folder.path as String] in
      unsafe setenv("XDG_DATA_HOME", path, 1)
      _ = Source.Initial()
      SecureStorage.bootstrap(applicationID: "a")
    }
    #expect(
      text(result).contains(
        "\"bootstrap-region\" at \(#fileID):\(Source.line + 7) was used"))
  }

  @Test func aCallAfterAStorageWasUsedNamesTheKey() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = UserDefaultsStorage.standard.string(forKey: "bootstrap-direct")
      SecureStorage.bootstrap(applicationID: "a")
    }
    #expect(text(result).contains("the key \"bootstrap-direct\" of a standard storage was used"))
  }

  // MARK: - Told that real data is used

  private static let notice = "these tests use the real data of"

  /// Below a device nothing can be made, by root either.
  ///
  /// Not in an exit test, whose child is refused: see ExitTestTests.
  @Test func aTestProcessIsToldOnceThatItUsesRealData() throws {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let child = tests.deletingLastPathComponent().appending(path: "DefaultsTestChild").path
    let said = try Child.run(
      ["sh", "-c", "exec \"$@\" 2>&1", "sh", child, "standard", "/", "com.example.notice"],
      environment: [
        "SPS_PRIVATE_ENVIRONMENT": nil, "XCTestBundlePath": "/tests",
        "XDG_CONFIG_HOME": "/dev/null",
      ])
    let lines = said.filter { $0.contains(Self.notice) }
    #expect(lines.count == 1, "\(said)")
    #expect(lines.first?.contains("\"com.example.notice\"") == true)
  }

  @Test func whoHasStoragesOfItsOwnIsToldNothing() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsafe unsetenv("SPS_PRIVATE_ENVIRONMENT")
      struct Settings {
        @UserDefault("notice-theme") var theme: String?
        @Vault("notice-token") var token: String?
        @Keychain("notice-password") var password: String?
        @Singleton("notice-count") var count: Int?
      }
      try TestStorage.inMemory.run {
        let settings = Settings()
        (settings.theme, settings.token, settings.password) = ("dark", "abc", "xyz")
        #expect(settings.theme == "dark" && settings.token == "abc")
      }
      Settings().count = 1
      SecureStorage.bootstrap(applicationID: "the first call")
    }
    #expect(!text(result).contains(Self.notice))
  }

  @Test func whereTheHomeFolderIsThereForTheTestsNothingIsTold() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsafe setenv("SPS_PRIVATE_ENVIRONMENT", "1", 1)
      unsafe setenv("XDG_CONFIG_HOME", "/dev/null", 1)
      _ = UserDefaultsStorage.standard.string(forKey: "other")
    }
    #expect(!text(result).contains(Self.notice))
  }
}
