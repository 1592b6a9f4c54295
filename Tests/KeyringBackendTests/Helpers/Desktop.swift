import Foundation
import KeyringBackend
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// A private bus with the real gnome-keyring-daemon on it, and this library's way to it.
///
/// Where `SPS_SECRET_SERVICE_ADDRESS` is set, it is that bus with the service that is on it:
/// scripts/keyring-daemons.sh runs the tests so, with KeePassXC and with KWallet. Tests that need a
/// daemon of their own, to lock it or to end it, have the trait ``ownDaemon``.
final class Desktop: Sendable {
  /// Of the bus.
  let address: String
  /// Nil for a service that somebody else has started.
  let bus: PrivateBus!
  /// Nil for a service that somebody else has started.
  let keyring: GnomeKeyring!
  let client: KeyringClient

  /// The bus of a service that somebody else has started; nil for one of each test's own.
  private static let sharedAddress = ProcessInfo.processInfo.environment[
    "SPS_SECRET_SERVICE_ADDRESS"]

  /// What the service is that somebody else has started: "keepassxc" or "kwallet".
  static let sharedService = ProcessInfo.processInfo.environment["SPS_SECRET_SERVICE"]

  /// Whether each test has a daemon of its own.
  static var isOwn: Bool { sharedAddress == nil }

  init(hasDefaultCollection: Bool = true) throws {
    let address: String
    if let shared = Self.sharedAddress {
      address = shared
      (bus, keyring) = (nil, nil)
    } else {
      let bus = try PrivateBus()
      address = bus.address
      self.bus = bus
      keyring = try GnomeKeyring(on: bus, hasDefaultCollection: hasDefaultCollection)
    }
    self.address = address
    client = KeyringClient { () throws(StorageError) in address }
  }

  /// Another program's way to the same keyring: a connection and a session of its own.
  func anotherClient() -> KeyringClient {
    let address = address
    return KeyringClient { () throws(StorageError) in address }
  }

  /// A name that no other test uses: locks are in one folder for all of them.
  static func freshService() -> String { "test.\(UUID().uuidString)" }

  func delegate(
    service: String = freshService(), accessGroup: String? = nil,
    access: KeyringAccess = .patient, client: KeyringClient? = nil
  ) -> KeyringDelegate {
    KeyringDelegate(
      access: access, client: client ?? self.client,
      accessGroup: { () throws(StorageError) in accessGroup },
      service: { () throws(StorageError) in service })
  }

  func storage(
    service: String = freshService(), accessGroup: String? = nil,
    accessible: Accessibility = .whenUnlocked, keySource: KeySource? = nil,
    access: KeyringAccess = .patient, client: KeyringClient? = nil
  ) -> KeychainStorage {
    KeychainStorage(
      accessGroup: accessGroup, synchronizable: false, accessible: accessible,
      keySource: keySource, access: access, client: client ?? self.client
    ) { service }
  }
}

extension KeyringAccess {
  /// For machines that are busy with other tests.
  ///
  /// Nobody answers prompts; those of KeePassXC, for every change, and of KWallet, which is open
  /// already, end by themselves. The fake services don't encrypt what crosses the bus.
  static let patient =
    (Desktop.isOwn
    ? silent
    : KeyringAccess(deadline: .seconds(120), promptDeadline: .seconds(120), prompts: .always))
    .allowingPlainKeys

  /// The same, with a service that doesn't encrypt what crosses the bus.
  var allowingPlainKeys: KeyringAccess {
    var access = self
    access.allowsPlainKeys = true
    return access
  }

  /// The same, without any prompt.
  static let silent = KeyringAccess(deadline: .seconds(120), prompts: .never)
}

extension Trait where Self == ConditionTrait {
  /// For tests that lock their daemon, end it, or need it without a collection.
  static var ownDaemon: ConditionTrait {
    .enabled(if: Desktop.isOwn, "the test needs a gnome-keyring-daemon of its own")
  }
}
