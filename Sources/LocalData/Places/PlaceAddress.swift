/// The place of a value.
///
/// The ledger records it, so that the value is found after a change of configuration.
package struct PlaceAddress: Hashable, Sendable, Codable {
  package enum Kind: String, Sendable, Codable {
    /// A sealed suite in the user's configuration folder; the container is its name.
    case sealedSuite
    /// A readable property list; the container is its path.
    case plainSuite
    /// The vault of the application; the container is the service.
    case vault
    /// The desktop's keyring; the container is the service.
    case keyring
    /// The desktop's keyring, bound to this machine by a key of the machine.
    case deviceKeyring
    /// A readable file; the container is the path of its folder.
    case file
    /// A value in a sealed folder; the container is the folder's path.
    case sealedFolder
  }
  package let kind: Kind
  package var container: String
  /// The name of the key.
  package let name: String
  /// The folder of the value's group, if the configuration names it.
  package var groupRoot: String?
  /// Whether the value is in a cache.
  package var isPurgeable = false
}

extension PlaceAddress {
  /// What tells two addresses apart: their bytes.
  private var parts: [ExactString] {
    [container, name, groupRoot ?? "", groupRoot == nil ? "" : "group"].map(ExactString.init)
  }

  package static func == (left: PlaceAddress, right: PlaceAddress) -> Bool {
    left.kind == right.kind && left.isPurgeable == right.isPurgeable && left.parts == right.parts
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(parts)
  }
}

extension PlaceAddress.Kind {
  /// Whether the place seals its contents.
  var isSealing: Bool { self != .file && self != .plainSuite }
}

extension PlaceAddress {
  /// The address of a key in the same place.
  func named(_ name: String) -> PlaceAddress {
    PlaceAddress(
      kind: kind, container: container, name: name, groupRoot: groupRoot, isPurgeable: isPurgeable)
  }

  /// The store, which several keys share.
  var storeDescription: String { kind == .vault ? "the vault of the keychain" : description }

  /// Names the place in a list; unlike the address, it depends only on where the value is.
  var label: String { "\(kind.rawValue)\u{1F}\(container)\u{1F}\(name)" }
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
