import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

/// Where threads wait until it is opened.
private final class Barrier: Sendable {
  // NSCondition's own lock guards what is in the box.
  private let condition = NSCondition()
  private let state = Lock((arrived: 0, isOpen: false))

  var arrived: Int { state.withLock { $0.arrived } }

  func wait() {
    condition.lock()
    defer { condition.unlock() }
    state.withLock { $0.arrived += 1 }
    while !state.withLock({ $0.isOpen }) { condition.wait() }
  }

  func open() {
    condition.lock()
    defer { condition.unlock() }
    state.withLock { $0.isOpen = true }
    condition.broadcast()
  }
}

/// A source that takes its time, as the desktop's keyring may.
private struct SlowSource: KeyProvider {
  let identifier = "slow"
  let barrier: Barrier?

  func material() throws(StorageError) -> KeyMaterial? {
    barrier?.wait()
    return .key(TemporaryVault.key)
  }
}

@Suite struct AsyncFormTests {
  private static func storage(_ url: URL, _ barrier: Barrier?) -> VaultStorage {
    VaultStorage(at: url, keySource: .provider(SlowSource(barrier: barrier)))
  }

  private static let damage = VaultReport(
    generation: 0, recordCount: 1, otherTagCount: 0, oldKeyCount: 0,
    findings: [.init(kind: .damagedFile, count: 0, keys: [], message: "")])

  private struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (URL, Barrier) async throws -> Void

    init(_ name: String, _ make: @escaping @Sendable (URL, Barrier) async throws -> Void) {
      testDescription = name
      self.make = make
    }
  }

  private static let calls = [
    Call("verifyAsync") { _ = try await storage($0, $1).verifyAsync() },
    // The vault is well, so what is accepted is not what is there.
    Call("repairAsync") { url, barrier in
      await #expect(throws: StorageError.self) {
        try await storage(url, barrier).repairAsync(accepting: damage)
      }
    },
    Call("previewRepairAsync") { url, barrier in
      await #expect(throws: StorageError.self) {
        try await storage(url, barrier).previewRepairAsync(accepting: damage)
      }
    },
    Call("restoreAsync") {
      try await storage($0.appendingPathExtension("new"), $1).restoreAsync(from: $0)
    },
    Call("compactAsync") { try await storage($0, $1).compactAsync() },
    Call("rotateAsync") { _ = try await storage($0, $1).rotateAsync() },
    Call("exportRecoveryAsync") { _ = try await storage($0, $1).exportRecoveryAsync() },
    Call("backupAsync") { url, barrier in
      try await storage(url, nil).backupAsync(to: url.appendingPathExtension("copy")) { _, _ in
        barrier.wait()
      }
    },
  ]

  /// More calls wait than Swift concurrency has threads, and others go on.
  @Test(.timeLimit(.minutes(30)), arguments: calls)
  private func aCallThatWaitsHoldsNoThreadOfSwiftConcurrency(_ call: Call) async throws {
    let vault = TemporaryVault()
    let count = min(4 * ProcessInfo.processInfo.activeProcessorCount, 128)
    let urls = (0..<count).map { vault.file("\($0).vault") }
    for url in urls { try Self.storage(url, nil).save("value", forKey: "key") }
    let barrier = Barrier()
    try await withThrowingTaskGroup { group in
      for url in urls { group.addTask { try await call.make(url, barrier) } }
      while barrier.arrived < count { try await Task.sleep(for: .milliseconds(1)) }
      await withTaskGroup { others in
        for _ in 0..<count { others.addTask { await Task.yield() } }
      }
      barrier.open()
      try await group.waitForAll()
    }
  }

  @Test func theAsyncFormsDoTheSame() async throws {
    let vault = TemporaryVault()
    let storage = vault.storage()
    try await storage.saveAsync("value", forKey: "key")
    try await storage.saveAsync("other", forKey: "other key")
    let copy = vault.file("copy.vault")
    let told = Lock(0)
    try await storage.backupAsync(to: copy) { _, total in told.withLock { $0 = total } }
    #expect(told.withLock { $0 } > 0)
    await #expect(throws: StorageError.self) { try await storage.backupAsync(to: copy) }
    try await storage.backupAsync(to: copy, replacing: true)

    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT max(sequence) FROM record)")
    let report = try await vault.storage().verifyAsync(expecting: ["other key"])
    #expect(!report.isSound)
    #expect(report.findings.flatMap(\.keys) == ["other key"])
    let preview = try await vault.storage().previewRepairAsync(accepting: report)
    #expect(preview.valueCount == 1 && preview.expectedCount == 2)
    let repair = try await vault.storage().repairAsync(accepting: report, droppingUnreadable: true)
    #expect(repair == preview)
    #expect(try await vault.storage().verifyAsync().isSound)
    #expect(try await vault.storage().restoreAsync(from: copy).recordCount == 2)
    #expect(try vault.storage().load(String.self, forKey: "other key") == "other")

    #expect(try await vault.storage().rotateAsync(names: true).remaining == 0)
    try await vault.storage().compactAsync()
    let recovery = try await vault.storage().exportRecoveryAsync()
    #expect(try vault.storage(.recovery(recovery)).load(String.self, forKey: "key") == "value")
  }

  @Test func theReplacementOfARootKeyTellsHowFarItIs() async throws {
    let vault = TemporaryVault()
    let storage = vault.storage()
    for number in 0..<10 { try storage.save(number, forKey: "\(number)") }
    let told = Lock<[Int]>([])
    _ = try storage.keyAdministration.replaceRootKey(openedBy: TemporaryVault.source(8)) {
      done, _ in
      told.withLock { $0.append(done) }
    }
    #expect(told.withLock { $0.last } == 10)
    told.withLock { $0 = [] }
    _ = try await storage.keyAdministration.replaceRootKeyAsync(openedBy: TemporaryVault.source(9))
    {
      done, _ in told.withLock { $0.append(done) }
    }
    #expect(told.withLock { $0.last } == 10)
  }
}
