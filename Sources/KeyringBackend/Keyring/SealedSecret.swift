internal import CryptoCore
internal import StorageCore

/// A secret that is sealed within its item: docs/keyring.md, "The sealed form".
struct SealedSecret {
  /// The secrets that the key is derived from.
  struct Secrets {
    let device: SecureBytes?
    let passcode: SecureBytes?
  }

  /// The item that the secret is bound to.
  struct Binding {
    let service: String
    let account: String
    let group: String?
  }

  private static let magic = Array("SPSk".utf8)
  private static let version: UInt8 = 1
  private static let saltSize = 32
  private static let checkSize = 32
  private static let keyID: UInt32 = 1
  /// The highest N r p that is computed: twice that of new items.
  private static let costLimit: UInt64 = 1 << 21
  /// The size of the header before the record.
  static let headerSize = 4 + 1 + 1 + 12 + saltSize + checkSize
  private static let label = Array("SPS keyring item v1".utf8)

  private let parts: Protection.Parts
  private let derivation: PassphraseDerivation?
  private let salt: [UInt8]
  private let check: [UInt8]

  // MARK: - Sealing

  /// Seals a secret with a fresh salt.
  ///
  /// - Throws: `invalid` for a passcode below the floor.
  static func seal(
    _ secret: SecureBytes, _ parts: Protection.Parts, _ secrets: Secrets,
    _ derivation: PassphraseDerivation, for binding: Binding
  ) throws(StorageError) -> SecureBytes {
    let salt = try cryptography { () throws(CryptoError) in
      try SecureRandom.publicBytes(count: saltSize)
    }
    let derivation = parts.contains(.passcode) ? derivation : nil
    if let derivation, let passcode = secrets.passcode {
      try PassphraseFloor.require(passcode, derivation)
    }
    let derived = try derive(secrets, derivation, salt)
    let check = derived.withBytes { span in
      unsafe span.extracting(last: checkSize).withUnsafeBytes { unsafe Array($0) }
    }
    let header = SealedSecret(parts: parts, derivation: derivation, salt: salt, check: check)
    return try cryptography { () throws(CryptoError) in
      let record = try secret.withBytes { (span) throws(CryptoError) in
        try key(derived).seal(span, for: header.context(of: binding))
      }
      return try SecureBytes(header.bytes + record)
    }
  }

  // MARK: - Opening

  /// Opens a sealed secret.
  ///
  /// Reports, once in a process, an item whose passcode is below the floor.
  ///
  /// - Throws: `wrongKey` when other secrets sealed it, `damaged` when it was altered or belongs to
  ///   another item, `unsupported` for a form of another release.
  static func open(
    _ sealed: SecureBytes, _ parts: Protection.Parts, _ secrets: () throws(StorageError) -> Secrets,
    for binding: Binding, waivesFloor: Bool = false
  ) throws(StorageError) -> SecureBytes {
    let bytes = sealed.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    let header = try SealedSecret(reading: bytes)
    guard header.parts == parts else {
      throw StorageError(
        .damaged,
        "the item is sealed in another way than its attribute says; it was left unchanged")
    }
    let secrets = try secrets()
    let derived = try derive(secrets, header.derivation, header.salt)
    let isRight = derived.withBytes { span in
      unsafe ConstantTime.equal(span.extracting(last: checkSize), header.check.span.bytes)
    }
    guard isRight else {
      throw StorageError(
        .wrongKey,
        parts.contains(.passcode)
          ? "the passcode is not the one that the secret was sealed with"
            + (parts.contains(.device) ? ", or it was sealed on another machine" : "")
          : "the secret was sealed on another machine, or with a device key that was replaced")
    }
    do throws(CryptoError) {
      let data = try key(derived)
      let opened = try SecureBytes(count: max(0, bytes.count - headerSize - recordOverhead)) {
        (output) throws(CryptoError) in
        try unsafe data.open(
          bytes.span.bytes.extracting(droppingFirst: headerSize),
          for: header.context(of: binding), into: &output)
      }
      if !waivesFloor { header.report(secrets.passcode, binding) }
      return opened
    } catch {
      guard error.code == .authenticationFailed || error.code == .malformed else {
        throw StorageError(error)
      }
      throw StorageError(
        .damaged,
        "the sealed secret does not authenticate: it was altered, or it belongs to another service, "
          + "account or group; it was left unchanged")
    }
  }

