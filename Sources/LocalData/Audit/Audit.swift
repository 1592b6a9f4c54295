internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data
internal import struct FoundationEssentials.Date

/// Compares declared keys with stored data.
///
/// It only reads, and it blocks.
struct Audit {
  let places: Places
  let addressing: Addressing
  let configuration: AuditConfiguration
  let keychain: PlaceAddress.Kind
  let ledger: Ledger
  /// Whether there is a ledger; the audit creates none.
  let hasLedger: Bool
  let recorded: [Ledger.Entry]
  var entries: [StorageAuditEntry] = []
  var findings: [StorageAuditFinding] = []
  /// The declared keys, by their addresses.
  var declared: [PlaceAddress: StorageKeyDescriptor] = [:]
  /// Values that only a provider's material opens; this type can't ask the provider.
  var pending: [PendingValue] = []
  /// Stores that don't open; each is reported once.
  private var closed: Set<String> = []

  /// A value that waits for a provider.
  struct PendingValue: Sendable {
    /// The index of its entry.
    let index: Int
    let key: StorageKeyDescriptor
    let address: PlaceAddress
    let place: String
    let envelope: Envelope
    let sealer: ValueSealer
  }

  init(_ places: Places, _ configuration: AuditConfiguration) {
    self.places = places
    self.configuration = configuration
    let ledger = Ledger(places.vault(Ledger.file))
    self.ledger = ledger
    var faults: [StorageAuditFinding] = []
    var recorded: [Ledger.Entry] = []
    var keychainPlace: PlaceAddress.Kind?
    var hasLedger = false
    do throws(StorageError) {
      if try Self.isThere(try places.path(ofVault: Ledger.file), places) {
        hasLedger = true
        recorded = try ledger.entries()
        keychainPlace = try ledger.keychainPlace()
      }
    } catch {
      faults.append(
        StorageAuditFinding(
          .unreadable, name: Ledger.file, place: "the ledger",
          "the record of the places of values can't be read: \(error.message)"))
    }
    keychain =
      switch configuration.keychain {
      case .vault: .vault
      case .keyring: .keyring
      case .automatic: keychainPlace ?? .vault
      }
    self.hasLedger = hasLedger
    self.recorded = recorded
    findings = faults
    addressing = Addressing(
      locations: places.locations, storage: configuration.storage, files: configuration.files,
      keychain: keychain)
  }

  /// Checks everything.
  ///
  /// - Parameter keys: the declared keys.
  mutating func run(_ keys: [StorageAuditEntry]) {
    findings += StorageAuditFinding.ofDeclarations(keys.map(\.key))
    let keys = keys.sorted()
    let plans = keys.map { plan(of: $0.key) }
    for (entry, plan) in zip(keys, plans) {
      guard let plan else {
        var entry = entry
        entry.state = .unknown
        entries.append(entry)
        continue
      }
      declared[plan.address] = entry.key
      entries.append(look(at: entry, plan))
    }
    for index in entries.indices { lookElsewhere(index, plans[index]) }
    lookForStrays(plans.compactMap { $0?.address })
  }

  // MARK: - Declarations

  /// The plan for a declaration on this machine.
  struct Plan {
    let protection: ProtectionPlan
    let address: PlaceAddress
  }

  /// The plan of a key; nil, with a finding, if this machine can't keep the key.
  private mutating func plan(of key: StorageKeyDescriptor) -> Plan? {
    do throws(StorageError) {
      try KeyName.check(key.name, "a key")
      let protection = try ProtectionPlan(
        key.security, in: key.domain, keychain: keychain, hasPasscode: true,
        iterations: configuration.pbkdf2Iterations)
      let address = try addressing.address(
        of: key.name, in: key.domain, isPlain: protection.isPlain,
        isOfDevice: protection.isOfDevice)
      return Plan(protection: protection, address: address)
    } catch {
      findings.append(
        StorageAuditFinding(.impossible, domain: key.domain, name: key.name, error.message))
      return nil
    }
  }

  // MARK: - Values

