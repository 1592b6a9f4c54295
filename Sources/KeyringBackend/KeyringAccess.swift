/// How calls of the keyring behave: how long they wait, and whether they may ask the user.
public struct KeyringAccess: Hashable, Sendable {
  /// When the service may show the user a prompt, to unlock a collection or to confirm a change.
  public enum PromptPolicy: Hashable, Sendable {
    /// Never: a call that needs a prompt throws `locked`.
    case never
    /// If there is a display to show it on: `WAYLAND_DISPLAY` or `DISPLAY` is set.
    case ifInteractive
    /// Always; for programs that know that somebody will answer.
    case always
  }

  /// How long a call may take without a prompt, a day at most.
  ///
  /// A read or a write of one item is one call, whose steps share this time. An operation that
  /// takes turns with other processes, or copies from place to place, is two to four calls.
  public var deadline: Duration {
    didSet { deadline = Self.clamped(deadline) }
  }
  /// How long a prompt may stand unanswered, beyond ``deadline``.
  ///
  /// The prompt is then dismissed, and the call throws `timedOut`.
  public var promptDeadline: Duration {
    didSet { promptDeadline = Self.clamped(promptDeadline) }
  }
  /// When prompts may be shown.
  public var prompts: PromptPolicy
  /// Whether a key of a store may cross the bus in the clear if the service can't encrypt it.
  ///
  /// libsecret and the services of the desktops agree on a key for secrets on the bus.
  /// `KeySource.keyring` refuses a service that does not, with the error `unsupported`: programs
  /// that may watch the bus, and copies that the bus keeps in ordinary memory, would reveal the
  /// store's key. This setting concerns only keys. Sealed values may cross in any case; the secrets
  /// of the plain ``Keyring`` API cross as the service wants it, like those of every program that
  /// shares them.
  public var allowsPlainKeys: Bool
  /// The address of the bus, as D-Bus writes it; nil for the session's.
  ///
  /// For tests: KeyringTesting makes a bus for each test. Objects that are made with an address
  /// stay with that bus. The process keeps one connection to each address that it was given.
  public var bus: String?

  /// Limits a duration to a day; a negative one becomes zero.
  private static func clamped(_ duration: Duration) -> Duration {
    min(max(duration, .zero), .seconds(86_400))
  }

  /// Five seconds, a minute for a prompt, and prompts where there is a display.
  public static let standard = KeyringAccess()

  /// How calls behave.
  ///
  /// - Parameters:
  ///   - deadline: how long a call may take without a prompt.
  ///   - promptDeadline: how long a prompt may stand unanswered.
  ///   - prompts: when prompts may be shown.
  ///   - bus: the address of the bus; nil for the session's.
  ///   - allowsPlainKeys: whether a store's key may cross the bus in the clear.
  public init(
    deadline: Duration = .seconds(5), promptDeadline: Duration = .seconds(60),
    prompts: PromptPolicy = .ifInteractive, bus: String? = nil, allowsPlainKeys: Bool = false
  ) {
    self.deadline = Self.clamped(deadline)
    self.promptDeadline = Self.clamped(promptDeadline)
    self.prompts = prompts
    self.bus = bus
    self.allowsPlainKeys = allowsPlainKeys
  }

  /// The client of the bus.
  var client: KeyringClient { bus.map { .to($0) } ?? .session }
}
