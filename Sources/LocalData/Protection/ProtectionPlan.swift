internal import CryptoCore
internal import StorageCore

/// How a domain carries out a key's policy.
struct ProtectionPlan: Sendable {
  /// The source of the material that seals values.
  enum Origin: Hashable, Sendable {
    /// Nothing is sealed: the bytes are stored unchanged.
    case plain
    /// The place seals.
    case place
    /// The master key in the keychain, or the group's key.
    case masterKey
    case groupKey
    case provider(KeyMaterialSource)
    case passcode
  }

  let origin: Origin
  var sealing: ValueSealer.Sealing?
  /// Whether the keychain must bind the value to this machine.
  var isOfDevice = false

  var isPlain: Bool { origin == .plain }

  /// The protection as the ledger records it.
  func protection(masterKey: MasterKeyID) -> StoredProtection {
    switch origin {
    case .plain: .plain
    case .place: .place
    case .masterKey: .masterKey(masterKey)
    case .groupKey: .groupKey
    case .provider(let source): .provider(source: source.id)
    case .passcode: .passcode
    }
  }
}

extension ProtectionPlan {
  /// The plan of a policy.
  ///
  /// - Parameters:
  ///   - policy: the policy.
  ///   - domain: the domain of the key.
  ///   - keychain: where the values of the domain `keychain` are.
  ///   - hasPasscode: whether the program registered a passcode closure.
  ///   - iterations: the iterations of PBKDF2 if the policy names none.
  /// - Throws: `unsupported` for a policy that the domain can't keep here, `invalid` for numbers
  ///   out of range.
  init(
    _ policy: SecurityPolicy, in domain: StorageDomain, keychain: PlaceAddress.Kind,
    hasPasscode: Bool, iterations: Int
  ) throws(StorageError) {
    switch policy {
    case .none:
      guard domain.keepsPlainValues else {
        throw StorageError(
          .unsupported,
          "\(domain) always seals its values, so it can't keep the policy none; declare .recommended, or "
            + "another domain")
      }
      self.init(origin: .plain, sealing: nil)
    case .keychain(let accessibility, let control):
      guard case .keychain = domain.kind else {
        throw StorageError(
          .unsupported, "the policy keychain needs the domain keychain, not \(domain)")
      }
      try self.init(accessibility, control, keychain: keychain, hasPasscode: hasPasscode)
    case .encrypted(let policy):
      try self.init(policy, isOfGroup: domain.isOfGroup, iterations: iterations)
    }
  }

  private init(
    _ accessibility: KeychainAccessibility, _ control: KeychainAccessControl?,
    keychain: PlaceAddress.Kind, hasPasscode: Bool
  ) throws(StorageError) {
    try Self.check(accessibility, keychain)
    if let control, !control.takesPasscode {
      throw StorageError(
        .unsupported,
        "this system has no biometry, so \(control.rawValue) can't be kept; declare devicePasscode")
    }
    var sealing: ValueSealer.Sealing?
    if control != nil || accessibility == .whenPasscodeSetThisDeviceOnly {
      guard hasPasscode else {
        throw StorageError(
          .unsupported,
          "this machine has no passcode of its own; first call registerPasscode with a closure that asks for "
            + "one")
      }
      sealing = ValueSealer.Sealing(
        pattern: Envelope.Sealing(
          origin: .passcode, algorithm: .aes256GCM, function: .scrypt, rounds: 0, salt: [],
          info: [], source: ""), hasRandomSalt: true)
    }
    self.init(
      origin: sealing == nil ? .place : .passcode, sealing: sealing,
      isOfDevice: accessibility.isThisDeviceOnly)
  }

  /// Refuses a promise that the keychain of this machine can't keep.
  private static func check(
    _ accessibility: KeychainAccessibility, _ keychain: PlaceAddress.Kind
  ) throws(StorageError) {
    switch accessibility {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly:
      guard keychain == .vault else { return }
      throw StorageError(
        .unsupported,
        "the keychain is a vault here, and locking the screen does not lock it, so \(accessibility.rawValue) "
          + "can't be kept; declare afterFirstUnlock, or use a keyring")
    case .always, .alwaysThisDeviceOnly:
      guard keychain != .vault else { return }
      throw StorageError(
        .unsupported,
        "the keychain is the desktop's keyring here, which can be locked, so \(accessibility.rawValue) "
          + "can't be kept; declare afterFirstUnlock, or use a vault")
    default: return
    }
  }

