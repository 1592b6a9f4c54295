import StorageTesting
import Testing

@testable import StorageCore

/// `count += 1` is a read and a write: after a read that failed, the write would destroy the value.
@Suite struct UnreadableAssignmentTests {
  private let log = ErrorLog()
  private let storage: FaultyStorage
  private let count: UnwrappedStore<Int, FaultyStorage>

  init() throws {
    let log = log
    storage = FaultyStorage(errorClosure: { log.add($0) })
    count = UnwrappedStore(wrappedValue: 0, storage, "count")
    try storage.save(41, forKey: "count")
  }

  private func increment() { count.wrappedValue += 1 }

  @Test func aCorruptReadDoesNotLoseTheCount() throws {
    storage.faults.fail(.reads, with: .corruption, times: 1)
    increment()
    #expect(log.codes == [.damaged, .damaged])
    #expect(log.errors.last?.key == "count")
    #expect(log.errors.last?.message.contains("save(_:)") == true)
    storage.faults.recover()
    #expect(try count.load() == 41)
    increment()
    #expect(try count.load() == 42, "a read that worked allows it again")
  }

  @Test(arguments: [
    StorageError.Code.locked, .timedOut, .io, .busy, .cancelled, .unavailable, .denied, .invalid,
  ])
  func aReadThatFailedOnceDoesNotLoseTheCount(_ reason: StorageError.Code) throws {
    storage.faults.fail(.reads, with: .failure(StorageError(reason, "on cue")), times: 1)
    increment()
    #expect(log.codes == [reason, reason])
    #expect(try count.load() == 41)
    increment()
    #expect(try count.load() == 42)
  }

  @Test func namesThatClientsMakeUpTakeNoMemoryWithoutLimit() throws {
    storage.faults.fail(.reads, with: .failure(StorageError(.locked, "on cue")))
    for index in 0..<FailedReads.limit + 500 {
      #expect(throws: StorageError.self) { try storage.load(Int.self, forKey: "made up \(index)") }
    }
    #expect(storage.store.failedReads.count == FailedReads.limit)
    increment()
    storage.faults.recover()
    #expect(try storage.load(forKey: "count") == 41, "properties are protected nevertheless")
  }

  @Test func whatSomebodyElseRemovedCanBeAssigned() throws {
    let delegate = OpenDelegate()
    let ours = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    let theirs = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    try theirs.save("text", forKey: "k")
    let property = Store<Int, DelegatedStorage>(ours, "k")
    #expect(property.wrappedValue == nil)
    property.wrappedValue = 1
    #expect(try theirs.load(forKey: "k") == "text")
    try theirs.removeAll()
    property.wrappedValue = 2
    #expect(try property.load() == 2)
  }

  @Test func assignmentWithoutAReadBeforeIsAllowed() throws {
    try storage.save("text", forKey: "count")
    count.wrappedValue = 5
    #expect(log.errors.isEmpty)
    #expect(try count.load() == 5)
  }

  @Test func otherKeysAreNotAffected() throws {
    try storage.save("text", forKey: "count")
    increment()
    let other = UnwrappedStore<Int, FaultyStorage>(wrappedValue: 0, storage, "other")
    other.wrappedValue += 1
    #expect(try other.load() == 1)
  }
}
