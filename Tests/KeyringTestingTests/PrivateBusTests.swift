import Foundation
import TestSupport
import Testing

@testable import KeyringTesting

@Suite struct PrivateBusTests {
  private func answers(_ bus: PrivateBus, within timeout: Duration = .seconds(30)) -> Bool {
    (try? BusConnection(bus.address, within: timeout)) != nil
  }

  private func folder(_ bus: PrivateBus) -> String {
    let path = bus.address.dropFirst("unix:path=".count)
    return URL(fileURLWithPath: String(path)).deletingLastPathComponent().path
  }

  @Test func nobodyElseCanLookIntoItsFolder() throws {
    let bus = try PrivateBus()
    let attributes = try FileManager.default.attributesOfItem(atPath: folder(bus))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test(arguments: [true, false])
  func aBusThatEndedAnswersNoMoreUntilItIsRestartedAtTheSameAddress(kills: Bool) throws {
    let bus = try PrivateBus()
    let address = bus.address
    if kills { bus.kill() } else { bus.stop() }
    #expect(!answers(bus))
    try bus.restart()
    #expect(answers(bus) && bus.address == address)
  }

  @Test func aSuspendedBusCanBeStopped() throws {
    let bus = try PrivateBus()
    bus.suspend()
    bus.stop()
    #expect(!answers(bus))
  }

  @Test func theBusAndItsFolderGoWithTheLastReference() throws {
    var bus: PrivateBus? = try PrivateBus()
    let (address, folder) = (bus!.address, folder(bus!))
    bus = nil
    #expect(throws: KeyringTestingError.self) { try BusConnection(address) }
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test func theDaemonsDieWithTheProcessHoweverItEnds() throws {
    // A killed process can't remove its folders.
    let temporary = try TemporaryFolder()
    let child = try HelperProgram("KeyringTestChild").start(
      [], environment: ["TMPDIR": temporary.path])
    let address = try #require(child.nextLine())
    #expect((try? BusConnection(address)) != nil)
    let identifiers = try (0..<2).map { _ in try #require(child.nextLine().flatMap { Int32($0) }) }
    child.kill()
    let areGone = Deadline(.seconds(60)).holds {
      identifiers.allSatisfy { kill($0, 0) != 0 || Self.isZombie($0) }
    }
    #expect(areGone)
  }

  /// Whether a process has ended, and nobody has asked for its status: in a container without init.
  private static func isZombie(_ identifier: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
    return status?.contains("\nState:\tZ") ?? true
  }
}
