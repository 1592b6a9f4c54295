internal import CryptoCore
public import StorageCore

/// What of the desktop's keyring can be used here and now, and what can't and why.
///
/// For programs that tell people what is wrong. It is made without a prompt, unlocks nothing and
/// changes nothing.
public struct KeyringReport: Sendable {
  /// Something that was looked at, in the order in which it is needed.
  public enum Subject: Hashable, Sendable {
    /// The session bus.
    case bus
    /// The Secret Service on it.
    case service
    /// The default collection, and whether it is unlocked.
    case collection
    /// The key of a name, which `KeySource.keyring(_:collection:access:)` gives.
    case key(String)
  }

  /// What was found.
  public struct Finding: Sendable {
    /// What was looked at.
    public let subject: Subject
    /// Why it can't be used, and what to do; nil where it can.
    ///
    /// `noBus`, `noService`, `noCollection`, `locked`, `timedOut`, `keyUnavailable` for a key that is
    /// not there, `unsupported` for one that would cross the bus in the clear, `duplicate`, or whatever
    /// else failed. A key has the error of what it needs.
    public let error: StorageError?
    /// The label of the collection, where there is one and its service tells it.
    public let label: String?
  }

  /// What was looked at: up to the first that can't be used, and then the keys that were asked for.
  public let findings: [Finding]

  /// Whether the service encrypts what crosses the bus; nil where none answers.
  ///
  /// One that does not is refused for keys of stores, unless ``KeyringAccess/allowsPlainKeys`` allows it.
  public let isEncrypted: Bool?

  /// What `SECRET_BACKEND` says, where that is another place than the service: nil otherwise.
  ///
  /// libsecret's own functions, and so other programs, then keep secrets there; this package does
  /// not follow it, and uses the service.
  public let ignoredBackend: String?

  /// Looks at the keyring of the session; from async code in `SecureStorage.async { KeyringReport() }`.
  ///
  /// When its task is cancelled there, the look that is made ends with `cancelled` and is the last.
  ///
  /// - Parameters:
  ///   - keys: the names of keys to look for.
  ///   - deadline: how long each look may take; one that takes longer is the last, so that the whole
  ///     does not take much longer.
  public init(keys: [String] = [], deadline: Duration = .seconds(5)) {
    self.init(keys: keys, deadline: deadline, client: .session)
  }

  init(keys: [String], deadline: Duration, client: KeyringClient) {
    let inspection = KeyringInspection(
      client: client, access: KeyringAccess(deadline: deadline, prompts: .never))
    (findings, isEncrypted) = inspection.findings(keys: keys)
    let backend = StandardFolders.environment("SECRET_BACKEND")
    ignoredBackend = backend == "service" ? nil : backend
  }
}
