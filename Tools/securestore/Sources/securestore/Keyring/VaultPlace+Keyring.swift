internal import StorageCore

extension VaultPlace {
  /// The deadline of the keyring: at least one second, even if `--wait` is 0.
  var keyringDeadline: Duration { max(.seconds(1), deadline) }

  /// The source that the operator selected by a word.
  ///
  /// - Parameters:
  ///   - named: the word.
  ///   - file: the vault that the source opens; nil for a new key, when the vault's present slots
  ///     don't matter.
  /// - Returns: the source.
  /// - Throws: `Failure` if the word is not enough; `StorageError` if the vault can't be read.
  func source(_ named: NamedSource, opening file: String?) throws -> KeySource {
    let recorded = try file.map { try keyringKeys(of: $0) } ?? []
    switch named {
    case .keyring(let name?): return try keyring(name)
    case .keyring(nil):
      guard recorded.isEmpty else { return .firstAvailable(recorded) }
      guard let application else {
        try refuse(
          Failure(
            .usage, "name the key: --app ID for the application's key, or keyring:NAME"),
          opening: file)
      }
      return try keyring(application)
    case .desktop:
      guard application != nil else {
        try refuse(
          Failure(.usage, "the key source desktop belongs to an application: give --app ID"),
          opening: file)
      }
      return .firstAvailable([try desktop()] + recorded)
    }
  }

  /// The keys in the keyring that the vault's slots name.
  func keyringKeys(of file: String) throws -> [KeySource] {
    try keyringNames(of: file).map { try keyring($0) }
  }

  /// The names of these keys.
  func keyringNames(of file: String) throws -> [String] {
    try knownSlots(of: file).filter { $0.kind == KeySlot.keyringKind }.map(\.identifier)
  }
}
