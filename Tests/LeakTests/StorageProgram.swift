import CryptoCore
import FileBackend
import Foundation
import StorageCore

/// A program that uses a storage.
struct StorageProgram: LeakedProgram {
  typealias Rotation = @Sendable (SymmetricKey, Bool) throws -> ReencryptionReport

  private let storage: any Storage
  private let rotation: Rotation

  init(_ storage: any Storage, rotation: @escaping Rotation) {
    self.storage = storage
    self.rotation = rotation
  }

  func save(_ value: String, _ name: String) throws { try storage.save(value, forKey: name) }

  func load(_ names: [String]) throws -> [String: String] {
    try values(of: names) { try storage.load(String.self, forKey: $0) }
  }

  func rotate(to key: SymmetricKey, names: Bool) throws { _ = try rotation(key, names) }
}

/// A program that uses a sealed folder.
struct FolderProgram: LeakedProgram {
  let folder: SealedFolder

  func save(_ value: String, _ name: String) throws {
    try folder.write(Data(value.utf8), named: name)
  }

  func load(_ names: [String]) throws -> [String: String] {
    try values(of: names) { name in
      try folder.read(named: name).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  func rotate(to key: SymmetricKey, names: Bool) throws {
    _ = try folder.rotate(openedBy: .key(key), names: names)
  }
}
