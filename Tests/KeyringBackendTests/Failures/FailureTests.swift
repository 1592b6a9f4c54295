import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// One row of the table in docs/keyring-failures.md.
struct FailureRow: Sendable, CustomTestStringConvertible {
  let name: String
  /// What a read gives.
  let read: StorageError.Code
  /// What a write gives, where it is not the same.
  var write: StorageError.Code?
  let goWrong: @Sendable (FakeDesktop) throws -> Void

  var testDescription: String { name }
  /// In a hurry only where the time is to run out: a busy machine is slow for the others.
  var access: KeyringAccess { read == .timedOut ? .hasty : .asking }

  static let all: [FailureRow] = [
    FailureRow(name: "the bus is gone", read: .noBus) { $0.bus.kill() },
    FailureRow(name: "the bus hangs", read: .timedOut) { $0.bus.suspend() },
    FailureRow(name: "the service is gone", read: .noService) { $0.service.stop() },
    FailureRow(name: "the service dies in mid-call", read: .noService) {
      $0.service.manners.faults["*"] = .dies
    },
    FailureRow(name: "the service hangs", read: .timedOut) {
      $0.service.manners.faults["*"] = .hangs
    },
    FailureRow(name: "reads hang", read: .timedOut) {
      $0.service.manners.faults["GetSecrets"] = .hangs
    },
    FailureRow(name: "there are no collections", read: .noCollection) {
      $0.service.manners.hasCollections = false
      $0.service.manners.hasDefaultCollection = false
    },
    FailureRow(name: "locked, and the prompt never ends", read: .timedOut) {
      $0.service.change {
        $0.prompts = [.unlock]
        $0.promptAnswer = .never
      }
      $0.service.lock()
    },
    FailureRow(name: "locked, and the prompt is dismissed", read: .dismissed) {
      $0.service.change {
        $0.prompts = [.unlock]
        $0.promptAnswer = .dismissed
      }
      $0.service.lock()
    },
    FailureRow(name: "locked with items hidden, and the prompt is dismissed", read: .dismissed) {
      $0.service.change {
        $0 = .keePassXC
        $0.prompts = [.unlock]
        $0.promptAnswer = .dismissed
      }
      $0.service.lock()
    },
    FailureRow(name: "locked with empty secrets, and the prompt is dismissed", read: .dismissed) {
      $0.service.change {
        $0 = .kWallet
        $0.prompts = [.unlock]
        $0.promptAnswer = .dismissed
      }
      $0.service.lock()
    },
    FailureRow(name: "the service refuses", read: .denied) {
      $0.service.manners.faults["*"] = .refuses("org.freedesktop.DBus.Error.AccessDenied")
    },
    FailureRow(name: "an error that nobody knows", read: .io) {
      $0.service.manners.faults["*"] = .refuses("org.example.Strange")
    },
    FailureRow(name: "answers of the wrong type", read: .damaged) {
      $0.service.manners.lies = .wrongTypes
    },
    FailureRow(name: "secrets of other items", read: .damaged) {
      $0.service.manners.lies = .secretsOfOtherItems
    },
    FailureRow(name: "secrets cut short", read: .damaged) {
      $0.service.manners.lies = .cutSecrets
    },
    FailureRow(name: "secrets of another session", read: .damaged) {
      $0.service.manners.lies = .foreignSessions
    },
  ]
}

@Suite struct FailureTests {
  /// What is stored in the fake, but for when it was changed.
  private func records(_ desktop: FakeDesktop) -> Set<[UInt8]> {
    Set(desktop.service.items.map(\.secret))
  }

  /// A storage that has been written with, however long that took.
  private func usedStorage(
    _ desktop: FakeDesktop, _ access: KeyringAccess, value: String = "kept"
  ) throws -> KeychainStorage {
    try desktop.storage(.asking).save(value, forKey: "key")
    let storage = desktop.storage(access)
    // One in a hurry may need several attempts.
    for _ in 0..<100 where code({ try storage.save(value, forKey: "key") }) == nil {
      return storage
    }
    throw StorageError(.timedOut, "not written in a hundred attempts")
  }

