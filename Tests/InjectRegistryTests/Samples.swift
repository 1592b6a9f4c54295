import Foundation
import InjectRegistry
import Synchronization
import Testing

protocol API: Sendable { var name: String { get } }
protocol Animal: Sendable { var sound: String { get } }
protocol Dog {}
protocol Cat {}
protocol Small {}

final class Client: API {
  let name: String
  init(_ name: String = "live") { self.name = name }
}

final class MockClient: API, Mock {
  let name = "mock"
}

final class Terrier: Animal, Dog, Small {
  let sound = "woof"
}

struct Tabby: Animal, Cat, Small {
  let sound = "meow"
}

actor Mastiff: Animal, Dog {
  nonisolated let sound = "WOOF"
}

/// Counts, from any thread.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  @discardableResult func add() -> Int { count.add(1, ordering: .relaxed).newValue }
  var value: Int { count.load(ordering: .relaxed) }
}

/// A value that threads set and read.
final class Shared<Value: Sendable>: @unchecked Sendable {
  // Guarded by `lock`.
  private var value: Value
  private let lock = NSLock()
  init(_ value: Value) { self.value = value }
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
  var current: Value { withLock { $0 } }
}

struct Refused: Error, CustomStringConvertible {
  let description: String
  init(_ description: String = "refused") { self.description = description }
}

/// A storage that is emptied with its owner: builders that capture it keep it otherwise.
final class OwnStorage: Sendable {
  let storage = InjectStorage()

  deinit {
    storage.removeAll()
    storage.errorClosure = nil
  }
}

/// Gives each test overrides of its own, so that tests don't see what others register.
struct OwnRegistry: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await InjectStorage.withOverrides { try await function() }
  }
}

extension Trait where Self == OwnRegistry {
  static var ownRegistry: Self { OwnRegistry() }
}
