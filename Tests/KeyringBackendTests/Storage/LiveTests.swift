import CryptoCore
import KeyringTesting
import Observation
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// Live properties of a store in the keyring that others write to as well.
@Suite struct LiveTests {
  /// `secret-tool` knows nothing of stores: it removes, puts back and overwrites items.
  ///
  /// Other daemons don't give it a record, which is no text.
  @Test(.ownDaemon) func whatSecretToolDoesArrives() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let storage = desktop.storage(service: service)
    let live = Live<String?, KeychainStorage>(storage, "key")
    let other = Live<String?, KeychainStorage>(storage, "other")
    try await live.projectedValue.saveAsync("first")
    let name = try #require(try desktop.delegate(service: service).names().first)
    let attributes = SealedItem(service: service).attributes(of: name)
    try await other.projectedValue.saveAsync("untouched")
    let tool = try Foreign(desktop)
    let first = try #require(try tool.lookUp(attributes))
    try await live.projectedValue.saveAsync("second")
    var states = Observations { live.state }.makeAsyncIterator()
    while await states.next() != .value("second") {}

    try tool.store(first, attributes)
    while await states.next() != .value("first") {}
    try tool.store(Array("no record".utf8), attributes)
    while true {
      guard case .failed(let error) = await states.next() else { continue }
      #expect(error.code == .damaged)
      break
    }
    try tool.clear(attributes)
    while await states.next() != .absent {}
    try tool.store(first, attributes)
    while await states.next() != .value("first") {}
    #expect(live.wrappedValue == "first" && other.wrappedValue == "untouched")
  }

  /// As `securestore set` and `securestore remove` do: a process of its own that ends.
  @Test func whatAProgramThatEndsDoesArrives() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let live = Live(wrappedValue: "none", desktop.storage(service: service), "key")
    #expect(await live.async { $0.state } == .absent)
    var values = Observations { live.wrappedValue }.makeAsyncIterator()
    for (command, expected) in [
      (["save", service, "key", "first"], "first"), (["save", service, "key", "second"], "second"),
      (["remove", service, "key"], "none"), (["save", service, "key", "third"], "third"),
    ] {
      let lines = try HelperProgram("KeychainTestChild")
        .start(command, environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address]).lines()
      #expect(lines == [command[0] == "save" ? "saved" : "removed"])
      while await values.next() != expected {}
      #expect(live.wrappedValue == expected)
    }
  }

  /// Times of 1,000 changes in a row, with ``Soak`` alone.
  @Test(.enabled(if: Soak.isOn))
  func liveChangesArriveSoonSoak() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let live = Live(wrappedValue: -1, desktop.storage(service: service), "key")
    #expect(await live.async { $0.state } == .absent)
    let child = try HelperProgram("KeychainTestChild").start(
      ["save-timed", service, "key"], environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address])
    let times = try ArrivalTimes.measure(1_000) {
      try child.ask("\($0)")
    } read: {
      live.wrappedValue
    }
    print("live changes of a keyring: \(ArrivalTimes.describe(times))")
    #expect(times[990] < 10)
  }
}
