import Foundation
import Glibc
import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// How late a call ends: within its deadline and 100 ms, in every row of docs/keyring-failures.md.
///
/// Run alone, by `make soak`: what runs beside it would be measured as well.
@Suite(.enabled(if: Soak.isAlone), .serialized) struct FailureTimesSoak {
  private static let deadline = Duration.milliseconds(500)
  private static let grace = Duration.milliseconds(100)
  private static let rounds = 10

  private static let hasty = KeyringAccess(
    deadline: deadline, promptDeadline: deadline, prompts: .always)

  /// A prompt has a time of its own, which is as long.
  private func access(_ row: FailureRow) -> KeyringAccess {
    var access = Self.hasty
    access.prompts = row.prompts
    return access
  }

  private func say(
    _ name: String, _ longest: Duration, deadline: Duration = FailureTimesSoak.deadline
  ) {
    #expect(longest <= deadline + Self.grace, "\(name)")
    print("\(name): \(longest / .milliseconds(1)) ms at most, with a deadline of \(deadline)")
  }

  @Test(arguments: FailureRow.all) func aFailureIsNotLate(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    try desktop.storage(.asking).save("kept", forKey: "key")
    let storage = row.storage(desktop, access(row))
    if row.client == nil, row.group == nil, !row.isFresh { try storage.save("kept", forKey: "key") }
    defer { desktop.bus.resume() }
    var longest = Duration.zero
    for number in 0..<Self.rounds {
      try row.goWrong(desktop)
      let isRead = number.isMultiple(of: 2)
      var found: StorageError.Code?
      let taken = ContinuousClock().measure {
        found = code {
          if isRead {
            _ = try storage.load(String.self, forKey: "key")
          } else {
            try row.change(storage)
          }
        }
      }
      #expect(found == (isRead ? row.read : row.write))
      longest = max(longest, taken)
    }
    say(row.testDescription, longest)
  }

  @Test(arguments: ["GetSecrets", "CreateItem"])
  func aTaskThatIsCancelledEnds(_ method: String) async throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(600)))
    try storage.save("kept", forKey: "key")
    desktop.service.manners.faults[method] = .hangs
    var longest = Duration.zero
    for number in 0..<Self.rounds {
      desktop.service.forgetCalls()
      let isRead = number.isMultiple(of: 2) && method == "GetSecrets"
      let task = Task {
        if isRead {
          _ = try await storage.loadAsync(String.self, forKey: "key")
        } else {
          try await storage.saveAsync("new", forKey: "key")
        }
      }
      while desktop.service.callCount(method) == 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      let start = ContinuousClock.now
      task.cancel()
      let result = await task.result
      longest = max(longest, .now - start)
      #expect(
        code { try result.get() } == (method == "GetSecrets" ? .cancelled : .outcomeUnknown))
    }
    // From then on, whatever the deadline is.
    #expect(longest <= Self.grace)
    say("the task is cancelled in \(method)", longest)
  }

  @Test(arguments: [false, true]) func aForkedChildIsTold(_ isWrite: Bool) throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(Self.hasty)
    try storage.save("kept", forKey: "key")
    ForkedChild.prepare()
    let taken = ContinuousClock().measure {
      let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
        let error = code {
          if isWrite {
            try storage.save("new", forKey: "key")
          } else {
            _ = try storage.load(String.self, forKey: "key")
          }
        }
        return error == .unsupported ? 0 : 1
      }
      #expect(outcome == .exited(0))
    }
    say("the process was forked", taken)
  }

  @Test func eightThreadsAreServed() throws {
    let desktop = try Desktop()
    // They take turns, and one whose turn does not come is `busy`.
    let access = KeyringAccess(prompts: .never)
    let storage = desktop.storage(access: access)
    try storage.save(0, forKey: "0")
    let longest = Lock(Duration.zero)
    let failures = Lock<[String]>([])
    Threads.run(8) { thread in
      for number in 0..<500 {
        for isRead in [false, true] {
          let start = ContinuousClock.now
          let failure = code {
            if isRead {
              _ = try storage.load(Int.self, forKey: "\(thread)")
            } else {
              try storage.save(number, forKey: "\(thread)")
            }
          }
          let taken = ContinuousClock.now - start
          longest.withLock { $0 = max($0, taken) }
          if let failure { failures.withLock { $0.append("\(failure)") } }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
    say(
      "eight threads make 1,000 calls each", longest.withLock { $0 }, deadline: access.deadline)
  }

  /// In a process of its own, since libsecret asks the environment once.
  @Test func theFileBackendMakesNothingLate() async throws {
    let desktop = try FakeDesktop()
    await #expect(processExitsWith: .success) { [address = desktop.bus.address as String] in
      unsafe setenv("SECRET_BACKEND", "file", 1)
      var access = FailureTimesSoak.hasty
      access.bus = address
      // The service of the tests encrypts nothing.
      access.allowsPlainKeys = true
      let storage = KeychainStorage(service: "com.example.soak", access: access)
      try storage.save("kept", forKey: "key")
      for number in 0..<FailureTimesSoak.rounds {
        let taken = try ContinuousClock().measure {
          try storage.save("\(number)", forKey: "key")
          guard try storage.load(String.self, forKey: "key") == "\(number)" else { exit(1) }
        }
        if taken > FailureTimesSoak.deadline + FailureTimesSoak.grace { exit(2) }
      }
    }
    #expect(desktop.service.items.count == 3)
  }
}
