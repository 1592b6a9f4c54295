import CryptoCore
import Foundation
import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

@Suite struct ProcessTests {
  /// The program of the target KeychainTestChild.
  private let helper = HelperProgram("KeychainTestChild")

  private func child(
    _ desktop: Desktop, _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> Child {
    let bus: [String: String?] = ["DBUS_SESSION_BUS_ADDRESS": desktop.address]
    return try helper.start(arguments, environment: bus.merging(environment) { $1 })
  }

  @Test func processesThatUpdateLoseNoStep() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let children = try (0..<4).map { _ in try child(desktop, "count", service, "key", "25") }
    for child in children {
      let lines = try child.lines()
      #expect(lines == ["done"], "\(lines)")
    }
    #expect(try desktop.storage(service: service).load(Int.self, forKey: "key") == 100)
  }

  /// As another process makes it: between any two calls of this one.
  @Test(arguments: 1...12) func aStoreThatIsMadeBetweenTwoLooksIsNotDamaged(_ call: Int) throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.asking).save("made", forKey: "key")
    let made = desktop.service.items.filter { $0.attributes["record"] != nil }
    for item in made { desktop.service.removeItem(item.path) }
    let calls = Lock(0)
    desktop.service.manners.beforeEachCall = { [service = desktop.service] method in
      guard method.hasSuffix("SearchItems"),
        calls.withLock({
          $0 += 1
          return $0 == call
        })
      else {
        return
      }
      for item in made {
        service.addItem(
          label: item.label, attributes: item.attributes, secret: item.secret,
          contentType: item.contentType)
      }
    }
    let late = desktop.storage(.asking, freshClient: true)
    #expect([nil, "made"].contains(try late.load(String.self, forKey: "key")))
    try late.save("late", forKey: "other")
    let keys = Set(try late.keys())
    #expect(keys == ["other"] || keys == ["key", "other"], "\(keys)")
  }

  /// As another process replaces it, at a service whose items move then.
  @Test(arguments: 1...10) func aHeaderThatMovesBetweenTwoLooksIsNotDamaged(_ call: Int) throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.asking)
    try storage.save("kept", forKey: "key")
    let header = try #require(desktop.service.items.first { $0.attributes["record"] == "header" })
    let calls = Lock(0)
    desktop.service.manners.beforeEachCall = { [service = desktop.service] _ in
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard number == call else { return }
      service.removeItem(header.path)
      service.addItem(
        label: header.label, attributes: header.attributes, secret: header.secret,
        contentType: header.contentType)
    }
    #expect(try storage.keys() == ["key"])
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  @Test func aProcessThatIsKilledLosesNothingThatItWasToldIsKept() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    var last = 0
    for _ in 0..<5 {
      let child = try child(desktop, "save-on", service, "key")
      child.waitUntilItSpeaks(lines: 10)
      child.kill()
      let told = try child.lines().compactMap { Int($0) }.last ?? 0
      let kept = try #require(
        try desktop.storage(service: service).load(Int.self, forKey: "key"))
      // The write that it was killed in may have been made.
      #expect(kept == told || kept == told + 1)
      last = kept
    }
    #expect(last >= 10)
  }

  /// libsecret redirects its simple calls to a file then; this library's go to the service.
  @Test func theFileBackendOfLibsecretIsNotFollowed() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    try desktop.storage(service: service).save("in the service", forKey: "key")
    let environment: [String: String?] = ["SECRET_BACKEND": "file"]
    let load = try child(desktop, "load", service, "key", environment: environment)
    #expect(try load.lines() == ["in the service"])
    let save = try child(desktop, "save", service, "key", "still there", environment: environment)
    #expect(try save.lines() == ["saved"])
    #expect(try desktop.storage(service: service).load(String.self, forKey: "key") == "still there")
  }

  /// What fails when a test would reach the bus of whoever runs it.
  @Test func theTestsHaveNoSessionBusOfTheirOwn() throws {
    // Before anything is called that would reach it.
    try #require(code { _ = try BusAddress.ofSession() } == .noBus)
    let storage = KeychainStorage(service: "x")
    #expect(code { _ = try storage.load(String.self, forKey: "y") } == .noBus)
    #expect(code { try storage.save("new", forKey: "y") } == .noBus)
  }
}

@Suite struct CancellationTests {
  @Test func aCallThatIsCancelledEndsAtOnceAndSaysSo() async throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(600)))
    try storage.save("kept", forKey: "key")
    desktop.service.manners.faults["GetSecrets"] = .hangs
    let property = Keychain<String>(storage, "key")
    let task = Task { try await property.projectedValue.loadAsync() }
    try await until { desktop.service.callCount("GetSecrets") > 0 }
    task.cancel()
    let result = await task.result
    #expect(throws: StorageError.self) { try result.get() }
    if case .failure(let error as StorageError) = result { #expect(error.code == .cancelled) }
    desktop.service.manners.faults = [:]
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  /// Before the write itself, and in it, where it may have been made.
  @Test(arguments: [
    ("GetSecrets", false, StorageError.Code.cancelled), ("CreateItem", false, .outcomeUnknown),
    ("CreateItem", true, .outcomeUnknown),
  ])
  func aWriteThatIsCancelledSaysWhetherItMayHaveBeenMade(
    _ method: String, _ isMade: Bool, _ expected: StorageError.Code
  ) async throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(600)))
    try storage.save("kept", forKey: "key")
    let before = desktop.service.items
    desktop.service.forgetCalls()
    desktop.service.manners.faults[method] = isMade ? .carriesOutAndHangs : .hangs
    let task = Task { try await storage.saveAsync("new", forKey: "key") }
    try await until { desktop.service.callCount(method) > 0 }
    task.cancel()
    let result = await task.result
    #expect(code { try result.get() } == expected)
    desktop.service.manners.faults = [:]
    #expect((desktop.service.items == before) == !isMade)
    #expect(try storage.load(String.self, forKey: "key") == (isMade ? "new" : "kept"))
  }

  @Test(arguments: [false, true])
  func aPromptOfACallThatIsCancelledIsTakenAway(isUnanswered: Bool) async throws {
    let desktop = try FakeDesktop(
      .init().with {
        $0.prompts = [.unlock]
        $0.promptAnswer = .waiting
        // The service shows it, and the answer to that is still on its way.
        if isUnanswered { $0.faults["Prompt.Prompt"] = .carriesOutAndHangs }
      })
    let storage = desktop.storage(
      KeyringAccess(deadline: .seconds(600), promptDeadline: .seconds(600), prompts: .always))
    try storage.save("kept", forKey: "key")
    desktop.service.lock()
    let property = Keychain<String>(storage, "key")
    let task = Task { try await property.projectedValue.loadAsync() }
    try await until { desktop.service.callCount("Prompt.Prompt") > 0 }
    task.cancel()
    let result = await task.result
    if case .failure(let error as StorageError) = result {
      #expect(error.code == .cancelled)
    } else {
      Issue.record("it was not cancelled")
    }
    #expect(desktop.service.callCount("Prompt.Dismiss") == 1)
  }

  /// Waits for the service to be called, of which nothing tells.
  private func until(_ isSo: () -> Bool) async throws {
    while !isSo() { try await Task.sleep(for: .milliseconds(5)) }
  }
}
