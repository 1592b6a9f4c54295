import CryptoCore
import Foundation
import Observation
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

/// A live property keeps its last value until there is a new one, and checks what it is given.
struct LiveLastValueTests {
  private let log = ErrorLog()

  private func storage() -> DelegatedStorage {
    let storage = DelegatedStorage.fresh()
    storage.errorClosure = { [log] in log.add($0) }
    return storage
  }

  private static let ports: @Sendable (Int) -> Bool = { (1...65_535).contains($0) }

  // MARK: - The last value

  @Test func aValueThatDoesNotDecodeLeavesTheLastOneAndIsReportedOnce() throws {
    let storage = storage()
    @Live(storage, "port") var port = 8080
    @Live(storage, "port") var optional: Int?
    try storage.save(9000, forKey: "port")
    #expect(port == 9000)
    try storage.save("ninety", forKey: "port")
    for _ in 0..<5 { #expect(port == 9000 && optional == 9000) }
    #expect(log.codes == [.typeMismatch])
    let message = try #require(log.errors.first?.message)
    #expect(message.contains("somebody stored another type"))
    #expect(message.contains("the type in this program has changed"))
    #expect(!message.contains("ninety") && log.errors.first?.key == "port")
    #expect($port.state.error?.code == .typeMismatch)
    #expect(code { _ = try $port.load() } == .typeMismatch)
  }

  @Test func withoutAnEarlierValueItIsTheDefaultAndAnErrorAtEachRead() throws {
    let storage = storage()
    try storage.save("ninety", forKey: "port")
    @Live(storage, "port") var port = 8080
    #expect(port == 8080 && port == 8080)
    #expect(log.codes == [.typeMismatch, .typeMismatch])
    #expect(log.errors.first?.message.contains("keeps its last value") == false)
  }

  @Test func aRemovedValueIsTheDefaultAndNotTheLastOne() throws {
    let storage = storage()
    @Live(storage, "port") var port = 8080
    port = 9000
    try storage.delete(forKey: "port")
    #expect(port == 8080)
    try storage.save("ninety", forKey: "port")
    #expect(port == 8080)
    port = 9000
    #expect(port == 8080, "the assignment is refused")
    try storage.delete(forKey: "port")
    port = 9000
    #expect(port == 9000)
    try storage.save("ninety", forKey: "port")
    #expect(port == 9000)
    try storage.delete(forKey: "port")
    #expect(port == 8080)
  }

  /// A value that was computed from the last one must not replace the one that can't be read.
  @Test func anAssignmentReplacesNothingThatCouldNotBeRead() throws {
    let storage = storage()
    @Live(storage, "count") var count = 0
    count = 41
    try storage.save("many", forKey: "count")
    count += 1
    #expect(try storage.load(String.self, forKey: "count") == "many")
    #expect(count == 41)
    #expect(throws: StorageError.self) { try $count.update { $0 += 1 } }
    #expect(code { try $count.save(42) } == .typeMismatch)
    #expect(try storage.load(String.self, forKey: "count") == "many")
    try $count.remove()
    count += 1
    #expect(count == 1)
  }

  @Test func aValueThatWasComputedFromTheLastOneReplacesNoNewerOne() throws {
    let storage = storage()
    @Live(storage, "count") var count = 0
    count = 41
    try storage.save("many", forKey: "count")
    let last = count
    try storage.save(100, forKey: "count")
    count = last + 1
    #expect(try storage.load(Int.self, forKey: "count") == 100)
    #expect(count == 100)
    count += 1
    #expect(try storage.load(Int.self, forKey: "count") == 101)
  }

  @Test func observersAreToldThatAValueCantBeRead() throws {
    let storage = storage()
    @Live(storage, "port") var port = 8080
    port = 9000
    let count = Lock(0)
    withObservationTracking {
      _ = port
    } onChange: {
      count.withLock { $0 += 1 }
    }
    try storage.save("ninety", forKey: "port")
    while count.withLock({ $0 }) == 0 { usleep(1_000) }
    #expect(count.withLock { $0 } == 1)
    #expect(port == 9000)
  }

  // MARK: - Checks

  @Test func aCheckRefusesAnAssignmentAndTheValueStays() throws {
    let storage = storage()
    @Live(storage, "port", validate: Self.ports) var port = 8080
    @Live(storage, "port", validate: Self.ports) var optional: Int?
    port = 0
    #expect(log.codes == [.invalid] && port == 8080)
    #expect(try !storage.contains("port"))
    port = 9000
    port = 70_000
    optional = -1
    #expect(port == 9000 && optional == 9000)
    #expect(log.codes == [.invalid, .invalid, .invalid])
    #expect(log.errors.allSatisfy { $0.key == "port" && !$0.message.contains("70") })
    #expect(code { try $port.save(0) } == .invalid)
    #expect(code { try $port.update { $0 = 0 } } == .invalid)
    #expect(code { try $optional.save(0) } == .invalid)
    #expect(try storage.load(Int.self, forKey: "port") == 9000)
    optional = nil
    #expect(port == 8080, "nothing is asked about a removal")
  }

  @Test func aCheckRefusesAStoredValueBeforeAnybodySeesIt() async throws {
    let storage = storage()
    @Live(storage, "port", validate: Self.ports) var port = 8080
    var states = $port.states.makeAsyncIterator()
    #expect(await states.next() == .absent)
    try storage.save(0, forKey: "port")
    #expect(port == 8080)
    #expect(await states.next()?.error?.code == .invalid)
    try storage.save(9000, forKey: "port")
    #expect(port == 9000)
    #expect(await states.next() == .value(9000))
    let reported = log.codes.count
    for bad in [0, 70_000] {
      try storage.save(bad, forKey: "port")
      for _ in 0..<3 { #expect(port == 9000) }
    }
    #expect(log.codes.count == reported + 2)
    #expect(log.codes.last == .invalid && $port.state.error?.code == .invalid)
    let refusal = await #expect(throws: StorageError.self) { try await $port.loadAsync() }
    #expect(refusal?.code == .invalid)
    port += 1
    #expect(try storage.load(Int.self, forKey: "port") == 70_000, "the assignment is refused")
    try $port.save(9001)
    #expect(port == 9001)
    try storage.save("9002", forKey: "port")
    #expect(port == 9002, "text is checked as the number that it is")
    try storage.save("0", forKey: "port")
    #expect(port == 9002)
  }

  @Test func aCheckIsThatOfItsPropertyAlone() throws {
    let storage = storage()
    @Live(storage, "port", validate: Self.ports) var port = 8080
    @Live(storage, "port") var any = 8080
    @Live(storage, "port", validate: { $0 < 10 }) var small = 1
    any = 70_000
    #expect(any == 70_000 && port == 8080 && small == 1)
    any = 5
    #expect(port == 5 && small == 5)
    any = 500
    #expect(port == 500 && small == 5)
    let copy = $port
    #expect(copy.live === $port.live && $port.live !== $any.live)
  }

  @Test func theDefaultIsNotChecked() {
    @Live(SingletonStorage(), "port", validate: Self.ports) var port = 0
    #expect(port == 0)
  }
}