  private init(
    _ policy: SecurityPolicy.EncryptionPolicy, isOfGroup: Bool, iterations: Int
  ) throws(StorageError) {
    var source = ""
    let algorithm: AEADAlgorithm
    let derivation: SecurityPolicy.KeyDerivation
    let origin: Origin
    switch policy {
    case .aes256(let declared):
      (algorithm, derivation) = (.aes256GCM, declared)
      origin = isOfGroup ? .groupKey : .masterKey
    case .chacha20Poly1305(let declared):
      (algorithm, derivation) = (.chaCha20Poly1305, declared)
      origin = isOfGroup ? .groupKey : .masterKey
    case .external(let declared, let function):
      guard (1...255).contains(declared.id.utf8.count) else {
        throw StorageError(.invalid, "the id of a key material source must have 1 to 255 bytes")
      }
      (algorithm, derivation, source) = (.chaCha20Poly1305, function, declared.id)
      origin = .provider(declared)
    }
    var pattern = Envelope.Sealing(
      origin: source.isEmpty ? .masterKey : .provider, algorithm: algorithm,
      function: .hkdfSHA256, rounds: 0, salt: [], info: [], source: source)
    let salt = try Self.apply(derivation, to: &pattern, iterations: iterations)
    pattern.salt = salt ?? []
    self.init(
      origin: origin, sealing: ValueSealer.Sealing(pattern: pattern, hasRandomSalt: salt == nil))
  }

  /// Copies the parameters of a derivation, and returns its salt.
  private static func apply(
    _ derivation: SecurityPolicy.KeyDerivation, to pattern: inout Envelope.Sealing,
    iterations: Int
  ) throws(StorageError) -> [UInt8]? {
    switch derivation {
    case .hkdf(let salt, let info):
      pattern.info = info.map { Array($0) } ?? []
      try checkLength(salt?.count ?? 0, pattern.info.count)
      return salt.map { Array($0) }
    case .pbkdf2(let declared, let salt):
      let rounds = declared ?? iterations
      guard (1...10_000_000).contains(rounds) else {
        throw StorageError(.invalid, "the iterations of PBKDF2 must be 1 to 10,000,000")
      }
      pattern.function = .pbkdf2SHA256
      pattern.rounds = UInt32(rounds)
      try checkLength(salt?.count ?? 0, 0)
      return salt.map { Array($0) }
    }
  }

  private static func checkLength(_ salt: Int, _ info: Int) throws(StorageError) {
    guard salt < 256, info < 256 else {
      throw StorageError(.invalid, "a salt and an info may have at most 255 bytes each")
    }
  }
}

extension StorageDomain {
  /// Whether values can be stored in plaintext.
  var keepsPlainValues: Bool {
    switch kind {
    case .keychain, .encryptedFileSystem: false
    default: true
    }
  }

  /// Whether several programs share the domain.
  var isOfGroup: Bool {
    switch kind {
    case .appGroupUserDefaults, .appGroupFileSystem: true
    default: false
    }
  }

  /// The text that a sealed value is bound to; it does not depend on the folders' paths.
  var binding: String {
    switch kind {
    case .userDefaults: "userDefaults"
    case .appGroupUserDefaults: "appGroupUserDefaults"
    case .keychain: "keychain"
    case .fileSystem(let directory): "fileSystem " + directory.binding
    case .encryptedFileSystem(let directory): "encryptedFileSystem " + directory.binding
    case .appGroupFileSystem(_, let directory): "appGroupFileSystem " + directory.binding
    }
  }
}

extension FileDirectory {
  fileprivate var binding: String {
    switch self {
    case .documents: "documents"
    case .caches: "caches"
    case .custom: "custom"
    }
  }
}
