internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

extension Audit {
  /// Determines how a stored value is protected, and reports differences from the declaration.
  mutating func checkValue(_ bytes: Data, _ entry: inout StorageAuditEntry, _ plan: Plan) {
    let place = plan.address.description
    guard bytes.starts(with: Envelope.mark) else {
      return checkBare(bytes, &entry, plan)
    }
    let envelope: Envelope
    do throws(StorageError) {
      envelope = try Envelope(reading: bytes)
    } catch {
      entry.state = .unreadable
      return add(error.code == .damaged ? .damaged : .unreadable, entry.key, place, error.message)
    }
    entry.protection = plan.address.kind.protection(
      envelope.sealing, isOfGroup: entry.key.domain.isOfGroup)
    checkPolicy(envelope, entry.key, plan)
    let form = Serializer.form(named: entry.key.serializer)
    if envelope.serializer != form {
      add(
        .otherSerializer, entry.key, place,
        "it was serialized as \(envelope.serializer), but the key declares \(entry.key.serializer)")
    }
    open(envelope, &entry, plan)
  }

  /// Checks bytes without an envelope, which are right only for a plain value.
  private mutating func checkBare(
    _ bytes: Data, _ entry: inout StorageAuditEntry, _ plan: Plan
  ) {
    let place = plan.address.description
    guard !plan.protection.isPlain else {
      entry.protection = "plaintext"
      if !Self.isWellFormed(bytes, entry.key.serializer) {
        entry.state = .unreadable
        add(.damaged, entry.key, place, "it is not \(entry.key.serializer), which the key declares")
      }
      return
    }
    guard !plan.address.kind.isSealing else {
      entry.protection = "its place"
      return add(
        .damaged, entry.key, place, "its place seals it, but it is not a value that a router wrote")
    }
    entry.state = .unreadable
    guard Self.isReadable(bytes) else {
      return add(.damaged, entry.key, place, "it is neither a sealed value nor readable data")
    }
    entry.protection = "plaintext"
    add(
      .plaintext, entry.key, place,
      "it is not sealed, but the key declares it as sealed; the router refuses to read it")
  }

  /// Compares the stored protection with the declared one.
  private mutating func checkPolicy(
    _ envelope: Envelope, _ key: StorageKeyDescriptor, _ plan: Plan
  ) {
    let place = plan.address.description
    let stored = envelope.sealing
    guard !plan.protection.isPlain else {
      return add(
        .otherPolicy, key, place,
        "it is \(stored?.words(isOfGroup: key.domain.isOfGroup) ?? "marked as sealed by its place"), "
          + "but the key declares plaintext")
    }
    guard stored != nil || plan.address.kind.isSealing else {
      return add(.plaintext, key, place, "it is not sealed, but the key declares it as sealed")
    }
    let isOfGroup = key.domain.isOfGroup
    let byPlace = "sealed by its place alone"
    let words = stored?.words(isOfGroup: isOfGroup) ?? byPlace
    let declared = plan.protection.sealing?.pattern.words(isOfGroup: isOfGroup) ?? byPlace
    guard words != declared else { return }
    add(.otherPolicy, key, place, "it is \(words), but declared as \(declared)")
  }

  /// Opens a value, if its material is available here.
  private mutating func open(
    _ envelope: Envelope, _ entry: inout StorageAuditEntry, _ plan: Plan
  ) {
    let place = plan.address.description
    let sealer = ValueSealer(
      envelope.sealing.map { ValueSealer.Sealing(pattern: $0, hasRandomSalt: false) },
      envelope.serializer,
      binding: ValueBinding(
        entry.key.domain, entry.key.name, at: plan.address, configuration.storage,
        places.locations, hasLedger ? ledger : nil),
      declaredRounds: plan.protection.sealing?.pattern.rounds ?? 0)
    do throws(StorageError) {
      var materials: [SecureBytes] = []
      switch envelope.sealing?.origin {
      case nil, .some(.none): break
      case .passcode:
        entry.state = .unopened
        return
      case .provider:
        entry.state = .unopened
        return pending.append(
          PendingValue(
            index: entries.count, key: entry.key, address: plan.address, place: place,
            envelope: envelope, sealer: sealer))
      case .masterKey:
        guard let material = try material(of: entry.key.domain) else {
          throw StorageError(
            .keyUnavailable, "it is sealed, and the key that it is sealed under does not exist")
        }
        materials = [material]
      }
      try Self.open(envelope, sealer, materials)
    } catch {
      entry.state = .unreadable
      findings.append(Self.finding(of: error, entry.key, place))
    }
  }

