internal import Foundation

/// The real `gnome-keyring-daemon` on a private bus, with a home of its own.
///
/// It shows no prompts: actions that would prompt use the password instead. It ends with its bus,
/// with its last reference and with the process. Any thread may use it.
public final class GnomeKeyring: Sendable {
  /// The bus that it is on.
  public let bus: PrivateBus

  let passwordForCollections: String
  private let folder: TemporaryFolder
  private let program: String
  private let daemon = Guarded<ChildProcess?>(nil)

  /// Starts a daemon.
  ///
  /// - Parameters:
  ///   - bus: where it serves.
  ///   - password: of the collection `login`, at most 4,096 bytes; it is made and unlocked.
  ///   - hasDefaultCollection: `false` for a daemon that has no collection but the one in memory.
  /// - Throws: ``KeyringTestingError`` when it does not serve within 30 seconds.
  public init(
    on bus: PrivateBus, password: String = "password", hasDefaultCollection: Bool = true
  ) throws {
    self.bus = bus
    passwordForCollections = password
    folder = try TemporaryFolder()
    for name in ["home", "data", "runtime"] { _ = try folder.makeFolder(name) }
    program = folder.path + "/gnome-keyring-daemon"
    try copyProgram()
    try start(unlocked: hasDefaultCollection)
  }

  // This comes first: a daemon whose bus goes away removes its own files while the folder is
  // removed.
  deinit { kill() }

  /// Where its files are: a folder that holds `keyrings`.
  package var dataFolder: String { folder.path + "/data" }

  /// The environment variables that a client needs to use this daemon, and nothing of the user's
  /// own.
  public var environment: [String: String] {
    bus.environment.merging([
      "HOME": folder.path + "/home", "XDG_DATA_HOME": dataFolder,
      "XDG_RUNTIME_DIR": folder.path + "/runtime",
    ]) { $1 }
  }

  /// Ends the daemon at once.
  package func kill() { daemon.withLock { $0.take() }?.kill() }

  /// Ends the daemon, if it runs, and starts it again with the same files.
  ///
  /// - Parameter unlocked: whether `login` is unlocked, and made where there is none.
  /// - Throws: ``KeyringTestingError`` when it does not serve within 30 seconds.
  public func restart(unlocked: Bool = true) throws {
    kill()
    try start(unlocked: unlocked)
  }

  /// Stops the daemon without ending it: it keeps its name, and answers nothing.
  package func suspend() { daemon.withLock { $0?.suspend() } }

  /// Lets a suspended daemon go on.
  package func resume() { daemon.withLock { $0?.send(SIGCONT) } }

  private func start(unlocked: Bool) throws(KeyringTestingError) {
    // gnome-keyring 42 to 50 abort if a program's first call comes before they have noted the
    // program, for example while they start: their record of the caller is missing.
    for _ in 1...5 where try serves(unlocked: unlocked) { return }
    throw KeyringTestingError("gnome-keyring-daemon aborts: \(folder.contents(of: "log"))")
  }

  /// Starts the daemon, and waits until it serves.
  ///
  /// - Returns: `false` when it aborted.
  private func serves(unlocked: Bool) throws(KeyringTestingError) -> Bool {
    let child = try ChildProcess(
      [program, "--components=secrets", "--foreground"] + (unlocked ? ["--unlock"] : []),
      environment: plainEnvironment.merging(environment) { $1 },
      input: unlocked ? passwordForCollections : "", log: folder.path + "/log")
    let client = try bus.connect()
    // It exits with 0 on a wrong password, or goes on without having unlocked anything.
    let serves = try Deadline(.seconds(30)).holds { () throws(KeyringTestingError) in
      if child.hasEnded { return true }
      guard try client.hasOwner(SecretServiceName.bus) else { return false }
      // An error is no answer yet: the collection is made after the name is taken.
      return !unlocked || (try? SecretServiceClient(client).isLocked("login")) == false
    }
    if child.wasEndedBySignal { return false }
    guard serves, !child.hasEnded else {
      throw KeyringTestingError(
        "gnome-keyring-daemon does not serve: \(folder.contents(of: "log"))")
    }
    daemon.withLock { $0 = child }
    return true
  }

  /// Copies the daemon, because the installed one may have a capability to lock memory.
  ///
  /// prctl(2): executing a file that has capabilities cancels the signal at its parent's death; in
  /// a container without the capability the file does not start at all. A child makes the copy:
  /// execve(2) refuses a file that anyone has open for writing, and a program that another thread
  /// starts meanwhile would inherit ours.
  private func copyProgram() throws(KeyringTestingError) {
    let name = "gnome-keyring-daemon"
    let folders = plainEnvironment["PATH", default: ""].split(separator: ":")
    let found = folders.map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let found else { throw KeyringTestingError("\(name) is not on the path") }
    let copying = try ChildProcess(
      ["cp", "--", found, program], environment: plainEnvironment, log: folder.path + "/log")
    guard copying.hasEnded(within: .seconds(30)),
      FileManager.default.isExecutableFile(atPath: program)
    else { throw KeyringTestingError("\(name) can't be copied: \(folder.contents(of: "log"))") }
  }
}
