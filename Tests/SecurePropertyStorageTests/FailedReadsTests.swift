import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// The rule for assignments after a read that failed, which all wrappers share.
@Suite struct FailedReadsTests {
  static let passing: [StorageError.Code] = [.busy, .timedOut, .cancelled]

  private let reads = FailedReads()

  private func assignment(isThere: Bool = true) -> StorageError? {
    do throws(StorageError) {
      try reads.checkAssignment(to: "count") { isThere }
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: passing)
  func aPassingErrorRefusesOneAssignment(_ code: StorageError.Code) throws {
    reads.remember("count", StorageError(code, "on cue"), gaveDefault: true)
    let error = try #require(assignment())
    #expect(error.code == code && error.message.contains("Read it again"))
    #expect(assignment() == nil)
    reads.remember("count", StorageError(code, "on cue"))
    #expect(assignment() == nil, "who got the error made nothing of a default")
  }

  // MARK: - Through a wrapper

  @Test(arguments: passing + [.locked, .io])
  func anIncrementOfALivePropertyAfterAFailedReadDoesNotEither(_ code: StorageError.Code) throws {
    let storage = FaultyStorage()
    try storage.save(41, forKey: "count")
    let count = Live(wrappedValue: 0, storage, "count")
    storage.faults.fail(.reads, with: .failure(StorageError(code, "on cue")))
    count.wrappedValue += 1
    storage.faults.recover()
    #expect(try count.load() == 41)
    count.wrappedValue += 1
    #expect(try count.load() == 42)
  }

  /// The value is read on a queue as soon as it changes, between a getter and an assignment too.
  @Test(arguments: passing + [.locked, .io])
  func aReadThatTheProgramDidNotMakeEndsNoRefusal(_ code: StorageError.Code) throws {
    let storage = FaultyStorage()
    try storage.save(41, forKey: "count")
    let count = Live(wrappedValue: 0, storage, "count")
    storage.faults.fail(.reads, with: .failure(StorageError(code, "on cue")))
    let read = count.wrappedValue
    storage.faults.recover()
    for value in 50..<60 { try storage.save(value, forKey: "count") }
    count.wrappedValue = read + 1
    #expect(try storage.load(Int.self, forKey: "count") == 59)
    count.wrappedValue += 1
    #expect(try storage.load(Int.self, forKey: "count") == 60)
  }
}