  /// Reports a passcode that a new item could not have.
  private func report(_ passcode: SecureBytes?, _ binding: Binding) {
    guard let derivation, let passcode,
      let fault = PassphraseFloor.fault(of: passcode, derivation)
    else { return }
    PassphraseFloor.report(
      StorageError(
        .invalid,
        "the item of the service \(binding.service) was opened, but someone with a copy could guess its "
          + "passcode: \(fault). Store the secret again with a longer passcode",
        key: binding.account))
  }

  private static let recordOverhead = DataKey.overhead(of: .aes256GCM)

  // MARK: - Form

  private init(
    parts: Protection.Parts, derivation: PassphraseDerivation?, salt: [UInt8], check: [UInt8]
  ) {
    self.parts = parts
    self.derivation = derivation
    self.salt = salt
    self.check = check
  }

  private init(reading bytes: [UInt8]) throws(StorageError) {
    guard bytes.count >= Self.headerSize + Self.recordOverhead,
      Array(bytes[..<4]) == Self.magic
    else {
      throw StorageError(
        .damaged,
        "the item is marked as sealed, but its secret is not sealed, or is cut short; it was left "
          + "unchanged")
    }
    guard bytes[4] == Self.version else {
      throw StorageError(
        .unsupported,
        "this release can't read sealed secrets of version \(bytes[4]); update the program")
    }
    let numbers = stride(from: 6, to: 18, by: 4).map { start in
      bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    parts = Protection.Parts(rawValue: bytes[5])
    derivation =
      parts.contains(.passcode)
      ? .scrypt(cost: numbers[0], blockSize: numbers[1], parallelism: numbers[2]) : nil
    salt = Array(bytes[18..<50])
    check = Array(bytes[50..<Self.headerSize])
    // Checked before they are used: a hostile item can't ask for a terabyte, or for more than about
    // 0.6 s.
    let cost = numbers.reduce(UInt64(1)) { $0 &* UInt64($1) }
    guard parts.name != nil, derivation?.isWithinLimits ?? numbers.allSatisfy({ $0 == 0 }),
      cost <= Self.costLimit
    else {
      throw StorageError(
        .damaged,
        "the sealed secret's parameters are out of their limits; it was left unchanged")
    }
  }

  private var bytes: [UInt8] {
    var bytes = Self.magic + [Self.version, parts.rawValue]
    for number in derivation?.parameters ?? [0, 0, 0] { bytes.append(bigEndian: number) }
    return bytes + salt + check
  }

  /// The associated data of the record: the header before it, and the item that it belongs to.
  private func context(of binding: Binding) -> RecordContext {
    var tag: [UInt8] = []
    tag.appendField(bytes)
    tag.appendField(binding.service.utf8)
    tag.appendField(binding.account.utf8)
    tag.appendField((binding.group ?? "").utf8)
    return RecordContext(
      store: StoreID([UInt8](repeating: 0, count: StoreID.byteCount))!,
      name: NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!, authenticationTag: tag)
  }

  // MARK: - Keys

  /// The key, followed by the check value, which tells a wrong key from damage.
  private static func derive(
    _ secrets: Secrets, _ derivation: PassphraseDerivation?, _ salt: [UInt8]
  ) throws(StorageError) -> SecureBytes {
    var inputs: [SecureBytes] = []
    if let device = secrets.device { inputs.append(device) }
    if let passcode = secrets.passcode, let derivation {
      inputs.append(try derivation.derive(.passphrase(passcode), salt: salt, count: 32))
    }
    return try cryptography { () throws(CryptoError) in
      let input = try SecureBytes(count: inputs.reduce(0) { $0 + $1.count }) { output in
        var offset = 0
        for each in inputs {
          each.withBytes { span in
            for index in 0..<span.byteCount {
              output.storeBytes(
                of: unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self),
                toByteOffset: offset + index, as: UInt8.self)
            }
          }
          offset += each.count
        }
      }
      return try KeyDerivation.hkdf(input, salt: salt, info: label, count: 32 + checkSize)
    }
  }

  private static func key(_ derived: SecureBytes) throws(CryptoError) -> DataKey {
    let bytes = try derived.withBytes { (span) throws(CryptoError) in
      try SecureBytes(copying: span.extracting(first: 32))
    }
    return try DataKey(SymmetricKey(bytes: bytes), id: keyID)
  }
}
