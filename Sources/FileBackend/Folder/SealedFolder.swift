public import CryptoCore
internal import Glibc
public import StorageCore
package import VaultBackend

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

/// Values of any size in a folder, each under a name: sealed, durable, read in parts, shared by any
/// number of processes.
///
///     let folder = SealedFolder(at: url, keySource: .automatic)
///     try folder.write(data, named: "avatar")
///     try folder.write(contentsOf: fileURL, named: "backup")
///     let head = try folder.reader(named: "backup")?.read(0..<4096)
///
/// A vault in the folder, `index.vault`, has the names, the keys and the values of up to 16 KiB;
/// each larger value is a file in `blobs`, sealed in segments of 64 KiB under a key of its own. A
/// write is durable before it returns, and replaces the old value whole or not at all, even if the
/// process is killed. Reading and writing take the same memory whatever the size.
/// docs/file-format.md has the format.
///
/// Any thread may use it, many at once. Calls block; `folder.async { try $0.names() }` does not.
public final class SealedFolder: Sendable, BlockingCalls {
  /// The vault that has the names.
  package let index: VaultStorage
  /// What the folder is opened for.
  ///
  /// The standard folder has the access that the program was bootstrapped with. Asking fixes it.
  public var access: StoreAccess { index.access }
  /// The folder, whether it exists or not; nil if its place is not known, for example before
  /// `bootstrap`, and in a test whose stores are in memory.
  public var url: URL? { index.url?.deletingLastPathComponent() }
  let algorithm: AEADAlgorithm
  let failedReads = FailedReads()
  private let swept = SetOnce<Swept>()

  /// Marks that this object has swept the folder.
  private final class Swept: Sendable {}

