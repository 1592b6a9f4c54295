import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

@Suite struct ThrowingCallsTests {
  private let storage = FaultyStorage(errorClosure: { _ in })

  @Test func removingAllEmptiesTheStoreAndKeepsItsKeys() throws {
    for index in 0..<10 { try storage.save(index, forKey: "k\(index)") }
    let slots = try storage.keyAdministration.slots()
    try storage.removeAll()
    #expect(try storage.keys().isEmpty)
    #expect(try storage.keyAdministration.slots() == slots)
    try storage.save(1, forKey: "k")
    #expect(try storage.load(forKey: "k") == 1)
  }

  @Test(arguments: [StorageError.Code.full, .readOnly, .busy, .locked, .io, .outcomeUnknown])
  func aFailedWriteLeavesTheOldValue(_ reason: StorageError.Code) throws {
    try storage.save("old", forKey: "k")
    storage.faults.fail(.writes, with: .failure(StorageError(reason, "on cue")))
    #expect(code { try storage.save("new", forKey: "k") } == reason)
    #expect(code { try storage.delete(forKey: "k") } == reason)
    #expect(code { try storage.update(String.self, forKey: "k") { $0 = "new" } } == reason)
    #expect(code { try storage.removeAll() } == reason)
    storage.set("new", forKey: "k")
    #expect(try storage.load(forKey: "k") == "old")
    storage.faults.recover()
    #expect(try storage.load(forKey: "k") == "old")
  }

  @Test func anUpdateThatThrowsChangesNothing() throws {
    struct OwnError: Error {}
    try storage.save(1, forKey: "k")
    #expect(throws: OwnError.self) {
      try storage.update(Int.self, forKey: "k") { value in
        value = 2
        throw OwnError()
      }
    }
    #expect(try storage.load(forKey: "k") == 1)
  }

  @Test func anUpdateSeesWhatOthersWroteMeanwhile() throws {
    try storage.save(1, forKey: "k")
    var runs = 0
    try storage.update(Int.self, forKey: "k") { value in
      runs += 1
      if runs == 1 { try elsewhere { try storage.save(10, forKey: "k") } }
      value = (value ?? 0) + 1
    }
    #expect(runs == 2)
    #expect(try storage.load(forKey: "k") == 11)
  }

  @Test func anUpdateCanRemoveAndMake() throws {
    try storage.update(Int.self, forKey: "k") { $0 = 1 }
    #expect(try storage.load(forKey: "k") == 1)
    try storage.update(Int.self, forKey: "k") { $0 = nil }
    #expect(try storage.contains("k") == false)
    try storage.update(Int.self, forKey: "k") { $0 = nil }
    #expect(try storage.keys().isEmpty)
  }
}
