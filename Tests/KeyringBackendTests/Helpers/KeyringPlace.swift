import CryptoCore
import Foundation
import KeyringTesting
import StorageCore
import StorageTesting

@testable import KeyringBackend

/// A store in a keyring, real or a fake, for `StorePromise`.
struct KeyringPlace: StorePlace {
  private let service = Desktop.freshService()
  private let client: KeyringClient
  /// Another program's way to the keyring.
  private let other: KeyringClient
  /// Keeps the bus.
  private let bus: any Sendable

  init(isReal: Bool) throws {
    if isReal {
      let desktop = try Desktop()
      (client, other, bus) = (desktop.client, desktop.anotherClient(), desktop)
    } else {
      let desktop = try FakeDesktop()
      let address = desktop.bus.address
      client = desktop.client
      other = KeyringClient { () throws(StorageError) in address }
      bus = desktop
    }
  }

  func storage(_ source: KeySource, tag: String?) throws -> DelegatedStorage {
    DelegatedStorage(
      delegate(client), keySource: source, authenticationTag: tag.map { Data($0.utf8) },
      errorClosure: { _ in })
  }

  func raw() throws -> any RecordPlace { delegate(other) }

  private func delegate(_ client: KeyringClient) -> KeyringDelegate {
    KeyringDelegate(access: .patient, client: client) { [service] () throws(StorageError) in
      service
    }
  }
}
