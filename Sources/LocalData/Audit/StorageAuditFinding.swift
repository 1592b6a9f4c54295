internal import StorageCore

/// Something that is not as it is declared, or as it should be: without a value.
public struct StorageAuditFinding: Hashable, Sendable {
  /// The kinds of findings.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Two keys of a catalog are the same name in the same domain.
    case duplicate
    /// A key does not say what its data is.
    case undescribed
    /// A key declares what its domain, or this machine, can't keep.
    case impossible
    /// It is stored, and no key declares it.
    case stray
    /// It was altered, cut or moved, or is nothing that the key's serializer writes.
    case damaged
    /// It can be read by who can read the file, and the key declares that it is sealed.
    case plaintext
    /// It is protected in another way than the key declares.
    case otherPolicy
    /// It is at another place than the key and the configuration say.
    case otherPlace
    /// It was serialized in another way than the key declares.
    case otherSerializer
    /// It is sealed under another key than the one that there is now.
    case wrongKey
    /// It is sealed under a key from before the last rotation.
    case oldKey
    /// It can't be read: the store does not open, or the material is not to be had.
    case unreadable
    /// More users can read or change the file than should.
    case rights
  }

  /// What is wrong.
  public let kind: Kind
  /// The domain of the key; nil for what belongs to none.
  public let domain: String?
  /// The name of the key, of the entry or of the file; nil for a store as a whole.
  public let name: String?
  /// Where it is: a store or a path; empty for a declaration.
  public let place: String
  /// What was found, in a sentence, without a value.
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

  init(kind: Kind, domain: String?, name: String?, place: String, message: String) {
    self.kind = kind
    self.domain = domain
    self.name = name
    self.place = place
    self.message = message
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
  /// What is wrong with declarations as such, wherever they are used.
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

  /// Why a declaration is impossible on every machine; nil when it is not.
  private static func fault(of key: StorageKeyDescriptor) -> String? {
    do throws(StorageError) {
      try KeyName.check(key.name, "a key")
      // On a vault or on a keyring: one of the two may keep what the other can't.
      do throws(StorageError) {
        _ = try plan(of: key, .vault)
      } catch {
        _ = try plan(of: key, .keyring)
      }
      return nil
    } catch {
      return error.message
    }
  }

  private static func plan(
    of key: StorageKeyDescriptor, _ keychain: PlaceAddress.Kind
  ) throws(StorageError) -> ProtectionPlan {
    try ProtectionPlan(
      key.security, in: key.domain, keychain: keychain, hasPasscode: true, iterations: 1)
  }
}
