internal import StorageCore

extension VaultPlace {
  /// How long the keyring is waited for: a second where other programs are not waited for at all.
  var keyringDeadline: Duration { max(.seconds(1), deadline) }

  /// The source that was asked for by its name.
  ///
  /// - Parameters:
  ///   - named: its name.
  ///   - file: the vault that it opens; nil when it is to open it from now on, so that what opens it
  ///     now says nothing.
  /// - Returns: the source.
  /// - Throws: `Failure` when the name is not enough; `StorageError` when the vault can't be read.
  func source(_ named: NamedSource, opening file: String?) throws -> KeySource {
    let recorded = try file.map { try keyringKeys(of: $0) } ?? []
    switch named {
    case .keyring(let name?): return try keyring(name)
    case .keyring(nil):
      guard recorded.isEmpty else { return .firstAvailable(recorded) }
      guard let application else {
        try refuse(
          Failure(
            .usage, "say what the key is called: --app ID for the application's, or keyring:NAME"),
          opening: file)
      }
      return try keyring(application)
    case .desktop:
      guard application != nil else {
        try refuse(
          Failure(.usage, "the key source desktop is an application's: give --app ID"),
          opening: file)
      }
      return .firstAvailable([try desktop()] + recorded)
    }
  }

  /// The keys in the keyring by which a vault opens, as it says itself.
  func keyringKeys(of file: String) throws -> [KeySource] {
    try keyringNames(of: file).map { try keyring($0) }
  }

  /// What they are called.
  func keyringNames(of file: String) throws -> [String] {
    try knownSlots(of: file).filter { $0.kind == KeySlot.keyringKind }.map(\.identifier)
  }
}
