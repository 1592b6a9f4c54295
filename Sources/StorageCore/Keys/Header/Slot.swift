internal import CryptoCore

/// A kind of key source, as recorded in a slot.
package enum SlotKind: UInt8, Sendable, CustomStringConvertible {
  case key = 1
  case passphrase = 2
  case file = 3
  case environment = 4
  case systemdCredential = 5
  case provider = 6
  case recovery = 7
  case keyring = 8
  case command = 9

  package var description: String {
    switch self {
    case .key: "key"
    case .passphrase: "passphrase"
    case .file: "file"
    case .environment: "environment"
    case .systemdCredential: "systemd credential"
    case .provider: "provider"
    case .recovery: "recovery key"
    case .keyring: "keyring"
    case .command: "command"
    }
  }
}

/// The keys and parameters for a new slot.
///
/// Deriving them from a key source takes time, and needs no lock.
struct SlotMaterial {
  fileprivate let candidate: KeySource.Candidate
  fileprivate let derivation: PassphraseDerivation
  fileprivate let salt: [UInt8]
  /// The wrapping key, followed by the check value.
  fileprivate let derived: SecureBytes

  /// Derives the wrapping key and the check value with a fresh salt.
  init(of source: (candidate: KeySource.Candidate, material: KeyMaterial)) throws(StorageError) {
    candidate = source.candidate
    guard candidate.identifier.utf8.count <= Slot.identifierLimit else {
      throw StorageError(
        .invalid, "the name of a key source is longer than 1024 bytes; use a shorter name")
    }
    switch source.material {
    case .key: derivation = .keyed
    case .passphrase(let bytes):
      guard !Self.endsInCarriageReturn(bytes) else {
        throw StorageError(
          .invalid,
          "the key or passphrase is not accepted, because it ends in a carriage return, as in a file "
            + "with CRLF line ends; save it with a line feed only", path: candidate.path())
      }
      do throws(StorageError) {
        try PassphraseFloor.require(bytes, candidate.derivation)
      } catch {
        throw error.at(candidate.path())
      }
      // The same value that reading the slot gives, without the waiver of tests.
      derivation = PassphraseDerivation(
        candidate.derivation.function, candidate.derivation.parameters)
    }
    salt = try cryptography { () throws(CryptoError) in
      try SecureRandom.publicBytes(count: Slot.saltSize)
    }
    derived = try derivation.derive(source.material, salt: salt, count: 64)
  }

  private static func endsInCarriageReturn(_ bytes: SecureBytes) -> Bool {
    bytes.withBytes { span in
      unsafe span.byteCount > 0
        && span.unsafeLoad(fromByteOffset: span.byteCount - 1, as: UInt8.self) == 13
    }
  }
}

/// The root key, sealed for one key source: docs/file-format.md, section "Slot".
struct Slot: Hashable, Sendable {
  static let version: UInt8 = 1
  static let saltSize = 32
  static let checkSize = 32
  static let identifierLimit = 1024

  let id: UInt32
  let kind: SlotKind
  let identifier: String
  let derivation: PassphraseDerivation
  let salt: [UInt8]
  /// Derived together with the wrapping key; tells a wrong key from damage, since GCM does not
  /// commit to its key.
  let check: [UInt8]
  /// The root key, sealed as a record.
  let wrappedRoot: [UInt8]

  /// The kind, and the identifier if there is one.
  var title: String { identifier.isEmpty ? "\(kind)" : "\(kind) \(identifier)" }

  /// Makes a slot that wraps `root`.
  ///
  /// Use a material for one slot only, so that its wrapping key seals once.
  init(
    id: UInt32, _ material: SlotMaterial, root: SymmetricKey, store: StoreID
  ) throws(StorageError) {
    material.candidate.keep()
    self.id = id
    kind = material.candidate.kind
    identifier = material.candidate.identifier
    derivation = material.derivation
    salt = material.salt
    let derived = material.derived
    check = derived.withBytes { $0.extracting(last: Self.checkSize).copied() }
    let context = Self.context(
      store,
      parameters: Self.parameters(id, kind, identifier, derivation, salt: salt, check: check))
    wrappedRoot = try cryptography { () throws(CryptoError) in
      let wrapping = try DataKey(Self.wrappingKey(derived), id: id)
      return try root.withBytes { (bytes) throws(CryptoError) in
        try wrapping.seal(bytes, for: context)
      }
    }
  }

