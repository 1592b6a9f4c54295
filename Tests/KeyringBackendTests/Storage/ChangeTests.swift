import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

@Suite struct ChangeTests {
  @Test(arguments: [0, 1, 42])
  func everyChangeIsToldOnceHoweverOftenItIsSignalled(_ signals: Int) async throws {
    let desktop = try FakeDesktop(
      .init().with {
        $0.signalsPerSecretChange = max(signals, 1)
        $0.signalsPerAttributeChange = signals
      })
    let storage = desktop.storage(.patient)
    try storage.save(0, forKey: "key")
    let other = desktop.storage(.patient, freshClient: true)
    let property = Keychain<Int>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(0))
    for number in 1...20 {
      try other.save(number, forKey: "key")
      #expect(await values.next() == .some(number))
    }
    for number in 21...40 {
      try storage.save(number, forKey: "key")
      #expect(await values.next() == .some(number))
    }
  }

  @Test(.ownDaemon)
  func whatChangedWhileTheServiceWasAwayIsTold() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let storage = desktop.storage(service: service)
    try storage.save(0, forKey: "key")
    let property = Keychain<Int>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(0))
    try desktop.keyring.restart()
    let other = desktop.storage(service: service, client: desktop.anotherClient())
    try other.save(1, forKey: "key")
    #expect(await values.next() == .some(1))
  }

  @Test func whoListensToAServiceThatHangsHoldsNoThreadOfSwifts()
    async throws
  {
    let desktop = try FakeDesktop(.init().with(.hangs, in: "*"))
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(600), prompts: .never))
    // Many more than there are threads.
    let listeners = (0..<50).map { number in
      Task {
        var values = Keychain<Int>(storage, "key \(number)").projectedValue.values
          .makeAsyncIterator()
        return await values.next()
      }
    }
    // Ends only if a thread is left for it.
    await Task { for _ in 0..<100 { await Task.yield() } }.value
    for listener in listeners { listener.cancel() }
    for listener in listeners { #expect(await listener.value == nil) }
  }

  @Test func whatASlowServiceKeptFromBeingSeenIsSeenWithTheNextSignal()
    async throws
  {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    for key in ["a", "b"] { try storage.save(0, forKey: key) }
    var first = Keychain<Int>(storage, "a").projectedValue.values.makeAsyncIterator()
    var second = Keychain<Int>(storage, "b").projectedValue.values.makeAsyncIterator()
    #expect(await first.next() == .some(0))
    #expect(await second.next() == .some(0))
    let other = desktop.storage(.patient, freshClient: true)
    #expect(try other.load(Int.self, forKey: "a") == 0)
    #expect(try other.load(Int.self, forKey: "b") == 0)
    desktop.service.change {
      $0.faults["GetSecrets"] = .refuses("org.freedesktop.DBus.Error.Timeout").only(100)
    }
    let records = desktop.service.items.filter { $0.attributes["record"]?.count == 128 }
    try #require(records.count == 2)
    // As another program would: what it writes is seen by nobody while reads fail.
    for record in records { desktop.service.setSecret(record.secret, of: record.path) }
    desktop.service.change { $0.faults = [:] }
    for key in ["a", "b"] { try other.save(1, forKey: key) }
    #expect(await first.next() == .some(1))
    #expect(await second.next() == .some(1))
  }
}
