internal import CryptoCore
package import StorageCore

/// The one store of a program that a family of wrappers uses: `@Etcd` and the like.
package final class ProgramStore<Configuration: Sendable>: Sendable {
  private let chosen = Lock<(Configuration, KeySource)?>(nil)
  private let type: String

  /// The store of a storage type with this name.
  package init(of type: String) { self.type = type }

  /// Sets the store, once; a second call ends the process.
  package func choose(_ configuration: Configuration, _ keySource: KeySource) {
    let isFirst = chosen.withLock { chosen in
      guard chosen == nil else { return false }
      chosen = (configuration, keySource)
      return true
    }
    // Not a precondition, because a release build omits its text.
    if !isFirst {
      fatalError("\(type).bootstrap was called twice. Call it once, at the start of main")
    }
  }

  /// What was set.
  ///
  /// - Throws: `unavailable` before that.
  package func configuration() throws(StorageError) -> Configuration {
    if let configuration = chosen.withLock({ $0?.0 }) { return configuration }
    throw StorageError(
      .unavailable,
      "the program has not said where its store is; call \(type).bootstrap at the start of main")
  }

  /// Gives the key of the store that was set.
  package var keySource: KeySource {
    KeySource(current: { self.chosen.withLock { $0?.1 } ?? KeySource([]) })
  }
}
