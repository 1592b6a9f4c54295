import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

/// A source that takes its time, as the desktop's keyring may.
private struct SlowSource: KeyProvider {
  let identifier = "slow"
  let barrier: Barrier?

  func material() throws(StorageError) -> KeyMaterial? {
    barrier?.wait()
    return .key(TemporaryVault.key)
  }
}

@Suite struct BlockingCallsTests {
  private static func storage(_ url: URL, _ barrier: Barrier?) -> VaultStorage {
    VaultStorage(at: url, keySource: .provider(SlowSource(barrier: barrier)))
  }

  private struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (URL, Barrier) async throws -> Void

    init(_ name: String, _ make: @escaping @Sendable (URL, Barrier) async throws -> Void) {
      testDescription = name
      self.make = make
    }
  }

  private static let calls = [
    Call("verify") { url, barrier in
      _ = try await storage(url, barrier).async { try $0.verify() }
    },
    Call("restore") { url, barrier in
      let new = storage(url.appendingPathExtension("new"), barrier)
      _ = try await new.async { try $0.restore(from: url) }
    },
    Call("rotate") { url, barrier in
      _ = try await storage(url, barrier).async { try $0.keyAdministration.rotate() }
    },
    Call("backup") { url, barrier in
      try await storage(url, nil).async {
        try $0.backup(to: url.appendingPathExtension("copy")) { _, _ in barrier.wait() }
      }
    },
  ]

  /// More calls wait than Swift concurrency has threads, and others go on.
  @Test(arguments: calls)
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
}