  private mutating func look(at declared: StorageAuditEntry, _ plan: Plan) -> StorageAuditEntry {
    var entry = declared
    entry.place = plan.address.description
    let isOfThisMachine = entry.key.availability.allows(machineOf: Set(configuration.machineTags))
    do throws(StorageError) {
      guard try isThere(plan.address), var bytes = try places.place(at: plan.address).read()
      else {
        entry.state = isOfThisMachine ? .absent : .otherMachine
        return entry
      }
      defer { Wipe.data(&bytes) }
      entry.state = .present
      entry.size = bytes.count
      try addTime(to: &entry, plan.address)
      try checkAge(entry.key, plan.address)
      checkValue(bytes, &entry, plan)
    } catch {
      fail(&entry, plan.address, error)
    }
    return entry
  }

  /// Reports an unreadable value; a store that does not open is reported once.
  private mutating func fail(
    _ entry: inout StorageAuditEntry, _ address: PlaceAddress, _ error: StorageError
  ) {
    entry.state = .unreadable
    let isOfValue = [.damaged, .typeMismatch].contains(error.code) || address.kind == .file
    guard isOfValue || entry.size != nil else { return close(address, error) }
    let kind: StorageAuditFinding.Kind =
      [.damaged, .typeMismatch].contains(error.code) ? .damaged : .unreadable
    add(kind, entry.key, address.description, error.message)
  }

  /// Reports a store that does not open.
  mutating func close(_ address: PlaceAddress, _ error: StorageError) {
    let place = address.storeDescription
    guard closed.insert(place).inserted else { return }
    findings.append(
      StorageAuditFinding(.of(error), place: place, "\(error.code): \(error.message)"))
  }

  mutating func add(
    _ kind: StorageAuditFinding.Kind, _ key: StorageKeyDescriptor, _ place: String,
    _ message: String
  ) {
    findings.append(
      StorageAuditFinding(kind, domain: key.domain, name: key.name, place: place, message))
  }

  private func addTime(
    to entry: inout StorageAuditEntry, _ address: PlaceAddress
  ) throws(StorageError) {
    guard let path = try places.path(of: address), let status = try FileStatus.of(path) else {
      return
    }
    entry.modified = Date(timeIntervalSince1970: Double(status.modified / 1_000_000_000))
    entry.modifiedOf = address.kind == .file ? .value : .store
  }

  /// Reports a record that is still under an older key.
  private mutating func checkAge(
    _ key: StorageKeyDescriptor, _ address: PlaceAddress
  ) throws(StorageError) {
    guard let (storage, name) = try places.record(of: address),
      try storage.store.isUnderPrimaryKey(storage.store.name(name)) == false
    else { return }
    add(
      .oldKey, key, address.description,
      "its record is sealed under a data key from before the last rotation")
  }

  /// Checks the other places that the ledger names for the key's value.
  private mutating func lookElsewhere(_ index: Int, _ plan: Plan?) {
    let key = entries[index].key
    let text = DomainText(key.domain)
    for entry in recorded where entry.name == key.name && entry.domain == text {
      guard entry.address != plan?.address else { continue }
      do throws(StorageError) {
        guard try isThere(entry.address), try places.place(at: entry.address).contains() else {
          continue
        }
        declared[entry.address] = key
        if entries[index].state == .absent { entries[index].state = .elsewhere }
        add(
          .otherPlace, key, entry.address.description,
          "a value is at a former place of the key; the key now belongs to "
            + (plan.map { $0.address.description } ?? "a place that this machine does not have"))
      } catch {
        close(entry.address, error)
      }
    }
  }

  // MARK: - Places

  /// Whether a store exists; the audit creates none.
  func isThere(_ address: PlaceAddress) throws(StorageError) -> Bool {
    try Self.isThere(try places.path(of: address), places)
  }

  private static func isThere(
    _ path: String?, _ places: Places
  ) throws(StorageError) -> Bool {
    guard !places.isInMemory, let path else { return true }
    return try FileStatus.of(path) != nil
  }
}
