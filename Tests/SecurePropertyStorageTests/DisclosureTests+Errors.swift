import CryptoCore
import DefaultsBackend
import FileBackend
import Foundation
import SingletonBackend
import StorageCore
import StorageFoundation
import StorageTesting
import TestSupport
import Testing
import VaultBackend

extension Showing {
  func errors() throws {
    let storage = VaultStorage(at: vault("errors"), keySource: .key(Marker.key))
    try storage.save(Marker.value, forKey: "k")
    let suite = UserDefaultsStorage(suite("errors"), keySource: .passphrase(Marker.passphrase))
    let long = String(repeating: "k", count: 2000)
    let failures: [() throws -> Void] = [
      { _ = try storage.load(Int.self, forKey: "k") },
      { try storage.save((Marker.value, 1), forKey: "k") },
      { _ = try storage.load([Any].self, forKey: "k") },
      { try storage.update(Int.self, forKey: "k") { $0 = 1 } },
      {
        let file = self.folder.appendingPathComponent("a.key")
        try Data(Marker.passphrase.utf8).write(to: file)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o644], ofItemAtPath: file.path)
        _ = try VaultStorage(at: self.vault("file"), keySource: .file(file)).keys()
        try VaultStorage(at: self.vault("file"), keySource: .file(file)).open()
      },
      { try storage.save(Marker.value, forKey: long) },
      { try storage.save(Double.nan, forKey: "") },
      { try storage.save(encodable: [Marker.value: Double.nan], forKey: "k") },
      {
        let source = KeySource.passphrase(
          Marker.passphrase, derivation: .scrypt(cost: 16).withoutFloor)
        let other = VaultStorage(at: self.vault("errors"), keySource: source)
        _ = try other.load(String.self, forKey: "k")
      },
      {
        try FileManager.default.createDirectory(
          at: self.vault("folder"), withIntermediateDirectories: true)
        _ = try VaultStorage(at: self.vault("folder"), keySource: .key(Marker.key)).keys()
      },
      { _ = try RecoveryKey(text: Marker.passphrase) },
      {
        try Data("bplist00\(Marker.value)".utf8).write(
          to: self.folder.appendingPathComponent("errors.secure.plist"))
        _ = try suite.load(String.self, forKey: "k")
      },
    ]
    for (index, failure) in failures.enumerated() {
      let error = #expect(throws: StorageError.self, "failure \(index)") { try failure() }
      if let error { show(error, error.code, PropertyState<String>.failed(error)) }
    }
    let promises = DelegatePromise.all(of: FaultyDelegate.self)
    for promise in promises { show(promise) }
    let broken = promises.lazy.compactMap { promise -> BrokenPromise? in
      do {
        try promise.check {
          let delegate = FaultyDelegate()
          delegate.fail(.reads, with: .corruption)
          return delegate
        }
        return nil
      } catch { return error as? BrokenPromise }
    }
    show(try #require(broken.first))
  }
}
