internal import StorageCore

/// A difference between declaration and storage, or another problem; contains no value.
public struct StorageAuditFinding: Hashable, Sendable, Codable {
  /// The kinds of findings.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Two keys of a catalog have the same name in the same domain.
    case duplicate
    /// A key does not say what its data is.
    case undescribed
    /// A key declares a protection that its domain, or this machine, can't keep.
    case impossible
    /// A value is stored, and no key declares it.
    case stray
    /// The value was altered, truncated or moved, or is not what the key's serializer writes.
    case damaged
    /// The value is readable to anyone who can read the file, but the key declares that it is
    /// sealed.
    case plaintext
    /// The value is protected in another way than the key declares.
    case otherPolicy
    /// The value is at another place than the key and the configuration say.
    case otherPlace
    /// The value was serialized in another way than the key declares.
    case otherSerializer
    /// The value is sealed under another key than the present one.
    case wrongKey
    /// The value is sealed under a key from before the last rotation.
    case oldKey
    /// The value can't be read: the store does not open, or the key material is not available.
    case unreadable
    /// More users can read or change the file than should.
    case rights
  }

  /// The kind of problem.
  public let kind: Kind
  /// The domain of the key; nil if the finding is not about a key.
  public let domain: String?
  /// The name of the key, of the entry or of the file; nil for a whole store.
  public let name: String?
  /// The place: a store or a path; empty for a declaration.
  public let place: String
  /// What was found, in one sentence, without a value.
  public let message: String

  init(
    _ kind: Kind, domain: StorageDomain? = nil, name: String? = nil, place: String = "",
    _ message: String
  ) {
    self.kind = kind
    self.domain = domain?.description
    self.name = name
    self.place = place
    self.message = message
  }
}

extension StorageAuditFinding.Kind {
  /// The kind of something that can't be read.
  static func of(_ error: StorageError) -> Self {
    switch error.code {
    case .damaged, .typeMismatch: .damaged
    case .wrongKey: .wrongKey
    default: .unreadable
    }
  }
}

extension StorageAuditFinding: Comparable {
  /// By place, name and kind.
  public static func < (left: StorageAuditFinding, right: StorageAuditFinding) -> Bool {
    left.order.lexicographicallyPrecedes(right.order) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private var order: [String] { [place, name ?? "", kind.rawValue, domain ?? "", message] }
}

extension StorageAuditFinding {
  /// The findings about the declarations alone.
  static func ofDeclarations(_ keys: [StorageKeyDescriptor]) -> [StorageAuditFinding] {
    var findings: [StorageAuditFinding] = []
    var seen: Set<String> = []
    for key in keys {
      if !seen.insert("\(key.domain)\u{1F}\(key.name)").inserted {
        findings.append(
          Self(.duplicate, domain: key.domain, name: key.name, "two keys have this domain and name")
        )
      }
      if !key.description.contains(where: { !$0.isWhitespace }) {
        findings.append(
          Self(
            .undescribed, domain: key.domain, name: key.name,
            "the key does not say what its data is"))
      }
      if let fault = fault(of: key) {
        findings.append(Self(.impossible, domain: key.domain, name: key.name, fault))
      }
    }
    return findings
  }

  /// Why a declaration is impossible on every machine; nil if it is possible.
  private static func fault(of key: StorageKeyDescriptor) -> String? {
    do throws(StorageError) {
      try KeyName.check(key.name, "a key")
      // Checked for a vault and for a keyring: one of them may keep what the other can't.
      let plan: ProtectionPlan
      do throws(StorageError) {
        plan = try self.plan(of: key, .vault)
      } catch {
        plan = try self.plan(of: key, .keyring)
      }
      return plan.sealing.flatMap { MaterialFloor.fault(of: $0.pattern) }
    } catch {
      return error.message
    }
  }

  private static func plan(
    of key: StorageKeyDescriptor, _ keychain: PlaceAddress.Kind
  ) throws(StorageError) -> ProtectionPlan {
    try ProtectionPlan(
      key.security, in: key.domain, keychain: keychain, hasPasscode: true,
      iterations: Int(PassphraseFloor.pbkdf2SHA256Rounds))
  }
}
