import Dispatch
import Foundation
import Testing

@testable import KeyringTesting

/// What goes wrong with calls when the fake is told so.
@Suite struct FaultTests {
  private typealias Failure = KeyringTestingError

  private func service(
    _ manners: FakeSecretService.Manners
  ) throws -> (fake: FakeSecretService, client: RawClient, item: String) {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: manners)
    let item = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1])!
    return (fake, try RawClient(bus), item)
  }

  @Test func aFaultCanBeInSomeCallsOnly() throws {
    let (fake, client, item) = try service(
      .init().with(.refuses("org.example.No").only(2, skipping: 1), in: "GetSecrets"))
    let outcomes = (0..<5).map { _ in
      client.error { () throws(Failure) in try client.getSecrets(of: item) }
    }
    #expect(outcomes == [nil, "org.example.No", "org.example.No", nil, nil])
    #expect(fake.callCount("GetSecrets") == 5)
  }

  @Test(arguments: [true, false])
  func aServiceThatDiesLosesItsNameAndComesBackWithItsItems(carriesOut: Bool) throws {
    let fault: FakeSecretService.Fault = carriesOut ? .carriesOutAndDies : .dies
    let (fake, client, item) = try service(.init().with(fault.only(), in: "Item.Delete"))
    let error = client.error { () throws(Failure) in try client.call("Item.Delete", on: item) }
    #expect(error == "org.freedesktop.DBus.Error.NoReply")
    #expect(try client.connection.hasOwner(SecretServiceName.bus) == false)
    #expect(fake.items.isEmpty == carriesOut)
    try fake.restart()
    #expect(
      client.error { () throws(Failure) in try client.getSecrets(of: item) }
        == "org.freedesktop.Secret.Error.NoSession")
    #expect(try client.search(["a": "b"]).unlocked == (carriesOut ? [] : [item]))
  }

  @Test func twoServicesCannotBeOnOneBus() throws {
    let bus = try PrivateBus()
    let first = try FakeSecretService(on: bus)
    #expect(throws: KeyringTestingError.self) { try FakeSecretService(on: bus) }
    first.stop()
    _ = try FakeSecretService(on: bus)
  }

  /// The last reference may be gone while a call comes in on the thread of GDBus, for which closing
  /// waits.
  @Test func aServiceThatIsReleasedWhileCallsComeEnds() throws {
    let bus = try PrivateBus()
    let clients = try (0..<2).map { _ in try BusConnection(bus.address) }
    let isOver = Guarded(false)
    let done = DispatchGroup()
    for client in clients {
      done.enter()
      Thread.detachNewThread {
        while !isOver.withLock({ $0 }) {
          // Most of the time nobody serves.
          _ = try? client.call(
            SecretServiceName.bus, SecretServiceName.root, "org.freedesktop.Secret.Service",
            "ReadAlias", [.string("default")])
        }
        done.leave()
      }
    }
    var served = 0
    while served < 300 {
      // The one before may still be on its own thread, and have the name.
      guard let fake = try? FakeSecretService(on: bus) else { continue }
      while fake.callCount() == 0 {}
      served += 1
    }
    isOver.withLock { $0 = true }
    done.wait()
  }
}
