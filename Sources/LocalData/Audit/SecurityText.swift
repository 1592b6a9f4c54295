internal import StorageCore

/// A declared policy in a form that can be stored, without salts.
struct SecurityText: Codable, Hashable, Sendable {
  private enum Kind: String, Codable { case none, keychain, encrypted }
  private enum Algorithm: String, Codable {
    case aes256GCM = "AES-256-GCM"
    case chaCha20Poly1305 = "ChaCha20-Poly1305"
  }
  private enum Function: String, Codable {
    case hkdf = "HKDF-SHA-256"
    case pbkdf2 = "PBKDF2-SHA-256"
  }
  private var kind: Kind
  private var accessibility: String?
  private var accessControl: String?
  private var algorithm: Algorithm?
  private var derivation: Function?
  private var iterations: Int?
  /// The id of the source of an external key.
  private var source: String?

  init(_ policy: SecurityPolicy) {
    switch policy {
    case .none: kind = .none
    case .keychain(let declared, let control):
      (kind, accessibility, accessControl) = (.keychain, declared.rawValue, control?.rawValue)
    case .encrypted(let policy):
      kind = .encrypted
      let declared: SecurityPolicy.KeyDerivation
      switch policy {
      case .aes256(let derivation): (algorithm, declared) = (.aes256GCM, derivation)
      case .chacha20Poly1305(let derivation):
        (algorithm, declared) = (.chaCha20Poly1305, derivation)
      case .external(let from, let derivation):
        (algorithm, declared, source) = (.chaCha20Poly1305, derivation, from.id)
      }
      switch declared {
      case .hkdf: derivation = .hkdf
      case .pbkdf2(let count, _): (derivation, iterations) = (.pbkdf2, count)
      }
    }
  }

  /// The policy.
  ///
  /// - Throws: `invalid` if the text is not a policy.
  func policy() throws(StorageError) -> SecurityPolicy {
    switch kind {
    case .none: return .none
    case .keychain:
      guard let declared = accessibility.flatMap({ KeychainAccessibility(rawValue: $0) }) else {
        throw Self.invalid
      }
      guard let accessControl else { return .keychain(accessibility: declared) }
      guard let control = KeychainAccessControl(rawValue: accessControl) else {
        throw Self.invalid
      }
      return .keychain(accessibility: declared, accessControl: control)
    case .encrypted:
      guard let algorithm, let function = derivation else { throw Self.invalid }
      let declared: SecurityPolicy.KeyDerivation =
        function == .hkdf ? .hkdf() : .pbkdf2(iterations: iterations)
      if let source {
        return .encrypted(
          .external(source: KeyMaterialSource(id: source), keyDerivation: declared))
      }
      return .encrypted(
        algorithm == .aes256GCM
          ? .aes256(keyDerivation: declared) : .chacha20Poly1305(keyDerivation: declared))
    }
  }

  private static let invalid = StorageError(.invalid, "the catalog has an invalid policy")
}

/// The machines on which a key may be used, in a form that can be stored.
struct AvailabilityText: Codable, Hashable, Sendable {
  private enum Kind: String, Codable {
    case all, phoneOnly, watchOnly, phoneWithWatchSync, machines
  }
  private var kind: Kind
  private var tags: [String]?

  init(_ availability: PlatformAvailability) {
    switch availability {
    case .all: kind = .all
    case .phoneOnly: kind = .phoneOnly
    case .watchOnly: kind = .watchOnly
    case .phoneWithWatchSync: kind = .phoneWithWatchSync
    case .machines(let allowed): (kind, tags) = (.machines, allowed.sorted())
    }
  }

  var availability: PlatformAvailability {
    switch kind {
    case .all: .all
    case .phoneOnly: .phoneOnly
    case .watchOnly: .watchOnly
    case .phoneWithWatchSync: .phoneWithWatchSync
    case .machines: .machines(Set(tags ?? []))
    }
  }
}
