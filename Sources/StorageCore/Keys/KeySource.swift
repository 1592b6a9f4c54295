public import CryptoCore
internal import Glibc

public import struct Foundation.URL

/// Where a store's key comes from.
///
/// A store records which kind of source opened it when it was made, and from then on asks that one
/// and no other, and only if the application still lists it. A key is made only for a store that
/// holds neither a key slot nor data. Printing a source shows its kind, never what it holds.
public struct KeySource: Sendable {
  /// One rung of the ladder.
  package struct Candidate: Sendable {
    package let kind: SlotKind
    /// Tells sources of one kind apart; kept in the slot, in the clear.
    package let identifier: String
    /// How a passphrase from this source is stretched when a slot is made.
    package var derivation: PassphraseDerivation = .standard
    /// The material that is there now, or nil when the source is absent.
    package let read: @Sendable () throws(StorageError) -> KeyMaterial?
    /// Makes material where there was none, unless the place for it is absent as well; nil for
    /// sources that can't.
    package var make: (@Sendable () throws(StorageError) -> KeyMaterial?)?
    /// Called before something is sealed that only the material opens, so that its place can be marked
    /// as one that must not be made anew.
    package var keep: @Sendable () -> Void = {}
    /// The file that holds the material, for errors; nil where there is none or it can't be known.
    package var path: @Sendable () -> String? = { nil }
    /// Why the material is absent, as far as it is known, for errors.
    package var absence: @Sendable () -> String? = { nil }
    /// What can be seen of the source without asking it, which changes when its answer may.
    ///
    /// A ``SourceTrace``, or nil where only asking can tell. Quick.
    package var trace: @Sendable () -> Int? = { nil }

    /// A rung of the ladder; see the properties.
    package init(
      kind: SlotKind, identifier: String, derivation: PassphraseDerivation = .standard,
      read: @escaping @Sendable () throws(StorageError) -> KeyMaterial?,
      make: (@Sendable () throws(StorageError) -> KeyMaterial?)? = nil,
      keep: @escaping @Sendable () -> Void = {},
      path: @escaping @Sendable () -> String? = { nil },
      absence: @escaping @Sendable () -> String? = { nil },
      trace: @escaping @Sendable () -> Int? = { nil }
    ) {
      self.kind = kind
      self.identifier = identifier
      self.derivation = derivation
      self.read = read
      self.make = make
      self.keep = keep
      self.path = path
      self.absence = absence
      self.trace = trace
    }
  }

  private let rungs: @Sendable () -> [Candidate]

  /// Why there can never be a key, which is an error even where a store holds nothing to open.
  package let failure: StorageError?

  /// Whether it is ``automatic``, so that a storage may have a better one of its own.
  package var isAutomatic = false

  /// The rungs of the ladder, in their order.
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

  /// A source that is settled when it is needed, once: then it remembers why it had nothing to give.
  package init(deferred source: @escaping @Sendable () -> KeySource) {
    let settled = Lock<[Candidate]?>(nil)
    rungs = {
      if let candidates = settled.withLock({ $0 }) { return candidates }
      let candidates = source().candidates
      return settled.withLock { settled in
        settled = settled ?? candidates
        return settled!
      }
    }
    failure = nil
  }

  /// A key that the application holds: 32 bytes.
  ///
  /// A key of another size is the error `invalid` at first use.
  public static func key(_ key: SymmetricKey) -> KeySource {
    KeySource([
      Candidate(
        kind: .key, identifier: "",
        read: { () throws(StorageError) in try KeyMaterial.key(key).checked() }, trace: { 0 })
    ])
  }

