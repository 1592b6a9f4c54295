import CryptoCore
import Foundation
import KeyringBackend
import KeyringTesting
import ProviderBackend
import StorageCore
import Testing

/// A keyring with the items of one service.
final class KeyringPlace: LeakedPlace {
  private let service: String
  private let bus: PrivateBus
  private let keyring: FakeSecretService

  convenience init() throws { try self.init(service: "test.\(UUID().uuidString)") }

  private init(service: String) throws {
    self.service = service
    bus = try PrivateBus()
    keyring = try FakeSecretService(on: bus)
  }

  func program(_ key: SymmetricKey) throws -> any LeakedProgram {
    let storage = KeychainStorage(
      service: service, keySource: .key(key),
      access: KeyringAccess(deadline: .seconds(60), bus: bus.address, allowsPlainKeys: true),
      errorClosure: { _ in })
    return StorageProgram(storage) {
      try storage.keyAdministration.rotate(openedBy: .key($0), names: $1)
    }
  }

  func twin() throws -> any LeakedPlace {
    let twin = try KeyringPlace(service: service)
    for item in keyring.items { twin.add(item) }
    return twin
  }

  func contents() throws -> [RawName: Data] {
    var contents: [RawName: Data] = [:]
    for item in keyring.items { contents[try name(of: item)] = Data(item.secret) }
    return contents
  }

  func put(_ contents: [RawName: Data]) throws {
    let items = keyring.items
    for (name, secret) in contents {
      // Each secret begins with the name that it belongs to.
      let secret = name.isHeader ? Array(secret) : Self.hash(name) + secret.dropFirst(64)
      if let item = try items.first(where: { try self.name(of: $0) == name }) {
        keyring.setSecret(secret, of: item.path)
      } else {
        var item = try #require(items.first)
        item.attributes["record"] = name.entry
        item.secret = secret
        add(item)
      }
    }
  }

  private func add(_ item: FakeSecretService.Item) {
    keyring.addItem(
      label: item.label, attributes: item.attributes, secret: item.secret,
      contentType: item.contentType)
  }

  private func name(of item: FakeSecretService.Item) throws -> RawName {
    let record = try #require(item.attributes["record"])
    return RawName(entry: record, isHeader: record == "header")
  }

  private static func hash(_ name: RawName) -> [UInt8] {
    let digits = Array(name.entry)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16)
    }
  }
}

/// A place of an application's own, which it brings by a provider.
final class ProviderPlace: LeakedPlace {
  private final class Provider: KeychainProvider {
    let contents = Lock<[String: Data]>([:])

    func setData(_ data: Data, forKey key: String) -> Bool {
      contents.withLock { $0[key] = data }
      return true
    }

    func deleteData(forKey key: String) -> Bool {
      contents.withLock { $0[key] = nil }
      return true
    }

    func getData(forKey key: String) -> Data? { contents.withLock { $0[key] } }
  }

  private let provider = Provider()

  func program(_ key: SymmetricKey) throws -> any LeakedProgram {
    let storage = ProviderStorage(provider, keySource: .key(key), errorClosure: { _ in })
    return StorageProgram(storage) {
      try storage.keyAdministration.rotate(openedBy: .key($0), names: $1)
    }
  }

  func twin() throws -> any LeakedPlace {
    let twin = ProviderPlace()
    let contents = provider.contents.withLock { $0 }
    twin.provider.contents.withLock { $0 = contents }
    return twin
  }

  func contents() throws -> [RawName: Data] {
    let contents = provider.contents.withLock { $0 }
    return Dictionary(
      uniqueKeysWithValues: contents.map { name, bytes in
        (RawName(entry: name, isHeader: bytes.starts(with: Data("SPSh".utf8))), bytes)
      })
  }

  func put(_ contents: [RawName: Data]) throws {
    for (name, bytes) in contents { _ = provider.setData(bytes, forKey: name.entry) }
  }
}
