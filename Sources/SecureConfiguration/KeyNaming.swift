#if Configuration
  public import Configuration

  /// How a configuration key maps to the name of a stored value.
  public enum KeyNaming: Hashable, Sendable {
    /// The components of the key with dots between them: `http.server.port`.
    ///
    /// `securestore import` stores the nested values of a JSON or YAML file under such names. A key
    /// with an empty component, or with a dot in one, is the error `invalid`: its name could be
    /// another key's.
    case dotted
    /// Like `EnvironmentVariablesProvider`: `HTTP_SERVER_PORT`.
    ///
    /// Capitals, `_` between components and before a capital within one, and `_` for every
    /// character that is not a letter or digit. `securestore import` stores the values of an env
    /// file under such names. Two keys may map to one name, such as `http.port` and `http-port`:
    /// don't make a component of what somebody else has typed.
    case environment

    /// The name of a key's value.
    ///
    /// - Parameter key: the key. Its context is ignored.
    /// - Returns: the name.
    public func name(of key: AbsoluteConfigKey) -> String {
      switch self {
      case .dotted: key.components.joined(separator: ".")
      case .environment: key.components.map(Self.variable).joined(separator: "_")
      }
    }

    /// Whether no other key has this key's name, as far as the naming promises that.
    func isUnambiguous(_ key: AbsoluteConfigKey) -> Bool {
      switch self {
      // Bytes, since a dot with a combining mark is another character.
      case .dotted:
        key.components.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ".")) }
      case .environment: true
      }
    }

    private static func variable(_ component: String) -> String {
      var name = ""
      var last: Character?
      for character in component {
        if let last, last.isLowercase, character.isUppercase { name.append("_") }
        let isKept = character.isLetter || character.isNumber
        name += isKept ? character.uppercased() : "_"
        last = character
      }
      return name
    }
  }
#endif
