import CryptoCore
import Glibc
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// The handler is the program's: these tests take turns, and look for their own keys.
@Suite(.serialized) struct DiagnosticsTests {
  /// What the handler gets of keys that start with `prefix` while `body` runs.
  private func reports(_ prefix: String, _ body: () throws -> Void) rethrows -> [StorageError] {
    let log = ErrorLog()
    HandlerTurn.begin()
    defer { HandlerTurn.end() }
    let previous = StorageDiagnostics.handler
    StorageDiagnostics.handler = { error in
      if error.key?.hasPrefix(prefix) == true { log.add(error) } else { previous(error) }
    }
    defer { StorageDiagnostics.handler = previous }
    try body()
    return log.errors
  }

  private func failing() -> FaultyStorage {
    let storage = FaultyStorage()
    storage.faults.fail(.all, with: .failure(StorageError(.locked, "on cue")))
    return storage
  }

  @Test func withoutAnErrorClosureFailuresGoToTheDiagnostics() {
    let found = reports("diagnostics-a") {
      let property = Store<Int, FaultyStorage>(failing(), "diagnostics-a")
      #expect(property.wrappedValue == nil)
      property.wrappedValue = 1
    }
    #expect(found.map(\.code) == [.locked, .locked])
  }

  @Test func withAnErrorClosureNothingGoesToTheDiagnostics() {
    let log = ErrorLog()
    let found = reports("diagnostics-b") {
      let storage = failing()
      storage.errorClosure = { log.add($0) }
      #expect(storage.integer(forKey: "diagnostics-b") == 0)
      storage.set(1, forKey: "diagnostics-b")
    }
    #expect(found.isEmpty)
    #expect(log.codes == [.locked, .locked])
  }

  @Test func callsThatThrowReportNothing() {
    let found = reports("diagnostics-c") {
      let property = Store<Int, FaultyStorage>(failing(), "diagnostics-c")
      #expect(code { _ = try property.load() } == .locked)
      #expect(code { try property.save(1) } == .locked)
      #expect(code { try property.remove() } == .locked)
      #expect(code { try property.update { $0 = 1 } } == .locked)
      guard case .failed = property.state else {
        Issue.record("no failure")
        return
      }
    }
    #expect(found.isEmpty)
  }

  @Test func aHandlerMayUseTheStorageThatIsBeingMade() async {
    await #expect(processExitsWith: .success) {
      alarm(30)  // waiting for itself, it would wait for ever
      MemoryLockLimit.lower(to: 0)
      let storage = DelegatedStorage(OpenDelegate(), symmetricKey: .fresh)
      let log = ErrorLog()
      StorageDiagnostics.handler = { error in
        log.add(error)
        #expect(throws: Never.self) {
          try storage.save((storage.load(Int.self, forKey: "reports") ?? 0) + 1, forKey: "reports")
        }
      }
      try storage.save("value", forKey: "key")
      #expect(log.codes == [.unavailable])
      #expect(try storage.load(forKey: "reports") == 1)
      #expect(try storage.load(forKey: "key") == "value")
    }
  }

  @Test func aHandlerWhoseOwnUseFailsIsNotCalledForEver() async {
    await #expect(processExitsWith: .success) {
      let storage = FaultyStorage()
      storage.faults.fail(.all, with: .failure(StorageError(.locked, "on cue")))
      let log = ErrorLog()
      StorageDiagnostics.handler = { error in
        log.add(error)
        storage.set(1, forKey: "diagnostics-f")
      }
      storage.set(1, forKey: "diagnostics-f")
      #expect(log.codes.count == 4)
      storage.set(1, forKey: "diagnostics-f")
      #expect(log.codes.count == 8)
    }
  }

  @Test func absenceIsNotReported() {
    let found = reports("diagnostics-d") {
      let storage = DelegatedStorage(OpenDelegate(), symmetricKey: .fresh)
      #expect(storage.string(forKey: "diagnostics-d") == nil)
      storage.remove(forKey: "diagnostics-d")
      storage.set(nil as Int?, forKey: "diagnostics-d")
    }
    #expect(found.isEmpty)
  }
}
