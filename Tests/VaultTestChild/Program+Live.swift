import CryptoCore
import Dispatch
import Foundation
import Observation
import StorageCore
import TestSupport
import VaultBackend

/// Live properties of a process of its own.
extension Program {
  /// A live number, and what an observer of it read last.
  private final class Follower: Sendable {
    let live: Live<Int, VaultStorage>
    let shown = Lock(0)

    init(_ live: Live<Int, VaultStorage>) {
      self.live = live
      follow()
    }

    private func follow() {
      withObservationTracking {
        let value = live.wrappedValue
        shown.withLock { $0 = value }
      } onChange: { [self] in
        // Not here, where it is the old one yet.
        DispatchQueue.global().async { self.follow() }
      }
    }
  }

  private static let followers = Lock<[String: Follower]>([:])

  private func follower(_ key: String) -> Follower {
    if let known = Self.followers.withLock({ $0[key] }) { return known }
    let new = Follower(Live(wrappedValue: 0, storage, key))
    Self.followers.withLock { $0[key] = new }
    return new
  }

  /// What is done with live properties, or nil for a command that is another's.
  func live(_ command: String, _ rest: [String]) throws -> String? {
    switch command {
    case "live":  // KEY: its number
      return "\(follower(rest[0]).live.wrappedValue)"
    case "live-shown":  // KEY: what an observer has read of it, after it was told
      return "\(follower(rest[0]).shown.withLock { $0 })"
    case "live-threads":  // COUNT: how many the process has when it has read so many properties
      for index in 0..<Int(rest[0])! { _ = follower("key \(index)") }
      return "\(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)"
    case "assign-at-random":  // KEY FILE WRITER WRITERS MILLISECONDS
      let live = follower(rest[0]).live
      let assignments = try RandomAssignments(rest[1], writers: Int(rest[3])!)
      let complaint = try assignments.run(
        Int(rest[2])!, for: .milliseconds(Int(rest[4])!),
        assign: { try live.projectedValue.save($0) }, read: { live.wrappedValue })
      return complaint ?? "fine"
    default: return nil
    }
  }
}
