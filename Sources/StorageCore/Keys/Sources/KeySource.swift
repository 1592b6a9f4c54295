public import CryptoCore
internal import Glibc

/// Where a store's key comes from.
///
/// The store remembers which source created it and accepts only that source from then on, as long
/// as the application still lists that source. ``KeyAdministration`` changes the accepted sources.
/// A key is made only for a store without key slots and data. Printing a source shows its kind,
/// never a key.
public struct KeySource: Sendable {
  /// One of the sources that are asked in turn.
  package struct Candidate: Sendable {
    package let kind: SlotKind
    /// Tells sources of one kind apart; stored unencrypted in the slot.
    package let identifier: String
    /// How a passphrase from this source is stretched when a slot is made.
    package var derivation: PassphraseDerivation = .standard
    /// Reads the current material; nil when the source is absent.
    package let read: @Sendable () throws(StorageError) -> KeyMaterial?
    /// Makes material where none exists; returns nil when its place is absent too.
    ///
    /// Nil for sources that can't make material.
    package var make: (@Sendable () throws(StorageError) -> KeyMaterial?)?
    /// Called before something is sealed that only the material opens.
    ///
    /// The source can then mark its place, so that no new material is made there later.
    package var keep: @Sendable () -> Void = {}
    /// The stores that would not open any more if ``make`` made new material; nil if none is known.
    package var dependents: @Sendable () throws(StorageError) -> KeyDependents? = {
      () throws(StorageError) in nil
    }
    /// The path of the file that holds the material, for errors; nil if there is no file or it is
    /// not known.
    package var path: @Sendable () -> String? = { nil }
    /// Why the material is absent, for errors; nil if the reason is not known.
    package var absence: @Sendable () -> String? = { nil }
    /// Whether its material is always a key, because nothing but this library writes it.
    package var holdsKey = false
    /// Whether asking it runs code of the program, which may take any time.
    package var isOfProgram = false
    /// Asks anew for material that ``read`` had kept and that did not open the store; nil if it was new.
    package var readAgain: @Sendable () throws(StorageError) -> KeyMaterial? = {
      () throws(StorageError) in nil
    }
    /// Reads material that a new slot is made for, where that is not what ``read`` gives; else nil.
    package var readForNewSlot: (@Sendable () throws(StorageError) -> KeyMaterial?)?
  }

  private let rungs: @Sendable () -> [Candidate]

  /// Why this source can never give a key; thrown even for a store that holds nothing.
  package let failure: StorageError?

  /// Whether this is ``automatic``, so that a storage may use a better source of its own.
  package var isAutomatic = false

  /// The test that owns the stores that this source opens, or nil.
  package var owner: OwningTest?

  /// The sources, in the order in which they are asked.
  package var candidates: [Candidate] { rungs() }

  package init(_ candidates: [Candidate]) {
    rungs = { candidates }
    failure = nil
  }

  /// A source that never gives a key.
  package init(failing error: StorageError) {
    rungs = {
      [
        Candidate(kind: .key, identifier: "") { () throws(StorageError) in
          throw error
        }
      ]
    }
    failure = error
  }

  /// A source that `source` chooses once, when it is first needed.
  package init(deferred source: @escaping @Sendable () -> KeySource) {
    let chosen = Lock<[Candidate]?>(nil)
    rungs = {
      if let candidates = chosen.withLock({ $0 }) { return candidates }
      let candidates = source().candidates
      return chosen.withLock { chosen in
        chosen = chosen ?? candidates
        return chosen!
      }
    }
    failure = nil
  }

  /// A source that may change: each use asks `source` again.
  package init(current source: @escaping @Sendable () -> KeySource) {
    rungs = { source().candidates }
    failure = nil
  }

  /// A key of 32 bytes that the application holds.
  ///
  /// A key of another size causes the error `invalid` at first use.
  public static func key(_ key: SymmetricKey) -> KeySource {
    KeySource([
      Candidate(
        kind: .key, identifier: "",
        read: { () throws(StorageError) in try KeyMaterial.key(key).checked() })
    ])
  }