  /// The folder that `@SealedFile` and its family use; in a test with stores of its own, the test's
  /// folder.
  ///
  /// It is ``standardPath(applicationID:)`` of the application. Its key comes from the key source
  /// of `SecureStorage.bootstrap(applicationID:keySource:)`, which must be called first. A test
  /// whose stores
  /// are in memory has no folder: every call is the error `unsupported`.
  public static var standard: SealedFolder {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      let index = VaultStorage(isBootstrapped: false, keySource: test.keySource) {
        [folder = test.folder] () throws(StorageError) in
        guard let folder else { throw TestStores.hasNoFile }
        return folder + "/files/index.vault"
      }
      return SealedFolder(index, algorithm: .aes256GCM)
    }
  }

  private static let program = SealedFolder(
    VaultStorage(isBootstrapped: true, keySource: .bootstrapped) { () throws(StorageError) in
      let configuration = try SecureStorage.configuration(for: "the standard sealed folder")
      return try standardPath(applicationID: configuration.applicationID) + "/index.vault"
    }, algorithm: .aes256GCM)

  /// The sealed folder at a place of the caller's choice.
  ///
  /// The folder is looked at, or made, at the first use; `open()` does it now.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL of a folder. A missing folder is made for the owner alone; a
  ///     folder that others can write to is refused.
  ///   - keySource: where the key comes from.
  ///   - access: what it is opened for.
  ///   - folderTrust: who may write to the folder and those on the way, besides this user and root:
  ///     `.processGroup` for a volume of a container.
  ///   - algorithm: seals new blobs, `aes256GCM` or `chaCha20Poly1305`; and the index, if the
  ///     folder is new.
  ///   - deadline: how long a call waits for other processes before it throws `busy`.
  ///   - errorClosure: takes the errors of properties, which can't throw.
  public convenience init(
    at url: URL, keySource: KeySource, access: StoreAccess = .readWrite,
    folderTrust: FolderTrust = .owner, algorithm: AEADAlgorithm = .aes256GCM,
    deadline: Duration = .seconds(5), errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      VaultStorage(
        at: url.appendingPathComponent("index.vault", isDirectory: false), keySource: keySource,
        access: access, folderTrust: folderTrust, algorithm: algorithm, deadline: deadline,
        errorClosure: errorClosure), algorithm: algorithm)
  }

  init(_ index: VaultStorage, algorithm: AEADAlgorithm) {
    self.index = index
    self.algorithm = algorithm
  }

  /// Manages what opens the folder: its key slots, like those of a vault.
  ///
  /// To replace leaked keys use ``rotate(openedBy:names:progress:)``, which also seals the blobs
  /// anew.
  public var keyAdministration: KeyAdministration { index.keyAdministration }

  /// Takes the errors of properties, which can't throw; when nil, `StorageDiagnostics` does.
  public var errorClosure: StorageErrorClosure? {
    get { index.errorClosure }
    set { index.errorClosure = newValue }
  }

  /// Where the standard folder of an application is: `files` beside the standard vault.
  ///
  /// - Parameter applicationID: the application's id, as given to `SecureStorage.bootstrap`.
  /// - Returns: an absolute path, where nothing need exist.
  /// - Throws: `StorageError`: as `VaultStorage.standardPath(applicationID:)`.
  public static func standardPath(applicationID: String) throws(StorageError) -> String {
    try StandardFolders.data(application: applicationID) + "/files"
  }

  /// Opens the folder now, or makes it, so that a failure shows at start-up.
  ///
  /// It removes blobs that a killed writer left; so does the first use.
  ///
  /// - Parameter existence: with `.mustExist` the folder is not made, now or later, whether this
  ///   call succeeds or not: if its index is gone, reads and writes throw `unavailable`.
  /// - Throws: `StorageError`: why it can't be opened.
  public func open(_ existence: StoreExistence = .madeIfMissing) throws(StorageError) {
    if existence == .mustExist { try index.open(.mustExist) }
    _ = try prepared()
    try index.open(existence)
  }

  // MARK: - Inside

  /// The files beside the index, after the folder was checked and swept.
  func prepared() throws(StorageError) -> BlobPlace {
    let path = try index.resolvedPath()
    let place = BlobPlace(path: FilePath.folder(of: path), trust: index.folderTrust)
    if try FileStatus.ofEntry(path) == nil {
      let hasBlobs = try place.hasBlobs()
      // Check again: meanwhile another process may have made the index, and then blobs.
      if try FileStatus.ofEntry(path) == nil {
        // A new index would hide that the keys of the existing blobs are gone.
        guard !hasBlobs else {
          throw StorageError(
            .damaged,
            "the index is gone, but its blobs are still there; put the index back from a backup",
            path: path)
        }
        // A store with open keys would otherwise write blobs into a missing folder.
        guard try !index.isRequired else { throw .missing(path) }
        return place
      }
    }
    guard swept.load() == nil else { return place }
    if access != .readOnly {
      do throws(StorageError) {
        try sweep(place)
      } catch {
        // Reading is possible even if nothing can be removed now.
        guard error.code == .readOnly || error.code == .full else { throw error }
        return place
      }
    }
    _ = swept.storeIfNil(Swept())
    return place
  }

  /// The same for writing.
  func preparedForWriting() throws(StorageError) -> BlobPlace {
    try index.requireWritable()
    return try prepared()
  }

  /// A writer of a new blob.
  func blobWriter(in place: BlobPlace) throws(StorageError) -> BlobWriter {
    guard algorithm != .xaes256GCM else {
      throw StorageError(
        .unsupported,
        "blobs can be sealed only with AES-256-GCM or ChaCha20-Poly1305; choose one of them")
    }
    if try index.store.storeIdentity() == nil { try index.open() }
    return BlobWriter(in: place, of: index.store, try storeID(), algorithm)
  }

  /// The id of the index, known once something was written or read.
  func storeID() throws(StorageError) -> StoreID {
    guard let identity = try index.store.storeIdentity() else {
      throw StorageError(.busy, "the index was emptied meanwhile; try again")
    }
    return identity.store
  }

  /// The entry of a name in the index, or nil.
  func entry(named name: StoreKey) throws(StorageError) -> FileEntry? {
    guard var bytes = try index.load(Data.self, forKey: name) else { return nil }
    return try Self.read(&bytes, name)
  }

  /// Reads an entry and wipes its bytes.
  static func read(_ bytes: inout Data, _ name: StoreKey) throws(StorageError) -> FileEntry {
    defer { Wipe.data(&bytes) }
    do throws(StorageError) {
      return try FileEntry(reading: bytes.bytes)
    } catch {
      throw error.about(name)
    }
  }
}

extension SealedFolder: RedactedDescription {}
