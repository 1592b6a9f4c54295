import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

@Suite struct SaveAllTests {
  private struct User: Codable, Equatable { var name: String }
  private struct Unstorable {}

  private let delegate = OpenDelegate()
  private let storage: DelegatedStorage

  /// As many values, each its number, under keys from `k0`.
  private func numbered(_ count: Int) -> [StoreKey: Int] {
    var values: [StoreKey: Int] = [:]
    for number in 0..<count { values["k\(number)"] = number }
    return values
  }

  init() { storage = .quiet(delegate, .key(.fresh)) }

  @Test func valuesOfManyTypesAreStoredEachInItsOwnFormInOneCommit() throws {
    try storage.save("old", forKey: "gone")
    let before = delegate.commits
    let missing: Int? = nil
    try storage.saveAll([
      "int": 42, "text": "x", "flag": true, "data": Data([1, 2]), "list": ["a", "b"],
      "table": ["one": 1], "user": User(name: "u"), "optional": Int?.some(7), "gone": nil,
      "missing": missing,
    ])
    #expect(delegate.commits == before + 1)
    #expect(try storage.load(Int.self, forKey: "int") == 42)
    #expect(try storage.load(String.self, forKey: "text") == "x")
    #expect(try storage.load(Bool.self, forKey: "flag") == true)
    #expect(try storage.load(Data.self, forKey: "data") == Data([1, 2]))
    #expect(try storage.load([String].self, forKey: "list") == ["a", "b"])
    #expect(try storage.load([String: Int].self, forKey: "table") == ["one": 1])
    #expect(try storage.load(User.self, forKey: "user") == User(name: "u"))
    #expect(try storage.load(Int.self, forKey: "optional") == 7)
    #expect(try storage.contains("gone") == false)
    #expect(try storage.contains("missing") == false)
  }

  @Test func oneThatCantBeStoredKeepsAllOthersOut() throws {
    try storage.save("old", forKey: "a")
    let failure = error {
      try storage.saveAll(["a": "new", "b": 1, "bad": Unstorable(), "c": 2])
    }
    #expect(failure?.code == .unsupported && failure?.key == "bad")
    #expect(error { try storage.saveAll(["a": "new", "": 1]) }?.code == .invalid)
    #expect(error { try storage.saveAll(["a": "new", "nan": [Double.nan: Unstorable()]]) } != nil)
    #expect(try storage.keys() == ["a"])
    #expect(try storage.load(forKey: "a") == "old")
  }

  @Test func aCommitThatFailsStoresNone() throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    storage.faults.fail(.writes, with: .failure(StorageError(.full, "on cue")))
    #expect(code { try storage.saveAll(["a": 1, "b": 2]) } == .full)
    storage.faults.recover()
    #expect(try storage.keys().isEmpty)
  }

  @Test func nothingToSaveIsNoCommit() throws {
    try storage.saveAll([:])
    #expect(delegate.commits == 0 && delegate.headerChanges == 0)
  }

  @Test func aPlaceThatCantCommitManyRefuses() {
    let storage = DelegatedStorage.quiet(PlainDelegate(), .key(.fresh))
    #expect(code { try storage.saveAll(["a": 1]) } == .unsupported)
  }

  // MARK: - removeAll

  @Test func removingAllIsOneCommit() throws {
    try storage.saveAll(numbered(100))
    let name = try #require(try delegate.records().keys.first)
    try delegate.replace(name, with: [1, 2, 3])
    let before = delegate.commits
    try storage.removeAll()
    #expect(delegate.commits == before + 1)
    #expect(try delegate.records().isEmpty)
    try storage.removeAll()
    #expect(delegate.commits == before + 1)
  }

  @Test func removingAllFollowsKeysThatChangeMeanwhile() throws {
    try storage.saveAll(["a": 1, "b": 2])
    let storage = storage
    delegate.beforeNextCommit { _ = try? storage.keyAdministration.exportRecoveryKey() }
    try storage.removeAll()
    #expect(try storage.keys().isEmpty)
  }
}
