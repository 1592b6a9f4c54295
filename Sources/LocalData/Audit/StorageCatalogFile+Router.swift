public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.URL

extension StorageCatalogFile {
  /// A router of the application, for a tool that reads and changes values without running the
  /// application.
  ///
  /// The tool makes a ``StoredKey`` of a declaration in ``keys``, with a type of its own that reads
  /// the same bytes. Running programs see its changes. Fixed salts and the `info` of HKDF are not
  /// in the file: values that the tool writes don't have them, and the application reads them all
  /// the same.
  ///
  /// - Parameters:
  ///   - applicationID: the application; nil means the id in the file.
  ///   - keySource: the source of the key of its stores.
  ///   - folder: the folder that holds all of its places, if its router was created with one; nil
  ///     for the standard places.
  ///   - access: `.readOnly` for a tool that only reads: every change is then `readOnly`, in each domain.
  ///   - passcode: returns the passcode, as for ``StorageRouter/registerPasscode(_:)``.
  /// - Returns: a router with the configuration in the file, and without a catalog.
  /// - Throws: `StorageError`: `invalid` if there is no id, or it is not a valid one.
  public func router(
    applicationID: String? = nil, keySource: KeySource, folder: URL? = nil,
    access: StoreAccess = .readWrite, passcode: (@Sendable () throws -> SecureBytes?)? = nil
  ) throws(StorageError) -> StorageRouter {
    let core = try core(applicationID, keySource, folder, access: access)
    core.state.withLock { $0.passcode = passcode }
    return StorageRouter(core)
  }

  func core(
    _ applicationID: String?, _ keySource: KeySource, _ folder: URL?,
    access: StoreAccess = .readWrite
  ) throws(StorageError) -> RouterCore {
    guard let id = applicationID ?? self.applicationID else {
      throw StorageError(
        .invalid, "the catalog does not name its application; give the application's id")
    }
    try StandardFolders.validate(id)
    let root: String? = if let folder { try PathText.absolute(folder) } else { nil }
    let configuration = configuration ?? AuditConfiguration()
    let core = RouterCore(
      Places(
        Locations(application: { () throws(StorageError) in id }, root: root), keySource,
        access: { access }),
      configuration.storage)
    core.state.withLock { state in
      state.encryption = configuration.encryption
      state.files = configuration.files
    }
    return core
  }
}
