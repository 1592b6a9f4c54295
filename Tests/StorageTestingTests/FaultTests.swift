import StorageCore
import StorageTesting
import Testing

@Suite struct FaultTests {
  private struct Settings {
    @Store<String, FaultyStorage> var token: String?

    init(_ storage: FaultyStorage) { _token = Store(storage, "token") }
  }

  @Test(arguments: [StorageError.Code.locked, .full, .readOnly, .timedOut])
  func aFailureOnCueReachesTheCaller(_ code: StorageError.Code) throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    let settings = Settings(storage)
    settings.token = "before"
    storage.faults.fail(.writes, with: .failure(StorageError(code, "on cue")), times: 1)
    let error = #expect(throws: StorageError.self) { try settings.$token.save("after") }
    #expect(error?.code == code)
    #expect(settings.token == "before")
    try settings.$token.save("after")
    #expect(settings.token == "after")
  }

  @Test func aCorruptedRecordIsDamagedAndComesBackWhenTheFaultIsGone() throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    let settings = Settings(storage)
    settings.token = "kept"
    storage.faults.fail(.reads, with: .corruption)
    #expect(settings.token == nil)
    guard case .failed(let error) = settings.$token.state else {
      Issue.record("the state is \(settings.$token.state)")
      return
    }
    #expect(error.code == .damaged)
    storage.faults.recover()
    #expect(settings.token == "kept")
  }

  @Test func faultsCanBeSkippedForSomeCalls() throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    storage.faults.fail(
      .writes, with: .failure(StorageError(.busy, "on cue")), skipping: 2, times: 1)
    try storage.save(1, forKey: "a")
    try storage.save(2, forKey: "b")
    #expect(throws: StorageError.self) { try storage.save(3, forKey: "c") }
    try storage.save(4, forKey: "d")
    #expect(try storage.keys().sorted() == ["a", "b", "d"])
  }
}