  /// A passphrase.
  ///
  /// The `String` itself is ordinary memory and can't be wiped: prefer the forms that take
  /// `SecureBytes` or a closure. An empty passphrase causes the error `invalid` at first use.
  ///
  /// - Parameters:
  ///   - text: the passphrase, used as its UTF-8 bytes without normalisation.
  ///   - derivation: how the passphrase is stretched when a slot is made for it.
  /// - Returns: the source.
  public static func passphrase(
    _ text: String, derivation: PassphraseDerivation = .standard
  ) -> KeySource {
    let bytes: Result<SecureBytes, StorageError>
    do throws(CryptoError) {
      bytes = .success(try SecureBytes(Array(text.utf8)))
    } catch {
      bytes = .failure(StorageError(error))
    }
    return passphrase(derivation, { () throws(StorageError) in try bytes.get() })
  }

  /// A passphrase in memory that is wiped.
  ///
  /// - Parameters:
  ///   - bytes: the passphrase.
  ///   - derivation: how the passphrase is stretched when a slot is made for it.
  /// - Returns: the source.
  public static func passphrase(
    _ bytes: SecureBytes, derivation: PassphraseDerivation = .standard
  ) -> KeySource {
    passphrase(derivation, { () throws(StorageError) in bytes })
  }

  /// A passphrase that a closure gives when the store is opened, and that is not kept afterwards.
  ///
  /// - Parameters:
  ///   - derivation: how the passphrase is stretched when a slot is made for it.
  ///   - ask: returns the passphrase, or nil when there is none. May be called again after another
  ///     process changed the store's keys. Other threads that use the store meanwhile get `busy`
  ///     after the deadline of the store: where a person types the passphrase, open the store
  ///     before they start. An error of `ask` that is not a `StorageError` or a
  ///     `CryptoError` becomes the error `keyUnavailable`.
  /// - Returns: the source.
  public static func passphrase(
    derivation: PassphraseDerivation = .standard,
    _ ask: @escaping @Sendable () throws -> SecureBytes?
  ) -> KeySource {
    passphrase(derivation, ask, isOfProgram: true)
  }

  private static func passphrase(
    _ derivation: PassphraseDerivation, _ ask: @escaping @Sendable () throws -> SecureBytes?,
    isOfProgram: Bool = false
  ) -> KeySource {
    var candidate = Candidate(
      kind: .passphrase, identifier: "", derivation: derivation,
      read: { () throws(StorageError) in
        guard let bytes = try asked(ask) else { return nil }
        return try KeyMaterial.passphrase(bytes).checked()
      })
    candidate.isOfProgram = isOfProgram
    return KeySource([candidate])
  }

  private static func asked(
    _ ask: () throws -> SecureBytes?
  ) throws(StorageError) -> SecureBytes? {
    do {
      return try ask()
    } catch let error as StorageError {
      throw error
    } catch let error as CryptoError {
      throw StorageError(error)
    } catch {
      // The text of the error may contain the typed passphrase.
      throw StorageError(
        .keyUnavailable, "the passphrase could not be read: \(type(of: error)) was thrown")
    }
  }

