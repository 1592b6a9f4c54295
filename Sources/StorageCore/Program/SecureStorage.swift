internal import CryptoCore
internal import Glibc
internal import Synchronization

/// The settings of the program's `.standard` storages: its name, its key source and its access
/// rights.
public enum SecureStorage: Sendable {
  /// The settings of the program.
  public struct Configuration: Sendable {
    /// The name of the program's stores and folders.
    public let applicationID: String
    /// The source of the stores' keys.
    public let keySource: KeySource
    /// What the standard storages may do.
    public let access: StoreAccess
    /// Who may write to the folders of the standard vault and the standard sealed folder.
    public let folderTrust: FolderTrust
    /// Whether `applicationID` is the name of the executable, since bootstrap was not called.
    fileprivate var isNamedByExecutable = false

    /// Returns the configuration; throws `invalid` if the application id can't name a file.
    fileprivate func validated() throws(StorageError) -> Configuration {
      guard !applicationID.isEmpty || !isNamedByExecutable else {
        throw StorageError(
          .unavailable,
          "the application has no id: bootstrap was not called, and the name of the executable can't be "
            + "read from /proc/self/exe. Call SecureStorage.bootstrap(applicationID:) at the start of "
            + "the program, or mount /proc")
      }
      try StandardFolders.validate(applicationID)
      return self
    }
  }

  /// The settings in force, and what fixed them, for the error of a later call.
  private struct Fixed {
    let configuration: Configuration
    let fact: String
  }

  private static let state = Lock<Fixed?>(nil)
  private static let hasFixed = Atomic<Bool>(false)

  /// Whether the settings are in force.
  static var isFixed: Bool { hasFixed.load(ordering: .acquiring) }

  /// Sets the program's name and key source, once, at the start of the program.
  ///
  /// Call it before any `.standard` storage is used. Without this call, the name is that of the
  /// executable and the source is ``KeySource/automatic``.
  ///
  /// A second call, or a call after a `.standard` storage was used, ends the process, as in
  /// swift-log: otherwise one half of the program would use another key than the other half. The
  /// message names the file and line of the first call or of the property.
  /// - Parameters:
  ///   - applicationID: 1 to 128 bytes that can name a file, such as `com.example.tool`. With any
  ///     other id, every use of a `.standard` storage is the error `invalid`.
  ///   - keySource: the source of the keys.
  ///   - access: what the standard storages may do, `StorageRouter.shared` of LocalData and
  ///     `SymmetricKey.generate(key:)` among them. With `.mustExist` no store is ever created, nor
  ///     LocalData's ledger, without which it stores nothing; with `.readOnly` no store is changed.
  ///   - folderTrust: who may write to the folders of the standard vault and the standard sealed
  ///     folder, and to the folders above them: `.processGroup` for a volume of a container.
  ///   - fileID: the source file of the call, named in the error of a second call.
  ///   - line: the line of the call.
  public static func bootstrap(
    applicationID: String, keySource: KeySource = .automatic, access: StoreAccess = .readWrite,
    folderTrust: FolderTrust = .owner, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let other = state.withLock { fixed -> Fixed? in
      if let fixed { return fixed }
      fixed = Fixed(
        configuration: Configuration(
          applicationID: applicationID, keySource: keySource, access: access,
          folderTrust: folderTrust),
        fact: "was called twice: the first call is at \(SourcePlace(fileID, line))")
      return nil
    }
    guard let other else { return hasFixed.store(true, ordering: .releasing) }
    // A mistake in the program that no caller can handle. Not a precondition, because a release
    // build omits its text.
    fatalError(
      "SecureStorage.bootstrap \(other.fact). Call it once, at the start of main", file: fileID,
      line: line)
  }

  /// The settings in force.
  ///
  /// If `bootstrap` was not called, the first use fixes the default settings.
  public static var configuration: Configuration {
    state.withLock { fixed in
      if let fixed { return fixed.configuration }
      let configuration = Configuration(
        applicationID: executableName, keySource: .automatic, access: .readWrite,
        folderTrust: .owner, isNamedByExecutable: true)
      fixed = Fixed(
        configuration: configuration,
        fact: "was called after \(StandardUse.description) was used")
      Self.hasFixed.store(true, ordering: .releasing)
      return configuration
    }
  }

  /// The settings in force, for code that uses the program's own data; a test process is warned.
  ///
  /// - Parameter use: the name of what is used.
  /// - Returns: the settings.
  /// - Throws: `StorageError`: `invalid` if the application id can't name a file, and in the child
  ///   process of an exit test.
  package static func configuration(for use: String) throws(StorageError) -> Configuration {
    let configuration = try configuration.validated()
    try TestProcess.check(StandardUse.current.map { "\(use) for \($0.title)" } ?? use)
    return configuration
  }

  /// The name of the executable file; program arguments can't change it.
  static let executableName: String = {
    var buffer = [CChar](repeating: 0, count: 4097)
    let count = unsafe readlink("/proc/self/exe", &buffer, 4096)
    guard count > 0 else { return "" }
    // Without a name, the program has to say its own: `SecureStorage.bootstrap`.
    guard let path = unsafe SystemText.exact(buffer) else { return "" }
    return name(ofExecutable: path, isThere: unsafe access(path, F_OK) == 0)
  }()

  /// The name of an executable file, from its path in /proc.
  ///
  /// proc(5): the path has the suffix " (deleted)" if the file was removed or replaced, as an
  /// upgrade does.
  static func name(ofExecutable path: String, isThere: Bool) -> String {
    let note = " (deleted)"
    guard path.hasSuffix(note), !isThere else { return FilePath.name(of: path) }
    return FilePath.name(of: String(path.dropLast(note.count)))
  }
}
