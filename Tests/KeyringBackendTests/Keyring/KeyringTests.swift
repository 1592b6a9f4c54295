import Foundation
import Testing

@testable import KeyringBackend

/// What code that uses the object API writes; no test here reaches a bus.
@Suite struct KeyringTests {
  @Test func whatCanAlwaysBeHadNeedsNoTry() {
    #expect(Keyring().group == nil)
    #expect(Keyring(service: "x").service == "x")
    #expect(Keyring(service: "x", group: "y").group == "y")
    #expect(
      Keyring(service: "x", access: KeyringAccess(deadline: .seconds(1))).authentication == [])
    #expect(Keyring().service == SecureStorage.configuration.applicationID)
    #expect(!Keyring().isSynchronizable)
  }

  @Test func whatMayNotBeHadIsAskedForWithTry() throws {
    #expect(try Keyring(accessibility: .afterFirstUnlock).accessibility == .afterFirstUnlock)
    let plain = try Keyring(accessibility: .afterFirstUnlock, isSynchronizable: false)
    #expect(plain.protection.parts == [])
    let sealed = try Keyring(
      service: "com.example", group: nil, accessibility: .afterFirstUnlock,
      authentication: .devicePasscode, isSynchronizable: false
    ) { nil }
    #expect(sealed.protection.parts == .passcode)
    let none = try Keyring(authentication: [])
    #expect(none.protection.parts == [])
    let present = try Keyring(authentication: .userPresence, passcode: { nil })
    #expect(present.protection.parts == .passcode)
    let both = try Keyring(
      accessibility: .whenPasscodeSetThisDeviceOnly,
      authentication: Keyring.Authentication([.devicePasscode, .userPresence]).and(),
      passcode: { nil })
    #expect(both.protection.parts == [.device, .passcode])
  }

  @Test func whatLinuxCannotDoIsSaidAtOnce() {
    #expect(code { _ = try Keyring(isSynchronizable: true) } == .unsupported)
    #expect(
      code { _ = try Keyring(accessibility: .whenPasscodeSetThisDeviceOnly) } == .unsupported)
    #expect(
      code { _ = try Keyring(authentication: [], isSynchronizable: true) { nil } } == .unsupported)
    let refused: [Keyring.Authentication] = [
      .biometryAny, .biometryCurrentSet, .watch, [.biometryAny, .devicePasscode],
      Keyring.Authentication([.watch, .userPresence]).and(),
      Keyring.Authentication(rawValue: 1 << 20),
    ]
    for authentication in refused {
      #expect(
        code { _ = try Keyring(authentication: authentication) { nil } } == .unsupported,
        "\(authentication)")
    }
    #expect(code { _ = try Keyring(authentication: .devicePasscode) } == .unsupported)
    #expect(
      code { _ = try Keyring(accessibility: .whenPasscodeSetThisDeviceOnly, authentication: []) }
        == .unsupported)
  }

  @Test func setsOfAuthenticationKnowTheirOperator() {
    let either: Keyring.Authentication = [.devicePasscode, .biometryAny]
    #expect(either.operator == .or)
    #expect(either.and().operator == .and)
    #expect(either.and().or() == either)
    #expect(either.and() != either)
    #expect(either.and().contains(.devicePasscode))
    #expect(!either.and().contains(.watch))
    #expect(Keyring.Authentication([]).and().isEmpty)
    #expect(!either.and().isEmpty)
  }

  /// As Swiftchain has it: each of the others shows already that somebody is there.
  @Test func userPresenceAddsNothingToOtherElements() {
    let others: Keyring.Authentication = [
      .devicePasscode, .biometryAny, .biometryCurrentSet, .watch,
    ]
    let all = others.union(.userPresence)
    #expect(all.or() == others.or() && all.and() == others.and())
    #expect(all.or().operator == .or && all.and().operator == .and)
    #expect(!all.and().contains(.userPresence))
    let alone = Keyring.Authentication.userPresence
    #expect(alone.or() == alone && alone.and().contains(.userPresence))
  }

  // The tests run without a session bus: a call that found one would be a call of the user's own.
  @Test func theSessionsKeyringIsTheOneThatIsUsedWithoutAClient() async throws {
    try #require(StandardFolders.environment("DBUS_SESSION_BUS_ADDRESS") == nil)
    let container = Keyring(service: "x").container(for: "y")
    #expect(code { _ = try container.fetch(String.self) } == .noBus)
    #expect(code { _ = try Keyring.search(for: ["a": "b"]) } == .noBus)
    #expect(code { try Keyring.modify(["a": "b"], for: Named()) } == .noBus)
    #expect(code { try Keyring.remove(Named()) } == .noBus)
    #expect(code { _ = try Keyring.read(["a": "b"]) } == .noBus)
    #expect(code { try Keyring.update([.password("x")], using: ["a": "b"]) } == .noBus)
    #expect(code { try Keyring.delete(["a": "b"]) } == .noBus)
    #expect(code { _ = try Named().item } == .noBus)
    #expect(code { _ = try Named().items } == .noBus)
    #expect(code { try Named().update(.comment("x")) } == .noBus)
    #expect(code { try Named().delete() } == .noBus)
    await #expect(throws: StorageError.self) {
      try await SecureStorage.async { try Keyring.search(for: ["a": "b"]) }
    }
    await #expect(throws: StorageError.self) { try await Named().async { try $0.items } }
    @SecureCredentials(service: "x") var secret: String?
    #expect(code { _ = try $secret.load() } == .noBus)
    @InternetCredentials(server: "x") var password: String?
    #expect(code { _ = try $password.load() } == .noBus)
    @SecureItem(name: "x") var item: [Int]?
    #expect(code { _ = try $item.load() } == .noBus)
  }

  private struct Named: KeyringQueryable {
    var attributes: KeyringAttributes { [.service("x")] }
  }

  @Test func theDefaultKeyringMayBeSet() throws {
    let before = Keyring.default
    defer { Keyring.default = before }
    Keyring.default = try Keyring(service: "mine", accessibility: .afterFirstUnlock)
    #expect(Keyring.default.service == "mine")
  }
}
