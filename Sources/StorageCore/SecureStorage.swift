internal import CryptoCore
internal import Glibc

internal import struct Foundation.URL

/// What every `.standard` storage of the program uses: its name and its key source.
public enum SecureStorage: Sendable {
  /// The settings of the program.
  public struct Configuration: Sendable {
    /// Names the program's stores and folders.
    public let applicationID: String
    /// Where the keys of its stores come from.
    public let keySource: KeySource

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

  private static let state = Lock<Configuration?>(nil)

  /// Sets the program's name and key source, once, at the start of the program.
  ///
  /// Call it before any `.standard` storage is used. Without it, the name is that of the
  /// executable and the source ``KeySource/automatic``. A second call, or one after a `.standard`
  /// storage was used, ends the process, as with swift-log: half of the program would use another
  /// key than the other half.
  ///
  /// - Parameters:
  ///   - applicationID: 1 to 128 bytes that can name a file, as in `com.example.tool`. Any other is
  ///     the error `invalid` at every use of a `.standard` storage.
  ///   - keySource: where the keys come from.
  public static func bootstrap(applicationID: String, keySource: KeySource = .automatic) {
    state.withLock { configuration in
      guard configuration == nil else {
        // A mistake of the program's, that no caller could mend. Not a precondition, whose text a
        // release build leaves out.
        fatalError("SecureStorage.bootstrap was called twice, or after a standard storage was used")
      }
      configuration = Configuration(applicationID: applicationID, keySource: keySource)
    }
  }

  /// The settings in force.
  ///
  /// The first call without a bootstrap settles them.
  public static var configuration: Configuration {
    state.withLock { configuration in
      if let configuration { return configuration }
      let settled = Configuration(applicationID: executableName, keySource: .automatic)
      configuration = settled
      return settled
    }
  }

  /// The name of the executable file, which an argument can't change.
  private static let executableName: String = {
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
    let application = try SecureStorage.configuration.validated().applicationID
    let folder = try StandardFolders.data(application: application)
    return KeyFile(URL(fileURLWithPath: folder + "/master.key"))
  }
}