  /// A passphrase.
  ///
  /// The `String` itself is ordinary memory and can't be wiped: prefer the forms that take
  /// `SecureBytes` or a closure. An empty passphrase is the error `invalid` at first use.
  ///
  /// - Parameters:
  ///   - text: the passphrase, used as its UTF-8 bytes without normalisation.
  ///   - derivation: how it is stretched when a slot is made for it.
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
    return passphrase(
      derivation, { () throws(StorageError) in try bytes.get() }, trace: { 0 })
  }

  /// A passphrase in memory that is wiped.
  ///
  /// - Parameters:
  ///   - bytes: the passphrase.
  ///   - derivation: how it is stretched when a slot is made for it.
  /// - Returns: the source.
  public static func passphrase(
    _ bytes: SecureBytes, derivation: PassphraseDerivation = .standard
  ) -> KeySource {
    passphrase(derivation, { () throws(StorageError) in bytes }, trace: { 0 })
  }

  /// A passphrase that is asked for when the store is opened, and kept no longer than that takes.
  ///
  /// - Parameters:
  ///   - derivation: how it is stretched when a slot is made for it.
  ///   - ask: gives the passphrase, or nil when there is none to be had. May be called again after
  ///     another process changed the store's keys. What it throws, if it is no `StorageError`, is the
  ///     error `keyUnavailable`.
  /// - Returns: the source.
  public static func passphrase(
    derivation: PassphraseDerivation = .standard,
    _ ask: @escaping @Sendable () throws -> SecureBytes?
  ) -> KeySource {
    passphrase(derivation, ask, trace: { nil })
  }

  private static func passphrase(
    _ derivation: PassphraseDerivation, _ ask: @escaping @Sendable () throws -> SecureBytes?,
    trace: @escaping @Sendable () -> Int?
  ) -> KeySource {
    KeySource([
      Candidate(
        kind: .passphrase, identifier: "", derivation: derivation,
        read: { () throws(StorageError) in
          guard let bytes = try asked(ask) else { return nil }
          return try KeyMaterial.passphrase(bytes).checked()
        }, trace: trace)
    ])
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
      // Its text may say what was typed.
      throw StorageError(
        .keyUnavailable, "the passphrase could not be had: \(type(of: error)) was thrown")
    }
  }

  /// A key file, readable by its owner alone; made with a fresh key if the store is new.
  ///
  /// It holds standard Base64 of 32 bytes and a line break; anything else is a passphrase. Refused
  /// with `denied` when it is not ours, when group or others can use it, or when it is a symbolic
  /// link.
  ///
  /// A marker, the file's name with `.made`, is left beside it by who seals under the key. A file that
  /// is gone while its marker is there is `keyUnavailable` and not made anew, also not for a new store.
  ///
  /// - Parameter url: a file URL.
  /// - Returns: the source.
  public static func file(_ url: URL) -> KeySource {
    let file = KeyFile(url)
    return .file(named: FilePath.name(of: url.path)) { () throws(StorageError) in file }
  }

  /// A key file that is found when it is needed.
  static func file(
    named name: String, _ find: @escaping @Sendable () throws(StorageError) -> KeyFile
  ) -> KeySource {
    KeySource([
      Candidate(
        kind: .file, identifier: name,
        read: { () throws(StorageError) in try find().read() },
        make: { () throws(StorageError) in try find().make() },
        keep: { do throws(StorageError) { try find().keep() } catch {} },
        path: {
          do throws(StorageError) { return try find().path } catch { return nil }
        },
        trace: {
          do throws(StorageError) {
            return try find().path.flatMap { SourceTrace.file($0) }
          } catch {
            return nil
          }
        })
    ])
  }

  /// An environment variable that holds standard Base64 of 32 bytes, or else a passphrase.
  ///
  /// Other processes of the user can read a process's environment; prefer a credential or a file.
  ///
  /// - Parameter name: the variable. Not set means absent; set and empty is `damaged`.
  /// - Returns: the source.
  public static func environment(_ name: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .environment, identifier: name,
        read: { () throws(StorageError) in try environmentMaterial(name) },
        absence: { "the variable is not set" }, trace: { SourceTrace.variable(name) })
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
      of: bytes, path: nil, source: "the environment variable \(name)")
  }

  /// A credential that systemd passed to the service, systemd.exec(5) `LoadCredential=`.
  ///
  /// The file of that name in `$CREDENTIALS_DIRECTORY`, holding standard Base64 of 32 bytes, or
  /// else a passphrase.
  ///
  /// - Parameter name: the credential's name.
  /// - Returns: the source.
  public static func systemdCredential(_ name: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .systemdCredential, identifier: name,
        read: { () throws(StorageError) in try credentialMaterial(name) },
        absence: {
          StandardFolders.environment("CREDENTIALS_DIRECTORY")
            .map { "\($0)/\(name) is not there" } ?? "CREDENTIALS_DIRECTORY is not set"
        },
        trace: {
          // The variable says where the file is: another folder is another path to look at.
          guard let folder = StandardFolders.environment("CREDENTIALS_DIRECTORY") else { return 0 }
          return SourceTrace.file(folder + "/" + name)
        })
    ])
  }

  private static func credentialMaterial(_ name: String) throws(StorageError) -> KeyMaterial? {
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw StorageError(.invalid, "\"\(name)\" can't be the name of a credential")
    }
    guard let folder = StandardFolders.environment("CREDENTIALS_DIRECTORY") else { return nil }
    return try KeyFile.read(credential: folder + "/" + name)
  }

  /// A secret that somebody has mounted for this process as a file: by Kubernetes, Docker or Podman.
  ///
  /// The file holds standard Base64 of 32 bytes, or else a passphrase, in at most 4,096 bytes. Links are
  /// followed, and whoever owns the file, its mode and its folder are as they are: whoever mounts it is
  /// trusted, see SECURITY.md. Nothing is ever made there, no file and no marker. A store records it as a
  /// key file of its name: one that was made with ``file(_:)`` opens with the same file mounted, and the
  /// other way round.
  ///
  /// It is `denied` where this user can't read it or it is no regular file, `damaged` where it is empty or
  /// too long, and absent where nothing is there, be it since a link leads nowhere.
  ///
  /// - Parameter path: the absolute path, as in `/run/secrets/tool-key`; any other is the error `invalid`.
  /// - Returns: the source.
  public static func mountedSecret(_ path: String) -> KeySource {
    KeySource([
      Candidate(
        kind: .file, identifier: FilePath.name(of: path),
        read: { () throws(StorageError) in try KeyFile.read(mounted: path) },
        path: { path }, absence: { "\(path) is not there" },
        trace: { SourceTrace.file(path) })
    ])
  }

  /// A source of the application's own.
  ///
  /// A key of another size than 32 bytes and an empty passphrase are the error `invalid`.
  public static func provider(_ provider: some KeyProvider) -> KeySource {
    var candidate = Candidate(
      kind: .provider, identifier: provider.identifier,
      read: { () throws(StorageError) in try provider.material()?.checked() })
    if provider.makesKeys {
      candidate.make = { () throws(StorageError) in try provider.makeMaterial().checked() }
    }
    return KeySource([candidate])
  }

  /// A recovery key that was exported from the store.
  public static func recovery(_ key: RecoveryKey) -> KeySource {
    KeySource([
      Candidate(
        kind: .recovery, identifier: "", read: { () throws(StorageError) in .key(key.key) },
        trace: { 0 })
    ])
  }

  /// The first of several sources that is there.
  ///
  /// Only absence moves on to the next: one that is locked, denied, timed out or damaged stops the
  /// search with its error. For a store that exists, only sources that it has a slot for are asked.
  public static func firstAvailable(_ sources: [KeySource]) -> KeySource {
    // One of them may be that of a program that says later what it is called.
    KeySource(deferred: { KeySource(sources.flatMap(\.candidates)) })
  }
}

extension KeySource {
  /// The first material that there is, or that can be made, and the source that gave it.
  func materialForNewSlot() throws(StorageError) -> (Candidate, KeyMaterial) {
    for candidate in candidates {
      if let material = try candidate.read() { return (candidate, material) }
      if let make = candidate.make, let material = try make() { return (candidate, material) }
    }
    let asked = candidates.map(\.titleAndAbsence).joined(separator: ", ")
    throw StorageError(
      .keyUnavailable,
      "no key source gave a key for the new key slot (asked: \(asked)); provide one of them")
  }
}

extension KeySource: RedactedDescription {
  /// The kinds of the sources, in their order, and nothing that they hold.
  public var description: String {
    "KeySource(\(candidates.map(\.title).joined(separator: ", ")))"
  }
}

extension KeySource.Candidate {
  /// The kind and what tells it from others.
  var title: String { identifier.isEmpty ? "\(kind)" : "\(kind) \(identifier)" }

  /// The same, and why it has nothing to give where that is known.
  var titleAndAbsence: String { title + (absence().map { ": \($0)" } ?? "") }
}
