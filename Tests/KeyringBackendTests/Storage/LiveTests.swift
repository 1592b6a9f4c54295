import KeyringTesting
import Observation
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// Live properties of a store in the keyring that others write to as well.
@Suite struct LiveTests {
  @Test(.timeLimit(.minutes(30))) func whatAnotherProgramDoesArrives() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let live = Live(wrappedValue: -1, desktop.storage(service: service), "key")
    #expect(await live.stateAsync() == .absent)
    let other = desktop.storage(service: service, client: desktop.anotherClient())
    var values = Observations { live.wrappedValue }.makeAsyncIterator()
    for number in 0..<20 {
      try other.save(number, forKey: "key")
      while live.wrappedValue != number { _ = await values.next() }
    }
    try other.delete(forKey: "key")
    while live.wrappedValue != -1 { _ = await values.next() }
  }

  /// Times of 1,000 changes in a row, with ``Soak`` alone.
  @Test(.enabled(if: Soak.isOn), .timeLimit(.minutes(30)))
  func liveChangesArriveSoonSoak() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let live = Live(wrappedValue: -1, desktop.storage(service: service), "key")
    #expect(await live.stateAsync() == .absent)
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

  @Test(.timeLimit(.minutes(30))) func storagesOfAServiceAreInStep() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let (first, second) = (desktop.storage(service: service), desktop.storage(service: service))
    try first.open()
    try second.open()
    @Live(first, "key") var one = 0
    @Live(second, "key") var two = 0
    one = 1
    #expect(two == 1)
    two = 2
    #expect(one == 2)
    try second.save(3, forKey: "key")
    #expect(one == 3)
    #expect($one.live === $two.live)
  }
}
