internal import CryptoCore

/// What an error advises to use, named as its reader knows it.
///
/// A programmer knows the names of this library. Whoever runs a program knows the program's own
/// options and commands, so securestore puts these in their place, at its start.
package enum Remedy: CaseIterable, Sendable, CustomStringConvertible {
  /// Trusts a group of the process.
  case trustGroup
  /// Finishes an interrupted rotation.
  case finishRotation
  /// Gives a store another key source.
  case addSource
  /// Keeps values that are too large for a record.
  case keepLargeValue

  private static let own = Lock<[Remedy: String]>([:])

  /// Sets the names in this process.
  package static func name(_ names: [Remedy: String]) {
    own.withLock { $0 = names }
  }

  package var description: String { Self.own.withLock { $0[self] } ?? call }

  /// The name in this library.
  private var call: String {
    switch self {
    case .trustGroup: "FolderTrust.processGroup"
    case .finishRotation: "keyAdministration.reencrypt()"
    case .addSource: "keyAdministration.add(_:)"
    case .keepLargeValue: "@SealedFile or SealedFolder"
    }
  }
}
