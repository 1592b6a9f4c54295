import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

/// What somebody does who has the data keys of before a rotation, and may write to the file.
struct EndedKeysTests {
  private let folder = TemporaryFolder()
  private let newSource = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))

  private func storage(_ source: KeySource = .key(sampleKey)) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(), keySource: source, errorClosure: { _ in })
  }

  private func contents() throws -> [String: Data] {
    let bytes = Data(try #require(folder.bytes))
    let list = try unsafe PropertyListSerialization.propertyList(from: bytes, format: nil)
    return try #require(list as? [String: Data])
  }

  /// Puts an entry into the file, as any program can without a key.
  private func plantJunk() throws {
    var contents = try contents()
    contents[String(repeating: "a5", count: 64)] = Data([1, 1, 0, 0, 0, 1]) + Data(count: 60)
    let bytes = try PropertyListSerialization.data(
      fromPropertyList: contents, format: .binary, options: 0)
    try folder.put(Array(bytes))
  }

  /// All is sealed anew in the write that changes the header, so that there is nothing in between.
  @Test func aRotationIsOneWriteOfTheFile() throws {
    let storage = storage()
    for index in 0..<200 { try storage.save(index, forKey: "key \(index)") }
    let property = UserDefault<Int>(storage, "key 7")
    let changes = Lock(0)
    let observation = folder.delegate().observe { _ in changes.withLock { $0 += 1 } }
    let before = try contents()
    let report = try storage.keyAdministration.rotate()
    #expect(report.reencrypted == 200 && report.setAside == 0)
    let after = try contents()
    #expect(Set(after.keys) == Set(before.keys))
    #expect(after.allSatisfy { before[$0.key] != $0.value })
    #expect(changes.withLock { $0 } == 200)
    #expect(try property.load() == 7)
    withExtendedLifetime(observation) {}
  }

  @Test func namesCanBeHashedAnewInASuite() async throws {
    let storage = storage()
    for index in 0..<20 { try storage.save(index, forKey: "key \(index)") }
    let property = UserDefault<Int>(storage, "key 7")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(7))
    let before = try contents()
    let report = try storage.keyAdministration.rotate(openedBy: newSource, names: true)
    #expect(report.reencrypted == 20 && report.setAside == 0 && report.remaining == 0)
    let after = try contents()
    #expect(Set(after.keys).intersection(before.keys) == ["SecurePropertyStorage"])
    for index in 0..<20 {
      #expect(try self.storage(newSource).load(forKey: "key \(index)") == index)
    }
    try storage.save(-7, forKey: "key 7")
    var value = await values.next()
    while value == .some(7) { value = await values.next() }
    #expect(value == .some(-7))
    // What does not open may be of another tag, which would look for it under another hash.
    try plantJunk()
    #expect(code { _ = try storage.keyAdministration.rotate(names: true) } == .damaged)
  }
}
