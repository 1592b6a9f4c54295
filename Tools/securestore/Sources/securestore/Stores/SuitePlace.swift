internal import DefaultsBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// A suite that the operator named, and the sources of its key.
struct SuitePlace {
  /// The absolute path of its file.
  let path: String
  /// Stands for the suite where options of a key need a place.
  private let place: VaultPlace
  private let authenticationTag: Data?

  /// - Parameters:
  ///   - suite: its name, or the path of its file, which has a slash in it.
  ///   - options: the application, and how long to wait.
  /// - Throws: `Failure` or `StorageError` for a name or a path that no suite has.
  init(_ suite: String, _ options: StoreOptions) throws {
    if suite.contains("/") {
      path = try Path.absolute(suite)
    } else {
      path = try Self.standardPath(of: suite)
    }
    authenticationTag = options.tag
    place = try VaultPlace(
      path: path, application: options.app ?? Environment.value("SECURESTORE_APP"),
      authenticationTag: authenticationTag, deadline: options.deadline,
      commandTimeout: options.commandTimeout?.duration)
  }

  /// The path of a suite by its name.
  static func standardPath(of suite: String) throws -> String {
    let delegate = DefaultsDelegate(suiteName: suite)
    if let path = delegate.location { return path }
    // Throws the reason: a bad name, or a missing environment variable.
    _ = try delegate.header()
    throw Failure(.unavailable, "there is no place for suites of UserDefaults")
  }

  /// The suite, which must exist: a command that only uses a suite never makes it.
  func open(_ options: KeyOptions) throws -> DelegatedStorage {
    guard try Path.isThere(path) else {
      throw Failure(
        .unavailable, "the suite does not exist; check its name, or start its application first",
        path: path)
    }
    let storage = storage(try keySource(options))
    try storage.open(.mustExist)
    return storage
  }

  /// What opens the suite; none if it can't be read.
  func slots() throws -> [KeySlot] {
    try storage(.firstAvailable([])).keyAdministration.slots()
  }

  /// Removes all values, without a key.
  func discard() throws {
    let source: KeySource = place.application == nil ? .firstAvailable([]) : .automatic
    try storage(source).discard()
  }

  private func storage(_ source: KeySource) -> UserDefaultsStorage {
    UserDefaultsStorage(
      at: URL(fileURLWithPath: path, isDirectory: false), keySource: source,
      deadline: place.deadline, authenticationTag: authenticationTag)
  }

  /// The key option; else the application's own source, or the key of the environment, and the
  /// keys in the keyring that the suite names.
  private func keySource(_ options: KeyOptions) throws -> KeySource {
    let choice = try options.choice()?.named(by: slots())
    let keyring = try keyringKeys()
    if case .named(.keyring(nil))? = choice, !keyring.isEmpty { return .firstAvailable(keyring) }
    if let choice { return try choice.source(for: place, opening: path) }
    var sources = keyring
    if place.application != nil {
      sources.insert(.automatic, at: 0)
    } else if let own = try place.ownChoice?.named(by: slots()) {
      sources.insert(try own.source(for: place, opening: path), at: 0)
    }
    guard !sources.isEmpty else {
      throw Failure(
        .usage,
        "say which key opens the suite: --app ID for the application's own key, or a key option",
        path: path)
    }
    return .firstAvailable(sources)
  }

  private func keyringKeys() throws -> [KeySource] {
    try slots().filter { $0.kind == KeySlot.keyringKind }.map { try place.keyring($0.identifier) }
  }
}
