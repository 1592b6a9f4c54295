import CryptoCore
import Foundation
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

/// What a live property does when the store does not.
struct LiveRefusalTests {
  private final class Reports: Sendable {
    private let errors = Lock<[StorageError]>([])
    var codes: [StorageError.Code] { errors.withLock { $0.map(\.code) } }
    var closure: StorageErrorClosure {
      { error in self.errors.withLock { $0.append(error as! StorageError) } }
    }
  }
  private struct Unencodable: Codable, Equatable, Sendable {
    var number: Double
  }
  private let reports = Reports()

  @Test func aRefusedWriteLeavesTheOldValue() throws {
    let storage = FaultyStorage(errorClosure: reports.closure)
    @Live(storage, "key") var live = 0
    live = 1
    storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
    live = 2
    #expect(live == 1)
    #expect(reports.codes == [.full])
    #expect(throws: StorageError.self) { try $live.save(3) }
    #expect(throws: StorageError.self) { try $live.update { $0 = 4 } }
    #expect(throws: StorageError.self) { try $live.remove() }
    #expect(live == 1)
    #expect($live.state == .value(1))
    storage.faults.recover()
    #expect(try storage.load(Int.self, forKey: "key") == 1)
    live = 5
    #expect(live == 5)
  }

  @Test func aValueThatCantBeEncodedChangesNothing() throws {
    let storage = SingletonStorage()
    storage.errorClosure = reports.closure
    @Live(storage, "key") var live = Unencodable(number: 0)
    live = Unencodable(number: 1)
    live = Unencodable(number: .nan)
    #expect(reports.codes == [.invalid])
    #expect(live == Unencodable(number: 1))
    #expect(throws: StorageError.self) { try $live.save(Unencodable(number: .infinity)) }
    #expect($live.state == .value(Unencodable(number: 1)))
  }

  @Test func theTypeThatWasStoredFirstStays() throws {
    let storage = SingletonStorage()
    storage.errorClosure = reports.closure
    @Live(storage, "key") var number: Int?
    @Live(storage, "key") var text: String?
    number = 1
    text = "one"
    #expect(reports.codes == [.typeMismatch])
    #expect(number == 1)
    #expect(text == nil)
    #expect($text.state.error?.code == .typeMismatch)
    text = nil
    #expect(throws: StorageError.self) { try $text.save("one") }
    #expect(throws: StorageError.self) { try $text.update { $0 = "one" } }
    #expect(number == 1)
    #expect(try storage.load(Int.self, forKey: "key") == 1)
    // Removing it on purpose makes room for another type.
    try $text.remove()
    #expect(number == nil)
    text = "one"
    #expect(text == "one")
    #expect($number.state.error?.code == .typeMismatch)
  }

  /// Of two types that are stored at the same time, one is there and the other is refused.
  @Test func ofTwoTypesOneIsStored() throws {
    for _ in 0..<50 {
      let storage = SingletonStorage()
      storage.errorClosure = { _ in }
      let number = Live<Int?, SingletonStorage>(storage, "key")
      let text = Live<String?, SingletonStorage>(storage, "key")
      let stored = Lock<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        do throws(StorageError) {
          if thread == 0 { try number.save(1) } else { try text.save("one") }
          stored.withLock { $0.append(thread == 0 ? "number" : "text") }
        } catch {
          #expect(error.code == .typeMismatch)
        }
      }
      #expect(stored.withLock { $0.count } == 1)
      #expect((number.wrappedValue == nil) != (text.wrappedValue == nil))
    }
  }

  @Test func whatCantBeReadIsSaidAndNotReplaced() throws {
    let storage = FaultyStorage(errorClosure: reports.closure)
    @Live(storage, "key") var live = 7
    try storage.save(1, forKey: "key")
    storage.faults.fail(.reads, with: .failure(StorageError(.locked, "unlock it")))
    #expect(live == 7)
    #expect(reports.codes == [.locked])
    #expect($live.state.error?.code == .locked)
    #expect(throws: StorageError.self) { try $live.load() }
    live += 1
    storage.faults.recover()
    #expect(try storage.load(Int.self, forKey: "key") == 1)
    #expect(live == 1)
    live += 1
    #expect(live == 2)
  }

  @Test func aDamagedValueIsReplacedOnPurposeAlone() throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage(delegate, keySource: .key(SymmetricKey(size: .bits256)))
    storage.errorClosure = reports.closure
    @Live(storage, "key") var live: Int?
    live = 1
    let name = try #require(try delegate.names().first)
    try delegate.replace(name, with: [1, 2, 3])
    #expect(live == 1)
    #expect($live.state.error != nil)
    live = 2
    #expect($live.state.error != nil)
    try $live.save(3)
    #expect(live == 3)
  }
}
