internal import CryptoCore
internal import Glibc
public import StorageCore

/// Which parts of the desktop's keyring can be used here and now, and why others can't.
///
/// It is for programs that tell people what is wrong. Making it shows no prompt, unlocks nothing
/// and changes nothing.
public struct KeyringReport: Sendable {
  /// A part that was looked at, in the order in which the parts depend on each other.
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

  /// A finding about one part.
  public struct Finding: Sendable {
    /// What was looked at.
    public let subject: Subject
    /// Why the part can't be used, and what to do; nil if it can.
    ///
    /// `noBus`, `noService`, `noCollection`, `locked`, `timedOut`, `keyUnavailable` for a missing
    /// key, `unsupported` for one that would cross the bus in the clear, `duplicate`, or any other
    /// failure. A key has the error of a part that it depends on.
    public let error: StorageError?
    /// The label of the collection, if there is one and the service tells it.
    public let label: String?
  }

  /// The parts up to the first that can't be used, and then the requested keys.
  public let findings: [Finding]

  /// Whether the service encrypts secrets on the bus; nil where no service answers.
  ///
  /// A service that does not encrypt is refused for keys of stores, unless
  /// ``KeyringAccess/allowsPlainKeys`` allows it.
  public let isEncrypted: Bool?

  /// The value of `SECRET_BACKEND` if it names another place than the service; nil otherwise.
  ///
  /// libsecret's own functions, and so other programs, then keep secrets there; this package
  /// ignores the variable and uses the service.
  public let ignoredBackend: String?

  /// Looks at the keyring of the session; from async code in `SecureStorage.async { KeyringReport()
  /// }`.
  ///
  /// If that task is cancelled, the current look ends with `cancelled`, and no other look follows.
  ///
  /// - Parameters:
  ///   - keys: the names of keys to look for.
  ///   - deadline: how long each look may take; no other look follows one that takes longer, so
  ///     that the whole report does not take much longer.
  public init(keys: [String] = [], deadline: Duration = .seconds(5)) {
    self.init(keys: keys, deadline: deadline, client: .session)
  }

  init(keys: [String], deadline: Duration, client: KeyringClient) {
    let inspection = KeyringInspection(
      client: client, access: KeyringAccess(deadline: deadline, prompts: .never))
    (findings, isEncrypted) = inspection.findings(keys: keys)
    let backend = unsafe getenv("SECRET_BACKEND").map { unsafe SystemText.shown($0) } ?? ""
    ignoredBackend = ["", "service"].contains(backend) ? nil : backend
  }
}
