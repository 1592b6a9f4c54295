internal import ArgumentParser
internal import StorageCore

/// Says which key sources and stores of this machine can be used, and why others can't.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Say which key sources and stores can be used, and why not.",
    discussion: """
      If a store or an application is named, it tries to open the stores with the given key \
      or the application's own. It changes nothing and shows no secret. The desktop asks nothing: a locked keyring stays \
      locked. Exits with 2 if something that exists, or that the vault needs, can't be used.
      """)

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try store.isGiven ? store.place() : nil
    let vault = place?.keys as? VaultPlace
    var hasVault = false
    // If this throws, the finding about the vault gives the reason.
    if let vault { do { hasVault = try Path.isThere(vault.path) } catch {} }
    var findings =
      ProcessFindings.all()
      + SourceFindings.all(application: vault?.application, hasVault: hasVault)
    var mayUseKeyring = false
    if vault != nil || place == nil {
      findings += EngineFindings.all()
      let keyring = keyring(vault)
      findings += keyring.all() + UnencryptedKeyrings.findings()
      mayUseKeyring = keyring.isUsable
    }
    findings +=
      try place?.findings(key, mayUseKeyring: mayUseKeyring)
      ?? [Finding("vault", .absent, "no vault was named; give --app ID or --vault PATH")]
    try show(findings)
  }

  private func show(_ findings: [Finding]) throws {
    if output.isJSON {
      try output.output.json(["findings": findings])
    } else {
      for row in Printable.table(findings.map(\.row)) { try output.output.line(row) }
    }
    let bad = findings.count { $0.state == .bad }
    guard bad == 0 else {
      throw Failure(.unsound, "\(bad) of the items above can't be used")
    }
  }

  private func keyring(_ place: VaultPlace?) -> KeyringFindings {
    var names: [String] = []
    // If this throws, the finding about the vault gives the reason.
    if let place { do { names = try place.keyringNames(of: place.path) } catch {} }
    return KeyringFindings(
      needed: names, application: place?.application,
      deadline: place?.keyringDeadline ?? .seconds(5))
  }
}
