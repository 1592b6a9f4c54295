import Foundation
import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

@Suite struct FailureTests {
  /// A storage of the row that has been written with, however long that took.
  private func usedStorage(_ desktop: FakeDesktop, _ row: FailureRow) throws -> KeychainStorage {
    try desktop.storage(.asking).save("kept", forKey: "key")
    let storage = row.storage(desktop, row.access)
    guard row.client == nil, row.group == nil, !row.isFresh else { return storage }
    // One in a hurry may need several attempts.
    for _ in 0..<100 where code({ try storage.save("kept", forKey: "key") }) == nil {
      return storage
    }
    throw StorageError(.timedOut, "not written in a hundred attempts")
  }

  // That it does not hang; how close it is to the deadline, `make soak` measures.
  @Test(arguments: Depth.cases(FailureRow.all, day: 10))
  func aFailureHasItsCodeInTimeAndChangesNothing(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    let storage = try usedStorage(desktop, row)
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    let before = kept(desktop, row)
    var value: String?
    #expect(code { value = try storage.load(String.self, forKey: "key") } == row.read)
    #expect(value == (row.read == nil ? "kept" : nil))
    #expect(kept(desktop, row) == before)
    try row.goWrong(desktop)
    #expect(code { try row.change(storage) } == row.write)
    guard row.write != nil else {
      #expect(try storage.load(String.self, forKey: "key") == "new")
      return
    }
    #expect(kept(desktop, row) == before)
    guard row.read != nil, !row.isOfOneKey else { return }
    #expect(code { try storage.save("new", forKey: "other") } == row.write)
    #expect(kept(desktop, row) == before)
  }

  /// Whole items: their attributes, labels, types and dates as well.
  ///
  /// A program's first write takes numbers from the header before it finds what is wrong with a
  /// record.
  private func kept(_ desktop: FakeDesktop, _ row: FailureRow) -> [FakeSecretService.Item] {
    desktop.service.items.filter { !row.isOfOneKey || $0.attributes["record"] != "header" }
  }

  /// A store that has not been opened yet must not take any of it for a new one.
  @Test(arguments: Depth.cases(FailureRow.all.filter { $0.read != nil }, day: 8))
  func noKeyIsMadeOverExistingData(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.asking).save("kept", forKey: "key")
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    let before = kept(desktop, row)
    let storage = desktop.storage(
      row.access, group: row.group, client: row.client, freshClient: true)
    #expect(code { try storage.save("new", forKey: "key") } != nil)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } != nil)
    #expect(kept(desktop, row) == before)
  }

  @Test func anErrorThatNobodyKnowsIsOneToo() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.asking)
    try storage.save("kept", forKey: "key")
    let before = desktop.service.items
    desktop.service.manners.faults["*"] = .refuses("org.example.Strange")
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .io)
    #expect(code { try storage.save("new", forKey: "key") } == .io)
    #expect(desktop.service.items == before)
  }

  /// The table of the documentation is the rows that are tested, and says of them what is so.
  @Test func theTableHasTheRowsThatAreTested() throws {
    let page = try FormatDocument.text(of: "keyring-failures.md")
    var cells: [String: [String]] = [:]
    for line in page.split(separator: "\n").filter({ $0.hasPrefix("| ") }).dropFirst() {
      let row = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      cells[row[0]] = Array(row.dropFirst())
    }
    let tested = Set(FailureRow.all.map { $0.line }).union(FailureRow.elsewhere)
    #expect(Set(cells.keys) == tested)
    for row in FailureRow.all {
      for (cell, code) in zip(try #require(cells[row.line]), [row.read, row.write])
      where !["", "as locked"].contains(cell) && row.way != "in the write itself" {
        #expect(cell.contains(code.map { "`\($0)`" } ?? "goes on"), "\(row.testDescription)")
      }
    }
  }

  @Test(.ownDaemon) func afterTheBusIsBackEverythingWorksAgain() throws {
    let desktop = try Desktop()
    let storage = desktop.storage()
    try storage.save("kept", forKey: "key")
    func restart() throws {
      try desktop.bus.restart()
      try desktop.keyring.restart()
    }
    try restart()
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    try restart()
    try storage.save("new", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "new")
  }

  @Test(.ownDaemon) func afterADaemonWasKilledEverythingWorksAgain() throws {
    let desktop = try Desktop()
    let storage = desktop.storage()
    try storage.save("kept", forKey: "key")
    // It forgets of what type they are.
    let before = Set(try Foreign(desktop).items([:]))
    try desktop.keyring.restart()
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    #expect(Set(try Foreign(desktop).items([:])) == before)
    try desktop.keyring.restart()
    try storage.save("new", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "new")
    desktop.keyring.kill()
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .noService)
    #expect(code { try storage.save("newer", forKey: "key") } == .noService)
    try desktop.keyring.restart()
    #expect(try storage.load(String.self, forKey: "key") == "new")
  }

  /// A service that dies in a call of such a name, and is started again by the bus.
  private func restartOnce(in method: String, _ service: FakeSecretService) {
    let isToCome = Lock(true)
    service.manners.beforeEachCall = { [weak service] name in
      guard name.hasSuffix("." + method) else { return }
      let isFirst = isToCome.withLock { isToCome in
        defer { isToCome = false }
        return isToCome
      }
      guard isFirst else { return }
      do { try service?.restart() } catch { Issue.record(error) }
    }
  }

  @Test(arguments: ["SearchItems", "GetSecrets"], [false, true])
  func aServiceThatIsRestartedInACallIsAskedAgain(_ method: String, _ isWrite: Bool) throws {
    let desktop = try FakeDesktop(isActivatable: true)
    try desktop.storage(.patient).save("kept", forKey: "key")
    let before = desktop.service.items
    let storage = desktop.storage(.patient, freshClient: true)
    restartOnce(in: method, desktop.service)
    if isWrite {
      try storage.save("new", forKey: "key")
      #expect(desktop.service.items.count == before.count)
    } else {
      #expect(try storage.load(String.self, forKey: "key") == "kept")
      #expect(desktop.service.items == before)
    }
    #expect(desktop.service.callCount("OpenSession") > 1)
    #expect(try storage.load(String.self, forKey: "key") == (isWrite ? "new" : "kept"))
  }

  @Test func aServiceThatOpensNoSessionSaysWhichPackageMayBeMissing() throws {
    let desktop = try FakeDesktop()
    desktop.service.change { $0.failingSessions = 1000 }
    let error = #expect(throws: StorageError.self) {
      try desktop.storage(.patient, freshClient: true).load(String.self, forKey: "key")
    }
    #expect(error?.code == .io)
    #expect(error?.message.contains("libqca-qt5-2-plugins") == true)
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
}
