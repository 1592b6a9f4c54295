internal import CryptoCore
internal import Glibc
internal import Synchronization

/// What every `.standard` storage of the program uses: its name and its key source.
public enum SecureStorage: Sendable {
  /// The settings of the program.
  public struct Configuration: Sendable {
    /// Names the program's stores and folders.
    public let applicationID: String
    /// Where the keys of its stores come from.
    public let keySource: KeySource
    /// What the standard storages may do.
    public let access: Access
    /// Who may write to the folders of the standard vault and sealed folder.
    public let folderTrust: FolderTrust

    /// Throws `invalid` unless the application id can name a file.
    package func validated() throws(StorageError) -> Configuration {
      try SecureStorage.validate(applicationID)
      return self
    }
  }

  /// Throws `invalid` unless the application id can name a file.
  package static func validate(_ applicationID: String) throws(StorageError) {
    let isName =
      !applicationID.isEmpty && applicationID.utf8.count <= 128 && applicationID != "."
      && applicationID != ".." && !applicationID.utf8.contains { $0 < 32 || $0 == 47 }
    guard isName else {
      throw StorageError(
        .invalid, "an application id has 1 to 128 bytes, and no slash or control character")
    }
  }

  /// The settings in force, and what settled them, for the error of who comes later.
  private struct Settled {
    let configuration: Configuration
    let fact: String
  }

  private static let state = Lock<Settled?>(nil)
  private static let settled = Atomic<Bool>(false)

  /// Whether the settings are in force.
  static var isSettled: Bool { settled.load(ordering: .acquiring) }

  /// Sets the program's name and key source, once, at the start of the program.
  ///
  /// Call it before any `.standard` storage is used. Without it, the name is that of the
  /// executable and the source ``KeySource/automatic``. A second call, or one after a `.standard`
  /// storage was used, ends the process, as with swift-log: half of the program would use another
  /// key than the other half. The text says at which file and line the other call or the property is.
  ///
  /// - Parameters:
  ///   - applicationID: 1 to 128 bytes that can name a file, as in `com.example.tool`. Any other is
  ///     the error `invalid` at every use of a `.standard` storage.
  ///   - keySource: where the keys come from.
  ///   - access: what the standard storages may do: with `.mustExist` none is ever made, with `.readOnly`
  ///     none is changed.
  ///   - folderTrust: who may write to the folder of the standard vault and of the standard sealed folder,
  ///     and to the folders on the way: `.processGroup` for a volume of a container.
  ///   - fileID: the place of the call, for the error of a second one.
  ///   - line: its line.
  public static func bootstrap(
    applicationID: String, keySource: KeySource = .automatic, access: Access = .readWrite,
    folderTrust: FolderTrust = .owner, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let other = state.withLock { settled -> Settled? in
      if let settled { return settled }
      settled = Settled(
        configuration: Configuration(
          applicationID: applicationID, keySource: keySource, access: access,
          folderTrust: folderTrust),
        fact: "was called twice: the first call is at \(SourcePlace(fileID, line))")
      return nil
    }
    guard let other else { return settled.store(true, ordering: .releasing) }
    // A mistake of the program's, that no caller could mend. Not a precondition, whose text a
    // release build leaves out.
    fatalError(
      "SecureStorage.bootstrap \(other.fact). Call it once, first thing in main", file: fileID,
      line: line)
  }

  /// The settings in force.
  ///
  /// The first call without a bootstrap settles them.
  public static var configuration: Configuration {
    state.withLock { settled in
      if let settled { return settled.configuration }
      let configuration = Configuration(
        applicationID: executableName, keySource: .automatic, access: .readWrite,
        folderTrust: .owner)
      settled = Settled(
        configuration: configuration,
        fact: "was called after \(StandardUse.description) was used")
      Self.settled.store(true, ordering: .releasing)
      return configuration
    }
  }

  /// The settings in force, for what uses the program's own data: a process of tests is told of that.
  ///
  /// - Parameter use: names what is used.
  /// - Returns: the settings.
  package static func configuration(for use: String) -> Configuration {
    let configuration = configuration
    TestProcess.warn(of: StandardUse.current.map { "\(use) for \($0.title)" } ?? use)
    return configuration
  }

  /// The name of the executable file, which an argument can't change.
  static let executableName: String = {
    var buffer = [CChar](repeating: 0, count: 4097)
    let count = unsafe readlink("/proc/self/exe", &buffer, 4096)
    guard count > 0 else { return "" }
    let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name(ofExecutable: path, isThere: unsafe access(path, F_OK) == 0)
  }()

  /// The name of a file as proc(5) has it: of one that was removed or replaced since, as an upgrade
  /// does it, with a note behind.
  static func name(ofExecutable path: String, isThere: Bool) -> String {
    let note = " (deleted)"
    guard path.hasSuffix(note), !isThere else { return FilePath.name(of: path) }
    return FilePath.name(of: String(path.dropLast(note.count)))
  }
}

extension KeySource {
  /// The systemd credential `securestorage-key`, or else the key file `master.key` in the
  /// application's data folder, which is made if the store is new.
  ///
  /// The data folder is `$STATE_DIRECTORY` under systemd, else
  /// `$XDG_DATA_HOME/<application id>`.
  public static var automatic: KeySource {
    var source = KeySource.firstAvailable([.standardCredential, .masterKeyFile])
    source.isAutomatic = true
    return source
  }

  /// The credential `securestorage-key`.
  package static var standardCredential: KeySource { .systemdCredential("securestorage-key") }

  /// The key file `master.key` in the application's data folder.
  package static var masterKeyFile: KeySource {
    .file(named: "master.key") { () throws(StorageError) in try findMasterKeyFile() }
  }

  /// Found when it is needed, since that is when the environment can be an error.
  private static func findMasterKeyFile() throws(StorageError) -> KeyFile {
    let application = try SecureStorage.configuration(for: "the key file master.key").validated()
      .applicationID
    return KeyFile(path: try StandardFolders.data(application: application) + "/master.key")
  }
}
