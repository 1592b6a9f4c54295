import StorageCore
import StorageTesting
import Testing

@Suite struct InitialValueTests {
  private let log = ErrorLog()
  private let storage: FaultyStorage

  init() {
    let log = log
    storage = FaultyStorage(errorClosure: { log.add($0) })
  }

  private func property(_ initial: String?) -> Store<String, FaultyStorage> {
    Store(wrappedValue: initial, storage, "k")
  }

  @Test func anInitialValueNeverReplacesAValueOfAnotherType() throws {
    try storage.save(7, forKey: "k")
    let property = property("initial")
    #expect(log.errors.isEmpty, "it is not read, only looked for")
    #expect(property.wrappedValue == nil)
    #expect(try storage.load(forKey: "k") == 7)
  }

  @Test func nilIsNoInitialValue() throws {
    #expect(property(nil).wrappedValue == nil)
    #expect(try storage.keys().isEmpty)
  }

  @Test(arguments: [StorageError.Code.locked, .timedOut, .io, .unavailable, .damaged])
  func anInitialValueIsNotStoredWhenTheReadFails(_ reason: StorageError.Code) throws {
    storage.faults.fail(.reads, with: .failure(StorageError(reason, "on cue")))
    _ = property("initial")
    #expect(log.codes == [reason])
    #expect(log.errors.first?.key == "k" || reason == .damaged)
    storage.faults.recover()
    #expect(try storage.contains("k") == false)
  }

  @Test func anInitialValueIsNotStoredOverADamagedRecord() throws {
    try storage.save("mine", forKey: "k")
    storage.faults.fail(.reads, with: .corruption)
    #expect(property("initial").wrappedValue == nil)
    storage.faults.recover()
    #expect(try storage.load(forKey: "k") == "mine")
  }

  @Test func anInitialValueRemovedOnPurposeComesBackAtTheNextStartOnly() throws {
    let first = property("initial")
    first.wrappedValue = nil
    #expect(first.wrappedValue == nil)
    #expect(property("initial").wrappedValue == "initial")
  }

  @Test func aDefaultIsReturnedAndNeverWritten() throws {
    let property = UnwrappedStore<String, FaultyStorage>(wrappedValue: "default", storage, "k")
    let codable = UnwrappedCodableStore<[Int], FaultyStorage>(wrappedValue: [1], storage, "c")
    #expect(property.wrappedValue == "default")
    #expect(try property.load() == "default")
    #expect(property.state == .absent)
    #expect(codable.wrappedValue == [1])
    #expect(try codable.load() == [1])
    #expect(try storage.keys().isEmpty)
    property.wrappedValue = "set"
    #expect(property.wrappedValue == "set")
    try property.remove()
    #expect(property.wrappedValue == "default")
    #expect(try storage.keys().isEmpty)
  }

  @Test func aDefaultIsReportedAndNotStoredWhenTheReadFails() throws {
    try storage.save("mine", forKey: "k")
    storage.faults.fail(.reads, with: .failure(StorageError(.locked, "on cue")))
    let property = UnwrappedStore<String, FaultyStorage>(wrappedValue: "default", storage, "k")
    #expect(property.wrappedValue == "default")
    #expect(log.codes == [.locked])
    #expect(code { _ = try property.load() } == .locked)
    storage.faults.recover()
    #expect(property.wrappedValue == "mine")
  }
}
