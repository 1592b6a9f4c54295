internal import CryptoCore
internal import Foundation
package import RemoteBackend
package import StorageCore
package import TestSupport

/// An engine that tests have started, whatever engine it is.
package protocol FleetEngine: Sendable {
  /// A store of this name; another deadline is another program.
  ///
  /// - Parameters:
  ///   - name: the name of the store.
  ///   - keySource: where its key comes from.
  ///   - deadline: how long a call may take.
  ///   - reading: how new the values are.
  ///   - copy: where this machine keeps a copy of the store.
  ///   - port: where the program connects to; nil for the engine itself.
  /// - Returns: the store.
  func store(
    _ name: String, keySource: KeySource, deadline: Duration, reading: RemoteReading,
    copy: DelegatedStorage?, port: Int?
  ) -> RemoteStorage
  /// Starts a program of its own over a store; see ``FleetProgram``.
  func start(_ name: String, _ command: [String]) throws -> Child
  /// The ports of the engine's servers.
  var ports: [Int] { get }
  /// Whether the engine has anything of a store.
  func holds(_ name: String) throws -> Bool
  /// What an administrator is told to do to remove a store, and doing it.
  func removal(of name: String) -> String
  func remove(_ name: String) throws
  /// Keeps all that the engine holds, as its administrator does, and goes back to that.
  func backUp() throws -> String
  func goBack(to backup: String) throws
}

extension FleetEngine {
  /// A store with the usual settings.
  package func store(
    _ name: String, _ deadline: Int64 = 60, keySource: KeySource? = nil,
    reading: RemoteReading = .cached, copy: DelegatedStorage? = nil, port: Int? = nil
  ) -> RemoteStorage {
    let usual = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))
    return store(
      name, keySource: keySource ?? usual, deadline: .seconds(deadline), reading: reading,
      copy: copy, port: port)
  }
}
