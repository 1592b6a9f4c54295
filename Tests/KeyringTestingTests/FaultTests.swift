import Dispatch
import Foundation
import Testing

@testable import KeyringTesting

/// A fake that goes away while it is called.
@Suite struct FaultTests {
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
