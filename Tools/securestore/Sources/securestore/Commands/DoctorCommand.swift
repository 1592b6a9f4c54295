internal import ArgumentParser
internal import DefaultsBackend
internal import StorageCore
internal import VaultBackend

/// Says what of this machine can be used, and what can't and why.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Say which key sources and stores are reachable, and why not.",
    discussion: """
      With --app or --vault it tries to open them, with the key that was given or the application's \
      own. It changes nothing and shows no secret. Exits with 2 when something that is there can't be \
      used.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try isPlaceGiven ? vault.place() : nil
    var findings = ProcessFindings.all() + SourceFindings.all(application: place?.application)
    if let place {
      findings += vaultFindings(place)
      if let application = place.application { findings.append(suiteFinding(application)) }
    } else {
      findings.append(
        Finding("vault", .absent, "none was named; --app ID or --vault PATH says which"))
    }
    if output.isJSON {
      try output.output.json(.object([("findings", .array(findings.map(\.json)))]))
    } else {
      for row in Printable.table(findings.map(\.row)) { try output.output.line(row) }
    }
    let bad = findings.count { $0.state == .bad }
    guard bad == 0 else {
      throw Failure(.unsound, "\(bad) of the above can't be used as they are")
    }
  }

  private var isPlaceGiven: Bool {
    vault.vault != nil || vault.app != nil || Environment.value("SECURESTORE_VAULT") != nil
      || Environment.value("SECURESTORE_APP") != nil
  }

  private func vaultFindings(_ place: VaultPlace) -> [Finding] {
    guard Path.isThere(place.path) else {
      return [Finding("vault", .absent, "\(place.path) is not there; init makes it")]
    }
    return [
      Finding("vault slots", place.path) {
        let slots = try place.storage(.firstAvailable([]), .readOnly).keyAdministration.slots()
        return "opens with " + slots.map(\.title).joined(separator: ", ")
      },
      Finding("vault", place.path) {
        let listing = try place.storage(try place.keySource(key), .readOnly).listing()
        guard listing.unreadable == 0 else {
          throw Failure(
            .damaged,
            "\(Printable.count(listing.unreadable, "value")) can't be read; verify says more")
        }
        return "opens; \(Printable.count(listing.keys.count, "value"))"
      },
    ]
  }

  /// The application's sealed UserDefaults.
  private func suiteFinding(_ application: String) -> Finding {
    let name = "\(application).secure.plist"
    let folder =
      Environment.value("XDG_CONFIG_HOME") ?? (Environment.value("HOME") ?? "") + "/.config"
    let path = "\(folder)/\(name)"
    guard Path.isThere(path) else {
      return Finding("defaults", .absent, "\(path) is not there")
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
}
