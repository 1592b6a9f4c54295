internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Discards a vault, whatever its file contains.
struct ResetCommand: ValueCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Discard the vault with all its values, and start anew.",
    discussion: """
      For a vault whose key is lost, or that is damaged beyond repair. Nothing is opened, and no key \
      is needed. All values and all key slots are gone afterwards; only a backup has them then. The \
      key file stays, since other stores may need it. The command asks first, unless --yes is given. \
      With --suite it discards a suite; an application whose key file is gone gets a new one once all \
      stores that needed it are discarded.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @Option(
    help: ArgumentHelp(
      "The vault's key file, if it is gone and a new one is to be made in its place.",
      valueName: "path"), completion: .file())
  var keyFile: String?

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup var suite: SuiteOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    switch try place() {
    case .vault(let place): try discard(place)
    case .suite(let suite):
      guard keyFile == nil else {
        throw Failure(.usage, "--key-file is for vaults; a suite's key file needs no name here")
      }
      try suite.reset(isConfirmed, output.output)
    case .etcd(let place): try place.discard()
    }
  }

  private func discard(_ place: VaultPlace) throws {
    guard try !place.isIndexOfFiles else {
      throw Failure(
        .usage, "this is the index of a sealed folder; discard the folder with files reset",
        path: place.path)
    }
    guard !place.isOfTypedStorage else {
      throw Failure(
        .usage,
        "this is a store of typed storage, and the application's other stores depend on it: remove the "
          + "application's data folder by hand", path: place.path)
    }
    try place.reset(isConfirmed, keyFile, output.output, subject: place.path) {
      try place.storage($0).discard()
    }
  }
}

extension SuitePlace {
  /// Discards the suite, if the operator agrees.
  fileprivate func reset(_ isConfirmed: Bool, _ output: Output) throws {
    guard try Path.isThere(path) else {
      throw Failure(.unavailable, "nothing is there to discard; check the name", path: path)
    }
    if !isConfirmed {
      let terminal = try Terminal(for: "a confirmation", instead: "--yes")
      try terminal.show("All values in \(path) will be gone, also if the key is found again later.")
      guard try terminal.confirm("Discard \(path)?") else {
        throw Failure(.cancelled, "nothing was changed", path: path)
      }
    }
    try discard()
    try output.done(
      "discarded \(path)",
      .object([("path", .string(path)), ("wasThere", .bool(true)), ("keyFile", .null)]))
  }
}

/// Discards a sealed folder, whatever its files contain.
struct ResetFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Discard the folder with all its values, and start anew.",
    discussion: """
      As reset does for a vault. A value that another program is just writing is not removed. The \
      command asks first, unless --yes is given.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @Option(
    help: ArgumentHelp(
      "The folder's key file, if it is gone and a new one is to be made in its place.",
      valueName: "path"), completion: .file())
  var keyFile: String?

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try folder.place()
    try place.index.reset(isConfirmed, keyFile, output.output, subject: place.path) {
      try place.folder($0).discard()
    }
  }
}

extension VaultPlace {
  /// Runs `body`, which discards the store at `subject`, if the operator agrees.
  ///
  /// - Parameters:
  ///   - isConfirmed: whether the operator has agreed already.
  ///   - keyFile: the key file of the store, if it was named.
  ///   - output: receives the answer.
  ///   - subject: the path of the vault or of the sealed folder.
  ///   - body: gets the source whose key may be made anew; it is asked for no key.
  /// - Throws: `Failure` if nothing may be discarded, or the error of `body`.
  fileprivate func reset(
    _ isConfirmed: Bool, _ keyFile: String?, _ output: Output, subject: String,
    _ body: (KeySource) throws -> Void
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
    if !isConfirmed {
      let terminal = try Terminal(for: "a confirmation", instead: "--yes")
      try terminal.show(
        "All values in \(subject) will be gone, also if the key is found again later.")
      guard try terminal.confirm("Discard \(subject)?") else {
        throw Failure(.cancelled, "nothing was changed", path: subject)
      }
    }
    let key = try keyFile.map { try Path.absolute($0) } ?? self.keyFile(of: nil)
    try body(
      keyFile == nil
        ? application == nil ? .firstAvailable([]) : .automatic
        : .file(URL(fileURLWithPath: key ?? "")))
    let isKept = try key.map { try Path.isThere($0) } ?? false
    try output.done(
      "discarded \(subject)",
      .object([
        ("path", .string(subject)), ("wasThere", .bool(isThere)),
        ("keyFile", isKept ? key.map { .string($0) } ?? .null : .null),
      ]))
    if isKept, let key { output.note("the key file \(key) stays; a new store opens with it") }
  }
}
