/// Which place a value is at: recorded, so that a value is found again when the configuration changed.
package struct PlaceAddress: Hashable, Sendable, Codable {
  package enum Kind: String, Sendable, Codable {
    /// A sealed suite of the user's configuration folder; the container is its name.
    case sealedSuite
    /// A readable property list; the container is its path.
    case plainSuite
    /// The vault of the application; the container is the service.
    case vault
    /// The desktop's keyring; the container is the service.
    case keyring
    /// The same under a key of this machine.
    case deviceKeyring
    /// A readable file; the container is the path of its folder.
    case file
    /// A value of a sealed folder; the container is the path of that.
    case sealedFolder
  }
  package let kind: Kind
  package let container: String
  /// The name of the key.
  package let name: String
  /// The folder of the group that it is in, where an administrator made that.
  package var groupRoot: String?
  /// Whether it is in a cache.
  package var isPurgeable = false
}

extension PlaceAddress: CustomStringConvertible {
  /// The kind and the container.
  package var description: String {
    switch kind {
    case .sealedSuite: "the sealed suite \(container)"
    case .plainSuite: "the plain suite \(container)"
    case .vault: "the vault, service \(container)"
    case .keyring, .deviceKeyring: "the keyring, service \(container)"
    case .file: "the folder \(container)"
    case .sealedFolder: "the sealed folder \(container)"
    }
  }
}
