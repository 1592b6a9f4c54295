import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

/// What the children of the exit tests below use.
private enum Program {
  struct Settings {
    @Vault("exit-token") var token: String?
    @UserDefault("exit-theme") var theme: String?
    @Keychain("exit-password") var password: String?
    @LiveVault("exit-count") var count = 0
  }

  /// Makes the home folder one that the package does not know to be there for tests.
  static func enterHome(_ path: String) {
    unsafe unsetenv("SPS_PRIVATE_ENVIRONMENT")
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
      unsafe unsetenv(name)
    }
    for name in ["HOME", "CFFIXED_USER_HOME"] { unsafe setenv(name, path, 1) }
    // Nobody answers there.
    unsafe setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(path)/no-bus", 1)
  }

  /// Prints the code of the error of each standard storage, and why.
  static func useAll() {
    let settings = Settings()
    let uses: [(String, () throws -> Void)] = [
      ("vault", { try settings.$token.save("secret-7f3a") }),
      ("suite", { try settings.$theme.save("dark") }),
      ("keychain", { try settings.$password.save("secret-7f3a") }),
      ("live", { try settings.$count.save(1) }),
      ("folder", { try SealedFolder.standard.write(Data([1]), named: "exit-file") }),
      ("key", { _ = try SymmetricKey.generate() }),
    ]
    for (name, use) in uses {
      do {
        try use()
        print("\(name): done")
      } catch {
        print("\(name): \(error)")
      }
    }
  }
}

/// The child process of an exit test has no trait, so it would use the program's own data.
@Suite(.storage()) struct ExitTestTests {
  private func withHome(_ body: (String) async throws -> Void) async throws -> [String] {
    let home = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: home) }
    try await body(home.path)
    return try FileManager.default.subpathsOfDirectory(atPath: home.path)
  }

  @Test func theChildOfAnExitTestRefusesTheProgramsDataAndMakesNothing() async throws {
    let left = try await withHome { home in
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { [home = home as String] in
        Program.enterHome(home)
        Program.useAll()
      }
      let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        .split(separator: "\n").filter { $0.contains(": ") }
      for name in ["vault", "suite", "keychain", "live", "folder", "key"] {
        let line = try #require(lines.first { $0.hasPrefix("\(name): ") })
        #expect(line.contains("invalid") && line.contains("child process of an exit test"))
        #expect(line.contains("TestStorage.inMemory.run") && !line.contains("secret-7f3a"))
      }
    }
    #expect(left.isEmpty)
  }

  @Test func theChildOfAnExitTestCanMakeItsOwnStorages() async throws {
    let left = try await withHome { home in
      await #expect(processExitsWith: .exitCode(42)) { [home = home as String] in
        Program.enterHome(home)
        try TestStorage.inMemory.run {
          let settings = Program.Settings()
          settings.token = "secret-7f3a"
          settings.count += 41
          try settings.$theme.save("dark")
          guard settings.token == "secret-7f3a", settings.theme == "dark" else { exit(1) }
          exit(Int32(settings.count + 1))
        }
      }
    }
    #expect(left.isEmpty)
  }

  /// The home folder of these tests is theirs, and SPS_PRIVATE_ENVIRONMENT says so.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] == "1"))
  func aPrivateEnvironmentIsUsed() async throws {
    let left = try await withHome { home in
      await #expect(processExitsWith: .exitCode(7)) { [home = home as String] in
        Program.enterHome(home)
        unsafe setenv("SPS_PRIVATE_ENVIRONMENT", "1", 1)
        let settings = Program.Settings()
        try settings.$token.save("secret-7f3a")
        guard try settings.$token.load() == "secret-7f3a" else { exit(1) }
        exit(7)
      }
    }
    #expect(left.contains { $0.hasSuffix("/default.vault") })
  }
}
