import Foundation
import Metrics

/// Measures the processor time of checking tokens, for `/metrics`.
struct MeasuredTokens: Tokens {
  let tokens: any Tokens
  private let time = Counter(label: "token_store_cpu_nanoseconds")
  private let checks = Counter(label: "token_checks")

  init(_ tokens: any Tokens) { self.tokens = tokens }

  func holder(of token: String) throws -> String? {
    let start = Self.threadTime
    defer {
      time.increment(by: Self.threadTime - start)
      checks.increment()
    }
    return try tokens.holder(of: token)
  }

  func issue(to name: String) async throws -> String { try await tokens.issue(to: name) }
  func withdraw(_ id: String) async throws -> Bool { try await tokens.withdraw(id) }
  func count() async throws -> Int { try await tokens.count() }

  private static var threadTime: Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }
  /// The processor time of the whole program.
  static var processTime: Int64 { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