  /// The root key, if `material` opens this slot.
  ///
  /// - Returns: nil when `material` does not belong to this slot.
  /// - Throws: `damaged` when `material` belongs to this slot, but the wrapped root key was
  ///   altered.
  func root(with material: KeyMaterial, store: StoreID) throws(StorageError) -> SymmetricKey? {
    // A key can't open the slot of a passphrase, and a passphrase can't open the slot of a key.
    switch (material, derivation.function) {
    case (.key, .key): break
    case (.key, _), (.passphrase, .key): return nil
    case (.passphrase, _): break
    }
    let derived = try derivation.derive(material, salt: salt, count: 64)
    let isOurs = derived.withBytes { derived in
      unsafe ConstantTime.equal(derived.extracting(last: Self.checkSize), check.span.bytes)
    }
    guard isOurs else { return nil }
    let context = Self.context(
      store,
      parameters: Self.parameters(id, kind, identifier, derivation, salt: salt, check: check))
    do throws(CryptoError) {
      let wrapping = try DataKey(Self.wrappingKey(derived), id: id)
      let root = try SecureBytes(count: 32) { (span) throws(CryptoError) in
        try wrapping.open(unsafe wrappedRoot.span.bytes, for: context, into: &span)
      }
      return SymmetricKey(bytes: root)
    } catch {
      throw StorageError(
        .damaged,
        "key slot \(id) of the store was altered; restore the store from a backup, or "
          + "open it with another slot")
    }
  }

  private static func wrappingKey(_ derived: SecureBytes) throws(CryptoError) -> SymmetricKey {
    SymmetricKey(
      bytes: try derived.withBytes { (bytes) throws(CryptoError) in
        try SecureBytes(copying: bytes.extracting(first: 32))
      })
  }

  /// Binds the wrapped root key to the store and to every parameter of the slot.
  private static func context(_ store: StoreID, parameters: [UInt8]) -> RecordContext {
    RecordContext(
      store: store, name: .reserved, authenticationTag: Array("slot".utf8) + parameters)
  }
}

extension NameHash {
  /// 64 zero bytes: the name in the context of sealed data without a key name.
  ///
  /// No HMAC is expected to have this value.
  static let reserved = NameHash([UInt8](repeating: 0, count: byteCount))!
}

// MARK: - Bytes

extension Slot {
  private static func parameters(
    _ id: UInt32, _ kind: SlotKind, _ identifier: String, _ derivation: PassphraseDerivation,
    salt: [UInt8], check: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = [version]
    bytes.append(bigEndian: id)
    bytes.append(kind.rawValue)
    bytes.appendField(identifier.utf8)
    bytes.append(derivation.function.rawValue)
    for parameter in derivation.parameters { bytes.append(bigEndian: parameter) }
    bytes += salt
    bytes += check
    return bytes
  }

  /// The slot as docs/file-format.md specifies it.
  var bytes: [UInt8] {
    var bytes = Self.parameters(id, kind, identifier, derivation, salt: salt, check: check)
    bytes.appendField(wrappedRoot)
    return bytes
  }

  /// Reads a slot and checks every number in it.
  init(reading bytes: RawSpan) throws(StorageError) {
    var offset = 0
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read key slot version \(version); update the program")
    }
    id = try ByteReading.integer(bytes, at: &offset)
    let kindCode = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard let kind = SlotKind(rawValue: kindCode) else {
      throw StorageError(
        .unsupported, "this release does not know key slot kind \(kindCode); update the program")
    }
    self.kind = kind
    let name = try ByteReading.field(limit: Self.identifierLimit, bytes, at: &offset)
    guard let identifier = String(validating: name, as: UTF8.self) else {
      throw StorageError(.damaged, "the name of a key source is not text")
    }
    self.identifier = identifier
    let functionCode = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard let function = PassphraseDerivation.Function(rawValue: functionCode) else {
      throw StorageError(
        .unsupported,
        "this release does not know key derivation \(functionCode); update the program")
    }
    var parameters: [UInt32] = []
    for _ in 0..<3 { parameters.append(try ByteReading.integer(bytes, at: &offset)) }
    derivation = PassphraseDerivation(function, parameters)
    guard derivation.isWithinLimits else {
      throw StorageError(.damaged, "the key derivation of a key slot is out of its limits")
    }
    salt = try ByteReading.array(of: Self.saltSize, bytes, at: &offset)
    check = try ByteReading.array(of: Self.checkSize, bytes, at: &offset)
    wrappedRoot = try ByteReading.field(limit: 256, bytes, at: &offset)
    guard offset == bytes.byteCount else {
      throw StorageError(.damaged, "a key slot has bytes after its end")
    }
  }
}
