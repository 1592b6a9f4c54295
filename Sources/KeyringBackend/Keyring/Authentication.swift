extension Keyring {
  /// What a secret needs besides an unlocked collection, as the Keychain of Apple's platforms has
  /// it.
  ///
  /// Any element of the set is enough, unless ``and()`` asks for all. On Linux only
  /// ``devicePasscode`` and ``userPresence`` work: both ask the application's closure for a
  /// passphrase and seal the secret with it. A ``Keyring`` whose set contains any other element
  /// throws `unsupported`.
  public struct Authentication: OptionSet, Hashable, Sendable {
    /// How the elements of a set go together.
    public enum Operator: Hashable, Sendable {
      /// Any of them is enough.
      case or
      /// All of them are needed.
      case and
    }

    /// The bits.
    public let rawValue: Int
    /// How the elements go together; ``Operator/or`` unless said otherwise.
    public var `operator`: Operator

    /// A passphrase, which the application asks for.
    public static let devicePasscode = Authentication(rawValue: 1)
    /// A fingerprint or a face: `unsupported`.
    public static let biometryAny = Authentication(rawValue: 2)
    /// A fingerprint or a face that is enrolled now: `unsupported`.
    public static let biometryCurrentSet = Authentication(rawValue: 4)
    /// A watch: `unsupported`.
    public static let watch = Authentication(rawValue: 8)
    /// Proof that somebody is there, by any means: on Linux, the passphrase.
    ///
    /// Together with another element it adds nothing: ``or()`` and ``and()`` leave it out then.
    public static let userPresence = Authentication(rawValue: 16)

    /// A set of these bits, any of which is enough.
    public init(rawValue: Int) {
      self.init(rawValue: rawValue, operator: .or)
    }

    /// A set of these bits.
    ///
    /// - Parameters:
    ///   - rawValue: the bits.
    ///   - operator: how they go together.
    public init(rawValue: Int, operator: Operator) {
      self.rawValue = rawValue
      self.operator = `operator`
    }

    /// The same elements, all of which are needed, without a ``userPresence`` that adds nothing.
    public func and() -> Authentication {
      Authentication(rawValue: effectiveRawValue, operator: .and)
    }

    /// The same elements, any of which is enough, without a ``userPresence`` that adds nothing.
    public func or() -> Authentication {
      Authentication(rawValue: effectiveRawValue, operator: .or)
    }

    /// The bits without ``userPresence`` if there are others, since each of the others proves
    /// presence.
    private var effectiveRawValue: Int {
      let others = rawValue & ~Authentication.userPresence.rawValue
      return others == 0 ? rawValue : others
    }

    /// Whether both the elements and how they go together are the same.
    public static func == (left: Authentication, right: Authentication) -> Bool {
      left.rawValue == right.rawValue && left.operator == right.operator
    }

    /// Hashes the elements and how they go together.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(rawValue)
      hasher.combine(self.operator)
    }

    /// Whether there is no element, however they go together.
    public var isEmpty: Bool { rawValue == 0 }

    /// Whether all elements are among others, however they go together.
    public func isSubset(of other: Authentication) -> Bool { rawValue & ~other.rawValue == 0 }

    /// Whether all elements are available on Linux.
    var isSupported: Bool { isSubset(of: [.devicePasscode, .userPresence]) }
  }
}
