import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import StorageTesting
import Testing

/// A suite for `StorePromise`, whose file is changed as any program can without a key.
struct SuitePlace: StorePlace {
  private let folder = TemporaryFolder()
  let durability: DefaultsDurability

  private var deep: String { folder.path + "/deep" }
  private var file: URL { URL(fileURLWithPath: deep + "/suite.secure.plist") }
  private var delegate: DefaultsDelegate {
    DefaultsDelegate(
      folder: deep, suiteName: "suite", durability: durability, deadline: .seconds(60))
  }

  func storage(_ source: KeySource, tag: String?) throws -> DelegatedStorage {
    UserDefaultsStorage(
      delegate, keySource: source, authenticationTag: tag.map { Data($0.utf8) },
      errorClosure: { _ in })
  }

  var sharesExistence: Bool { true }

  func raw() throws -> any RecordPlace { delegate }

  func plant(_ bytes: [UInt8]?, for name: NameHash?) throws {
    let list = try unsafe PropertyListSerialization.propertyList(
      from: Data(contentsOf: file), format: nil)
    var contents = try #require(list as? [String: Data])
    contents[name?.hexadecimal ?? "SecurePropertyStorage"] = bytes.map { Data($0) }
    let new = try PropertyListSerialization.data(
      fromPropertyList: contents, format: .binary, options: 0)
    try new.write(to: file)
    _ = unsafe chmod(file.path, 0o600)
  }

  func storedBytes() throws -> [UInt8] {
    return Array(try Data(contentsOf: file))
  }

  func moveAway() throws -> (() throws -> Void)? {
    let (deep, away) = (deep, folder.path + "/away")
    try FileManager.default.moveItem(atPath: deep, toPath: away)
    return {
      #expect(folder.entries == ["away"])
      try FileManager.default.moveItem(atPath: away, toPath: deep)
      usleep(10_000)
    }
  }
}