  // That it does not hang; how close it is to the deadline, `make soak` measures.
  @Test(.timeLimit(.minutes(3)), arguments: FailureRow.all)
  func aFailureHasItsCodeInTimeAndChangesNothing(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    let storage = try usedStorage(desktop, row.access)
    let before = records(desktop)
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == row.read)
    #expect(code { try storage.save("new", forKey: "key") } == row.write ?? row.read)
    #expect(code { try storage.save("new", forKey: "other") } == row.write ?? row.read)
    #expect(records(desktop) == before)
  }

  /// A store that has not been opened yet must not take any of it for a new one.
  @Test(arguments: FailureRow.all)
  func noKeyIsMadeOverExistingData(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.asking).save("kept", forKey: "key")
    let before = records(desktop)
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    let storage = desktop.storage(row.access, freshClient: true)
    #expect(code { try storage.save("new", forKey: "key") } != nil)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } != nil)
    #expect(records(desktop) == before)
  }

  /// Says how long a call took, at worst of ten; docs/keyring-failures.md has it.
  @Test(.enabled(if: Soak.isOn), .serialized, arguments: FailureRow.all)
  func howLateAFailureIsSoak(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    let storage = try usedStorage(desktop, row.access)
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    var longest = Duration.zero
    for number in 0..<10 {
      let taken = ContinuousClock().measure {
        if number.isMultiple(of: 2) {
          #expect(code { _ = try storage.load(String.self, forKey: "key") } == row.read)
        } else {
          #expect(code { try storage.save("new", forKey: "key") } == row.write ?? row.read)
        }
      }
      longest = max(longest, taken)
    }
    // A dialog has its own time, which is as long.
    let (milliseconds, deadline) = (longest / .milliseconds(1), row.access.deadline)
    print("\(row.name): \(milliseconds) ms at most, with a deadline of \(deadline)")
  }

  @Test func afterTheServiceIsBackEverythingWorksAgain() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("kept", forKey: "key")
    desktop.service.stop()
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .noService)
    try desktop.service.restart()
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    // Restarted between two calls: nobody notices.
    try desktop.service.restart()
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    try desktop.service.restart()
    try storage.save("new", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "new")
  }

  @Test(.ownDaemon) func afterTheBusIsBackEverythingWorksAgain() throws {
    let desktop = try Desktop()
    let storage = desktop.storage()
    try storage.save("kept", forKey: "key")
    try desktop.bus.restart()
    try desktop.keyring.restart()
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  @Test func aWriteWhoseAnswerIsLostIsOfUnknownOutcomeAndMayHaveBeenMade() throws {
    let desktop = try FakeDesktop()
    let storage = try usedStorage(desktop, .brisk, value: "old")
    desktop.service.manners.faults["CreateItem"] = .carriesOutAndHangs
    #expect(code { try storage.save("new", forKey: "key") } == .outcomeUnknown)
    desktop.service.manners.faults = [:]
    #expect(try storage.load(String.self, forKey: "key") == "new")
  }

  @Test func aWriteIsMadeOnceWhenTheServiceDiesAfterIt() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("old", forKey: "key")
    // A watcher starts the service again, as D-Bus activation does.
    desktop.service.manners.faults["CreateItem"] = .carriesOutAndDies.only(1)
    let service = desktop.service
    let restarting = Task.detached {
      for _ in 0..<200 {
        try await Task.sleep(for: .milliseconds(20))  // there is nothing to wait for
        do { try service.restart() } catch { continue }
      }
    }
    defer { restarting.cancel() }
    let failure = code { try storage.save("new", forKey: "key") }
    restarting.cancel()
    #expect(failure == nil || failure == .outcomeUnknown)
    #expect(desktop.service.items.count == 3)  // the key, the header and the record
  }

  @Test func whatIsSetOnlyWhereAbsentIsThereOnceUnderDuplicates() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("mine", forKey: "key")
    let item = try #require(
      desktop.service.items.first { $0.attributes["record"]?.count == 128 })
    _ = desktop.service.addItem(
      label: "copy", attributes: item.attributes, secret: item.secret)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .duplicate)
    #expect(code { try storage.save("new", forKey: "key") } == .duplicate)
    #expect(code { try storage.delete(forKey: "key") } == .duplicate)
    #expect(desktop.service.items.count == 4)
  }

  @Test func twoHeadersAreAnErrorAndNoneIsPicked() throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.patient).save("mine", forKey: "key")
    let header = try #require(
      desktop.service.items.first { $0.attributes["record"] == "header" })
    _ = desktop.service.addItem(
      label: "copy", attributes: header.attributes, secret: header.secret)
    let storage = desktop.storage(.patient, freshClient: true)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .duplicate)
    #expect(code { try storage.save("new", forKey: "key") } == .duplicate)
  }

  @Test func aCreateThatStoresNothingIsNotTakenForAStore() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.asking)
    try storage.save("old", forKey: "key")
    desktop.service.change {
      $0.prompts = [.createItem]
      $0.storesNothing = true
    }
    #expect(code { try storage.save("new", forKey: "key") } == .outcomeUnknown)
    #expect(try storage.load(String.self, forKey: "key") == "old")
  }

  @Test func aDeleteThatDeletesNothingIsNotTakenForOne() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("old", forKey: "key")
    desktop.service.manners.deletesNothing = true
    #expect(code { try storage.delete(forKey: "key") } == .outcomeUnknown)
  }

  @Test func aHeaderThatIsGoneIsDamageAndNoNewStore() throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.patient).save("mine", forKey: "key")
    let header = try #require(
      desktop.service.items.first { $0.attributes["record"] == "header" })
    desktop.service.removeItem(header.path)
    let storage = desktop.storage(.patient, freshClient: true)
    #expect(code { try storage.save("new", forKey: "key") } == .damaged)
    #expect(desktop.service.items.count == 2)
  }
}