  /// An environment variable that holds standard Base64 of 32 bytes, or else a passphrase.
  ///
  /// Other processes of the same user can read a process's environment; prefer a credential or a
  /// file.
  ///
  /// - Parameter name: the name of the variable. If it is not set, the source is absent; if it is
  ///   empty, the error is `damaged`.
  /// - Returns: the source.
  public static func environment(_ name: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .environment, identifier: name,
        read: { () throws(StorageError) in try environmentMaterial(name) },
        absence: { "the variable is not set" })
    ])
  }

  private static func environmentMaterial(_ name: String) throws(StorageError) -> KeyMaterial? {
    guard let value = unsafe getenv(name) else { return nil }
    let count = unsafe strlen(value)
    let bytes = try cryptography { () throws(CryptoError) in
      try unsafe SecureBytes(
        copying: RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: value, count: count)))
    }
    return try KeyEncoding.material(
      of: bytes, path: nil, source: "the environment variable \(name)", isText: true)
  }

  /// A credential that systemd passed to the service, systemd.exec(5) `LoadCredential=`.
  ///
  /// The credential is the file `name` in `$CREDENTIALS_DIRECTORY`. It holds 32 bytes that are
  /// no text, or standard Base64 of 32 bytes, or else a passphrase.
  ///
  /// - Parameter name: the credential's name.
  /// - Returns: the source.
  public static func systemdCredential(_ name: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .systemdCredential, identifier: name,
        read: { () throws(StorageError) in try credentialMaterial(name) },
        absence: {
          credentialsFolder.map { "\($0)/\(name) does not exist" }
            ?? "CREDENTIALS_DIRECTORY is not set"
        })
    ])
  }

  /// The folder of credentials; nil also where its name is not UTF-8, which every use throws.
  private static var credentialsFolder: String? {
    do throws(StorageError) {
      return try StandardFolders.environment("CREDENTIALS_DIRECTORY")
    } catch {
      return nil
    }
  }

  private static func credentialMaterial(_ name: String) throws(StorageError) -> KeyMaterial? {
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw StorageError(.invalid, "\"\(name)\" can't be the name of a credential")
    }
    guard let folder = try StandardFolders.environment("CREDENTIALS_DIRECTORY") else { return nil }
    return try KeyFile.read(credential: folder + "/" + name)
  }

  /// A secret that Kubernetes, Docker or Podman has mounted for this process as a file.
  ///
  /// The file holds 32 bytes that are no text, or standard Base64 of 32 bytes, or else a passphrase, in
  /// at most 4,096 bytes.
  /// Links are followed. The owner and mode of the file and of its folder are not checked, because
  /// whoever mounts the secret is trusted; see SECURITY.md. The source never makes a file or a
  /// marker there. A store records the secret as a key file of the same name. So a store made with
  /// ``file(_:)`` opens with the same file mounted, and the other way round.
  ///
  /// The error is `denied` if this user can't read the file or it is not a regular file, and
  /// `damaged` if the file is empty or too long. If the file does not exist, or a link leads
  /// nowhere, the source is absent.
  ///
  /// - Parameter path: the absolute path, such as `/run/secrets/tool-key`; a relative path causes
  ///   the error `invalid`.
  /// - Returns: the source.
  public static func mountedSecret(_ path: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .file, identifier: FilePath.name(of: path),
        read: { () throws(StorageError) in try KeyFile.read(mounted: path) },
        path: { path }, absence: { "\(path) does not exist" })
    ])
  }

  /// A source that the application implements.
  ///
  /// A key of another size than 32 bytes and an empty passphrase cause the error `invalid`.
  public static func provider(_ provider: some KeyProvider) -> KeySource {
    var candidate = Candidate(
      kind: .provider, identifier: provider.identifier,
      read: { () throws(StorageError) in try provider.material()?.checked() })
    candidate.isOfProgram = true
    if provider.makesKeys {
      candidate.make = { () throws(StorageError) in try provider.makeMaterial().checked() }
    }
    return KeySource([candidate])
  }

  /// A recovery key that was exported from the store.
  public static func recovery(_ key: RecoveryKey) -> KeySource {
    KeySource([
      Candidate(
        kind: .recovery, identifier: "", read: { () throws(StorageError) in .key(key.key) })
    ])
  }

  /// The first source of a list that is not absent.
  ///
  /// Only an absent source is skipped: a source that is locked, denied, timed out or damaged stops
  /// the search with its error. An existing store asks only the sources that it has a slot for. If
  /// a key does not open the store, sources of the same kind and name that follow are asked too:
  /// list the new key before the old one while keys are replaced.
  public static func firstAvailable(_ sources: [KeySource]) -> KeySource {
    // One source may depend on the application's name, which the program may set later.
    KeySource(deferred: { KeySource(sources.flatMap(\.candidates)) })
  }
}

extension KeySource.Candidate {
  /// A source that gives what `read` gives; the properties say what else it can do.
  package init(
    _ kind: SlotKind, _ identifier: String,
    read: @escaping @Sendable () throws(StorageError) -> KeyMaterial?
  ) {
    self.init(kind: kind, identifier: identifier, read: read)
  }
}

extension KeySource {
  /// The source of a storage that was created without a key: every use fails.
  package static let missing = KeySource(
    failing: StorageError(
      .keyUnavailable, "the storage was created without a key; pass it a key or a key source"))

  /// Whether both sources are one application key, and the same one.
  func isSameKey(as other: KeySource) throws(StorageError) -> Bool {
    let (mine, others) = (candidates, other.candidates)
    guard mine.count == 1, others.count == 1, mine[0].kind == .key, others[0].kind == .key,
      case .key(let key)? = try mine[0].read(), case .key(let otherKey)? = try others[0].read()
    else { return false }
    return key == otherKey
  }
}

extension KeySource: RedactedDescription {
  /// The kinds of the sources, in their order, without their content.
  public var description: String {
    "KeySource(\(candidates.map(\.title).joined(separator: ", ")))"
  }
}
