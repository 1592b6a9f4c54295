import KeyringTesting
import StorageCore

@testable import KeyringBackend

/// A private bus with a Secret Service on it that behaves as it is told.
final class FakeDesktop: Sendable {
  let bus: PrivateBus
  let service: FakeSecretService
  let client: KeyringClient
  let name = Desktop.freshService()

  /// With `isActivatable` the bus waits for a service that is gone, as for one that it has started.
  init(_ manners: FakeSecretService.Manners = .init(), isActivatable: Bool = false) throws {
    // dbus-daemon goes on waiting for a program that ends with 0, and so may have gone to the
    // background.
    let bus = try PrivateBus(
      starting: isActivatable ? [BusConnection.serviceName: "/bin/true"] : [:])
    self.bus = bus
    service = try FakeSecretService(on: bus, manners: manners)
    client = KeyringClient { () throws(StorageError) in bus.address }
  }

  /// A storage in the fake service, which offers no encryption, or on the bus of a client.
  func storage(
    _ access: KeyringAccess, group: String? = nil, client: KeyringClient? = nil,
    freshClient: Bool = false
  ) -> KeychainStorage {
    var access = access
    access.allowsPlainKeys = true
    let address = bus.address
    let other = KeyringClient { () throws(StorageError) in address }
    return KeychainStorage(
      accessGroup: group, synchronizable: false, accessible: .whenUnlocked, keySource: nil,
      access: access, client: client ?? (freshClient ? other : self.client)
    ) { [name] in name }
  }
}

extension KeyringAccess {
  /// For calls that are to run out of time, and may do so anywhere.
  static let hasty = KeyringAccess(
    deadline: .milliseconds(500), promptDeadline: .milliseconds(500), prompts: .always,
    allowsPlainKeys: true)

  /// For calls that are to run out of time at their end, and to come so far on a busy machine.
  static let brisk = KeyringAccess(
    deadline: .seconds(4), prompts: .always, allowsPlainKeys: true)

  /// For calls that are to end, and may ask the user.
  static let asking = KeyringAccess(
    deadline: .seconds(30), promptDeadline: .seconds(30), prompts: .always, allowsPlainKeys: true)
}
