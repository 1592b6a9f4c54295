import Foundation
import KeyringTesting
import StorageCore
import Testing
import VaultBackend

@testable import KeyringBackend

/// A service that knows no key exchange: libsecret then sends secrets over the bus as they are.
@Suite struct PlainBusTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    UUID().uuidString)
  private let desktop: FakeDesktop

  init() throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    desktop = try FakeDesktop()
  }

  private func source(
    allowing: Bool = false, _ client: KeyringClient? = nil, name: String? = nil
  ) -> KeySource {
    .keyring(
      KeyringKey(
        name: name ?? desktop.name, collection: nil,
        access: allowing ? .silent.allowingPlainKeys : .silent, client: client ?? desktop.client))
  }

  private func vault(_ source: KeySource) -> VaultStorage {
    VaultStorage(at: folder.appendingPathComponent("test.vault"), keySource: source)
  }

  @Test func aKeyIsNotMadeWhereItWouldCrossTheBusInTheClear() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(code { try vault(source()).save("value", forKey: "key") } == .unsupported)
    #expect(desktop.service.items.isEmpty)
    #expect(desktop.service.callCount("CreateItem") == 0)
  }

  @Test func aKeyThatIsThereIsNotAskedFor() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try vault(source(allowing: true)).save("value", forKey: "key")
    let later = vault(source())
    desktop.service.forgetCalls()
    do throws(StorageError) {
      _ = try later.load(String.self, forKey: "key")
      Issue.record("the key crossed the bus")
    } catch {
      #expect(error.code == .unsupported)
      #expect(error.message.contains("allowsPlainKeys"))
    }
    #expect(desktop.service.callCount("GetSecrets") == 0)
    #expect(try vault(source(allowing: true)).load(String.self, forKey: "key") == "value")
  }

  @Test func noOtherSourceIsTakenInstead() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("other.key")
    let ladder = KeySource.firstAvailable([source(), .file(file)])
    #expect(code { try vault(ladder).save("value", forKey: "key") } == .unsupported)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func aReportSaysSo() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try vault(source(allowing: true)).save("value", forKey: "key")
    let report = KeyringReport(
      keys: [desktop.name], deadline: .seconds(30), client: desktop.client)
    #expect(report.isEncrypted == false)
    #expect(report.findings.last?.error?.code == .unsupported)
    #expect(
      report.findings.filter { $0.error == nil }.map(\.subject) == [.bus, .service, .collection])
  }

  @Test(.ownDaemon) func aServiceThatEncryptsIsAskedWithoutAWord() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let real = try Desktop()
    let name = Desktop.freshService()
    try vault(source(real.client, name: name)).save("value", forKey: "key")
    let again = vault(source(real.anotherClient(), name: name))
    #expect(try again.load(String.self, forKey: "key") == "value")
    let report = KeyringReport(keys: [name], deadline: .seconds(30), client: real.client)
    #expect(report.isEncrypted == true)
    #expect(report.findings.allSatisfy { $0.error == nil })
  }
}
