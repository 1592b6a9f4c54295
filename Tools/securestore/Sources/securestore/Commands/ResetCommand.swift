internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Discards a vault, whatever its file contains.
struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Discard the store with all its values, and start anew.",
    discussion: """
      For a store whose key is lost, or that is damaged beyond repair. Nothing is opened, and no key \
      is needed. All values and all key slots are gone afterwards; only a backup has them then. The \
      key file stays, since other stores may need it. The command asks first, unless --yes is given. \
      A value of a sealed folder that another program is just writing is not removed. An application whose \
      key file is gone gets a new one once all stores that needed it are discarded.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @Option(
    help: ArgumentHelp(
      "The store's key file, if it is gone and a new one is to be made in its place.",
      valueName: "path"), completion: .file())
  var keyFile: String?

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws { try store.place().reset(self) }
}

extension SuitePlace {
  func reset(_ command: ResetCommand) throws {
    guard command.keyFile == nil else {
      throw Failure(.usage, "--key-file is for vaults; a suite's key file needs no name here")
    }
    guard try Path.isThere(path) else {
      throw Failure(.unavailable, "nothing is there to discard; check the name", path: path)
    }
    try command.requireConsent(path)
    try discard()
    try command.output.output.done(
      "discarded \(path)", ["path": path, "wasThere": true, "keyFile": JSONValue.null])
  }
}

extension FolderPlace {
  func reset(_ command: ResetCommand) throws {
    try index.requireNoTypedStorage()
    try index.reset(command, subject: path) { try folder($0).discard() }
  }
}

extension ResetCommand {
  fileprivate func requireConsent(_ path: String) throws {
    guard !isConfirmed else { return }
    try Terminal.requireConsent(
      "Discard \(path)?", path,
      showing: ["All values in \(path) will be gone, also if the key is found again later."])
  }
}

extension VaultPlace {
  func reset(_ command: ResetCommand) throws {
    try requireNoTypedStorage()
    guard !isIndex else {
      throw Failure(
        .usage, "this is the index of a sealed folder; discard the folder with files reset",
        path: path)
    }
    try reset(command, subject: path) { try storage($0).discard() }
  }

  fileprivate func requireNoTypedStorage() throws {
    guard !isOfTypedStorage else {
      throw Failure(
        .usage,
        "this is a store of typed storage, and the application's other stores depend on it: remove the "
          + "application's data folder by hand", path: path)
    }
  }

  /// Runs `body`, which discards the store at `subject`, if the operator agrees.
  ///
  /// - Parameters:
  ///   - command: the key file of the store, if it was named.
  ///   - subject: the path of the vault or of the sealed folder.
  ///   - body: gets the source whose key may be made anew; it is asked for no key.
  /// - Throws: `Failure` if nothing may be discarded, or the error of `body`.
  fileprivate func reset(
    _ command: ResetCommand, subject: String, _ body: (KeySource) throws -> Void
  ) throws {
    let isThere = try ["", "-wal", "-journal"].contains { try Path.isThere(path + $0) }
    if isNamed {
      guard try isThere || isIndexOfFiles else {
        throw Failure(.unavailable, "nothing is there to discard; check the path", path: subject)
      }
      // A mistyped path must not cost a file of another program.
      guard try !Path.isThere(path) || Path.isVaultOrEmpty(path) else {
        throw Failure(
          .usage,
          "what is at this path is not a vault, so it was not touched; remove it by hand if nothing needs "
            + "it", path: path)
      }
    }
    try command.requireConsent(subject)
    let given = try command.keyFile.map { try Path.absolute($0) }
    let key = try given ?? keyFile(of: nil)
    try body(
      given.map { .file(URL(fileURLWithPath: $0)) }
        ?? (application == nil ? .firstAvailable([]) : .automatic))
    let kept = try key.flatMap { try Path.isThere($0) ? $0 : nil }
    try command.output.output.done(
      "discarded \(subject)", ["path": subject, "wasThere": isThere, "keyFile": kept])
    if let kept {
      command.output.output.note("the key file \(kept) stays; a new store opens with it")
    }
  }
}
