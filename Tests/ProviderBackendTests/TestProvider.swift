import CryptoCore
import Dispatch
import Foundation
import ProviderBackend
import StorageCore

/// A provider in memory that does what a test tells it.
final class TestProvider: ObservableKeychainProvider {
  private struct State {
    var all: [String: Data] = [:]
    var refuses: @Sendable (String) -> Bool = { _ in false }
    var calls = 0
    /// How many calls are in it at the moment, and were at most.
    var inside = 0
    var insideAtMost = 0
    var observers: [@Sendable (String?) -> Void] = []
    var hook: (@Sendable () -> Void)?
  }
  private let state = Lock(State())
  let tells: Bool

  init(tells: Bool = false) { self.tells = tells }

  var contents: [String: Data] { state.withLock { $0.all } }
  var calls: Int { state.withLock { $0.calls } }
  var insideAtMost: Int { state.withLock { $0.insideAtMost } }

  /// Has each call that changes something return false.
  func refuse(_ refuses: Bool = true) { refuse { _ in refuses } }

  /// Has each call for such a key that changes something return false.
  func refuse(_ refuses: @escaping @Sendable (String) -> Bool) {
    state.withLock { $0.refuses = refuses }
  }

  /// Runs `hook` in the next call.
  func inNextCall(_ hook: @escaping @Sendable () -> Void) { state.withLock { $0.hook = hook } }

  /// Changes data behind the storage's back.
  func replace(_ key: String, with data: Data?) {
    let observers = state.withLock { state in
      state.all[key] = data
      return state.observers
    }
    for observer in observers { observer(key) }
  }

  private func call<Result>(_ body: (inout State) -> Result) -> Result {
    let hook = state.withLock { state in
      state.calls += 1
      state.inside += 1
      state.insideAtMost = max(state.insideAtMost, state.inside)
      defer { state.hook = nil }
      return state.hook
    }
    hook?()
    return state.withLock { state in
      state.inside -= 1
      return body(&state)
    }
  }

  func setData(_ data: Data, forKey key: String) -> Bool {
    call { state in
      guard !state.refuses(key) else { return false }
      state.all[key] = data
      return true
    }
  }

  func deleteData(forKey key: String) -> Bool {
    call { state in !state.refuses(key) && state.all.removeValue(forKey: key) != nil }
  }

  func getData(forKey key: String) -> Data? { call { $0.all[key] } }

  func observe(_ onChange: @escaping @Sendable (String?) -> Void) -> ChangeObservation {
    if tells { state.withLock { $0.observers.append(onChange) } }
    return ChangeObservation {}
  }
}

/// One that tells of nothing.
struct SilentProvider: KeychainProvider {
  let base: TestProvider

  func setData(_ data: Data, forKey key: String) -> Bool { base.setData(data, forKey: key) }
  func deleteData(forKey key: String) -> Bool { base.deleteData(forKey: key) }
  func getData(forKey key: String) -> Data? { base.getData(forKey: key) }
}

/// One whose `observe` does not return before it is told to, or a minute has passed.
struct HangingProvider: ObservableKeychainProvider {
  let base: TestProvider
  let go = DispatchSemaphore(value: 0)

  func setData(_ data: Data, forKey key: String) -> Bool { base.setData(data, forKey: key) }
  func deleteData(forKey key: String) -> Bool { base.deleteData(forKey: key) }
  func getData(forKey key: String) -> Data? { base.getData(forKey: key) }

  func observe(_ onChange: @escaping @Sendable (String?) -> Void) -> ChangeObservation {
    _ = go.wait(timeout: .now() + 60)
    return base.observe(onChange)
  }
}
