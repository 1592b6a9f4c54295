#if Configuration
  internal import Configuration
  internal import StorageCore

  /// Looks up a key, in any storage.
  struct ValueReading: Sendable {
    let naming: KeyNaming
    let secrets: SecretsSpecifier<String, ConfigContent>
    let conversion: ValueConversion

    /// Looks a key up by its name in the storage.
    ///
    /// - Throws: `invalid` for a key that would have another key's name, `typeMismatch` for a value
    ///   that does not convert to the type, or an error of `load`.
    func look(
      up key: AbsoluteConfigKey, as type: ConfigType,
      _ load: (String) throws(StorageError) -> Any?
    ) throws(StorageError) -> LookupResult {
      let name = naming.name(of: key)
      guard naming.isUnambiguous(key) else {
        throw StorageError(
          .invalid,
          "a component of the configuration key is empty or has a dot in it, so its name could be another key's; "
            + "give each component as an element of its own", key: name)
      }
      guard let stored = try load(name) else { return LookupResult(encodedKey: name, value: nil) }
      guard let content = conversion.content(of: stored, as: type) else {
        throw StorageError(
          .typeMismatch,
          "the value is stored as \(Swift.type(of: stored)) and does not convert exactly to \(type.rawValue); "
            + "it was not changed", key: name)
      }
      let isSecret = secrets.isSecret(key: name, value: content)
      return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: isSecret))
    }
  }
#endif
