internal import ArgumentParser
internal import DefaultsBackend
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Says which key sources and stores of this machine can be used, and why others can't.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Say which key sources and stores can be used, and why not.",
    discussion: """
      With --app, --vault or --etcd it tries to open the stores with the given key or the application's \
      own. It changes nothing and shows no secret. The desktop asks nothing: a locked keyring stays \
      locked. Exits with 2 if something that exists, or that the vault needs, can't be used.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let fleet = try etcd.place(vault)
    var place = try fleet == nil && isPlaceGiven ? vault.place() : nil
    place?.mayPrompt = false
    var hasVault = false
    // If this throws, the finding about the vault gives the reason.
    if let place { do { hasVault = try Path.isThere(place.path) } catch {} }
    var findings =
      ProcessFindings.all()
      + SourceFindings.all(application: place?.application, hasVault: hasVault)
    if let fleet {
      try show(findings + fleet.findings(key))
      return
    }
    findings += EngineFindings.all()
    let keyring = keyringFindings(place)
    findings += keyring.all() + UnencryptedKeyrings.findings()
    if let place {
      findings += vaultFindings(place)
      let folder = URL(fileURLWithPath: place.path)
      if folder.lastPathComponent == "index.vault", hasVault {
        findings += filesFindings(of: folder.deletingLastPathComponent().path, place)
      }
      if let application = place.application {
        findings += filesFindings(application, place)
        findings.append(suiteFinding(application))
        if keyring.isUsable { findings.append(keychainFinding(application, place)) }
      }
    } else {
      findings.append(
        Finding("vault", .absent, "no vault was named; give --app ID or --vault PATH"))
    }
    try show(findings)
  }

  private func show(_ findings: [Finding]) throws {
    if output.isJSON {
      try output.output.json(.object([("findings", .array(findings.map(\.json)))]))
    } else {
      for row in Printable.table(findings.map(\.row)) { try output.output.line(row) }
    }
    let bad = findings.count { $0.state == .bad }
    guard bad == 0 else {
      throw Failure(.unsound, "\(bad) of the items above can't be used")
    }
  }

  private var isPlaceGiven: Bool {
    vault.vault != nil || vault.app != nil || Environment.value("SECURESTORE_VAULT") != nil
      || Environment.value("SECURESTORE_APP") != nil
  }

  private func keyringFindings(_ place: VaultPlace?) -> KeyringFindings {
    var names: [String] = []
    // If this throws, the finding about the vault gives the reason.
    if let place { do { names = try place.keyringNames(of: place.path) } catch {} }
    return KeyringFindings(
      needed: names, application: place?.application,
      deadline: place?.keyringDeadline ?? .seconds(5))
  }

  private func vaultFindings(_ place: VaultPlace) -> [Finding] {
    do {
      guard try place.isThere() else {
        return [Finding("vault", .absent, "\(place.path) does not exist; init creates it")]
      }
    } catch {
      return [Finding("vault", place.path) { throw error }]
    }
    let slots = Finding("vault slots", place.path) {
      "opens with " + (try place.slots()).map(\.title).joined(separator: ", ")
    }
    return [slots] + weakSlots(place) + [
      Finding("vault", place.path) {
        let listing = try place.storage(try place.keySource(key), .readOnly).listing()
        guard listing.unreadable == 0 else {
          throw Failure(.damaged, KeyListing.unreadable(listing.unreadable))
        }
        return "opens; \(Printable.count(listing.keys.count, "value"))"
      }
    ]
  }

  /// The slots whose passphrase can be guessed faster than that of a new slot.
  private func weakSlots(_ place: VaultPlace) -> [Finding] {
    let slots: [KeySlot]
    // If this throws, the finding about the slots gives the reason.
    do { slots = try place.slots() } catch { return [] }
    return slots.compactMap { slot in
      slot.weakness.map {
        Finding(
          "vault slot \(slot.id)", .bad,
          "\(slot.title): \($0); replace it with slots change, or with passphrase")
      }
    }
  }

  /// How many findings of a sealed folder are shown.
  private static let filesLimit = 20

  /// The application's sealed folder.
  private func filesFindings(_ application: String, _ place: VaultPlace) -> [Finding] {
    do {
      let path = try SealedFolder.standardPath(applicationID: application)
      guard try Path.isThere(path) else {
        return [Finding("files", .absent, "\(path) does not exist")]
      }
      return filesFindings(of: path, place)
    } catch {
      return [Finding("files", application) { throw error }]
    }
  }

  /// What can be said about a sealed folder without reading its values.
  private func filesFindings(of path: String, _ place: VaultPlace) -> [Finding] {
    do {
      let folder = SealedFolder(
        at: URL(fileURLWithPath: path, isDirectory: true),
        keySource: try place.keySource(key, of: path + "/index.vault"), access: .readOnly,
        folderTrust: place.folderTrust, deadline: place.deadline)
      let listing = try folder.listing()
      let found = try folder.inspect()
      var findings = found.prefix(Self.filesLimit).map { finding in
        Finding(
          "files", .bad,
          "\(path): \(finding.kind.rawValue): \(finding.name ?? finding.path ?? ""): \(finding.message)"
        )
      }
      if found.count > Self.filesLimit {
        findings.append(
          Finding("files", .bad, "\(path): \(found.count - Self.filesLimit) more; see files verify")
        )
      }
      if listing.unreadable > 0 {
        findings.append(
          Finding(
            "files", .bad,
            "\(path): \(Printable.count(listing.unreadable, "record")) of the index can't be read; see "
              + "files verify", code: .damaged))
      }
      let count = Printable.count(listing.keys.count, "value")
      let opens = findings.isEmpty ? "opens; \(count), all files exist" : "opens; \(count)"
      return [
        Finding("files", .good, "\(path): \(opens); files verify reads every byte of them")
      ] + findings
    } catch {
      return [Finding("files", path) { throw error }]
    }
  }

  /// The application's sealed UserDefaults.
  private func suiteFinding(_ application: String) -> Finding {
    let name = "\(application).secure.plist"
    let folder =
      Environment.value("XDG_CONFIG_HOME") ?? (Environment.value("HOME") ?? "") + "/.config"
    let path = "\(folder)/\(name)"
    do {
      guard try Path.isThere(path) else {
        return Finding("defaults", .absent, "\(path) does not exist")
      }
    } catch {
      return Finding("defaults", path) { throw error }
    }
    return Finding("defaults", path) {
      let storage = UserDefaultsStorage(suiteName: application, keySource: .automatic)
      let listing = try storage.listing()
      guard listing.unreadable == 0 else {
        throw Failure(.damaged, "\(Printable.count(listing.unreadable, "value")) can't be read")
      }
      return "opens; \(Printable.count(listing.keys.count, "value"))"
    }
  }

  /// The application's sealed values in the keyring.
  private func keychainFinding(_ application: String, _ place: VaultPlace) -> Finding {
    do {
      let keychain = try KeychainPlace(application: application, place)
      let slots = try keychain.slots()
      guard !slots.isEmpty else {
        return Finding("keychain", .absent, "the keyring holds no sealed values of \(application)")
      }
      let listing = try keychain.storage(slots, choice: nil, otherwise: .automatic).listing()
      guard listing.unreadable == 0 else {
        throw Failure(.damaged, "\(Printable.count(listing.unreadable, "value")) can't be read")
      }
      return Finding(
        "keychain", .good, "\(application): opens; \(Printable.count(listing.keys.count, "value"))")
    } catch {
      return Finding("keychain", application) { throw error }
    }
  }
}