  /// Opens a value and checks that its bytes are what its serializer writes.
  static func open(
    _ envelope: Envelope, _ sealer: ValueSealer, _ materials: [SecureBytes]
  ) throws(StorageError) {
    var opened = try sealer.open(envelope, materials)
    defer { Wipe.data(&opened) }
    guard isWellFormed(opened, envelope.serializer.name) else {
      throw StorageError(.damaged, "the sealed bytes are not \(envelope.serializer)")
    }
  }

  /// The finding for a value that does not open.
  static func finding(
    of error: StorageError, _ key: StorageKeyDescriptor, _ place: String
  ) -> StorageAuditFinding {
    StorageAuditFinding(
      .of(error), domain: key.domain, name: key.name, place: place,
      "\(error.code): \(error.message)")
  }

  /// The master key, or the group's key; nil if it does not exist.
  private func material(of domain: StorageDomain) throws(StorageError) -> SecureBytes? {
    let group: String?
    switch domain.kind {
    case .appGroupUserDefaults(let id), .appGroupFileSystem(let id, _): group = id
    default: return try masterKey()
    }
    let container = try GroupContainer(group, configuration.storage, places.locations)
    return try GroupKey(
      folder: SharedFolder(path: container.path, groupRoot: container.root), ledger: ledger
    ).material(isWriting: false)
  }

  private func masterKey() throws(StorageError) -> SecureBytes? {
    let id = MasterKeyID(keychain, configuration.encryption)
    guard try isThere(id.address) else { return nil }
    return try MasterKey(
      place: places.place(at: id.address), pendingKey: places.place(at: id.pendingKey),
      id: id.description,
      length: 32, ledger: ledger, lock: nil
    ).material(isWriting: false)
  }

  // MARK: - Bytes

  /// Whether the bytes are what a serializer writes; always true for a custom serializer.
  static func isWellFormed(_ bytes: Data, _ serializer: String) -> Bool {
    switch serializer {
    case Serializer.json.name:
      isJSON(bytes)
    case Serializer.plist.name: PropertyListSyntax.isValue(bytes)
    default: true
    }
  }

  private static func isJSON(_ bytes: Data) -> Bool {
    /// Any value: the decoder checks the whole text before it asks for one.
    struct Anything: Decodable { init(from _: any Decoder) {} }
    do {
      _ = try JSONDecoder().decode(Anything.self, from: bytes)
      return true
    } catch {
      return false
    }
  }

  /// Whether bytes are text or a property list.
  private static func isReadable(_ bytes: Data) -> Bool {
    if bytes.starts(with: "bplist".utf8) { return true }
    guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return false }
    return !text.unicodeScalars.contains { scalar in
      scalar.properties.generalCategory == .control && !["\t", "\n", "\r"].contains(scalar)
    }
  }
}

extension PlaceAddress.Kind {
  /// How a value is protected in this place, in words.
  func protection(_ sealing: Envelope.Sealing?, isOfGroup: Bool) -> String {
    guard let sealing else { return isSealing ? "its place" : "plaintext" }
    return sealing.words(isOfGroup: isOfGroup) + (isSealing ? ", within its place" : "")
  }
}

extension Envelope.Sealing {
  /// The cipher, the derivation and the owner of the material; without the salt.
  func words(isOfGroup: Bool) -> String {
    let function =
      switch self.function {
      case .hkdfSHA256: "HKDF-SHA-256"
      case .pbkdf2SHA256: "PBKDF2-SHA-256, \(rounds) iterations"
      case .scrypt: "scrypt"
      }
    let material =
      switch origin {
      case .none: "nothing"
      case .masterKey: isOfGroup ? "the group's key" : "the master key"
      case .provider: "the provider \(source)"
      case .passcode: "a passcode"
      }
    return "sealed with \(algorithm), \(function), under \(material)"
  }
}

extension Serializer {
  /// The form of a serializer by its declared name.
  static func form(named name: String) -> Form {
    [json, plist, data].first { $0.name == name }?.form ?? .custom
  }
}

extension Serializer.Form {
  /// The name as keys declare it; for a custom serializer always `custom`.
  var name: String {
    switch self {
    case .json: Serializer.json.name
    case .propertyList: Serializer.plist.name
    case .data: Serializer.data.name
    case .custom: "custom"
    }
  }
}
