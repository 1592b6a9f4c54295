public import CryptoCore
internal import Glibc

extension SymmetricKey {
  /// Returns the program's key of a name: the same key in every run, made if there was none.
  ///
  /// Named keys are derived from the header file `named-keys` in the application's data folder. The
  /// key source of
  /// ``SecureStorage/bootstrap(applicationID:keySource:access:folderTrust:fileID:line:)`` opens
  /// that file.
  ///
  /// - Parameter key: the name of the key, 1 to 1,024 UTF-8 bytes.
  /// - Returns: a key of 256 bits.
  /// - Throws: `StorageError`: `keyUnavailable`, `wrongKey` and so on when the source does not open
  ///   the existing file. No other key is made in its place.
  public static func generate(
    key: StoreKey = "SecurePropertyStorage.SymmetricKey"
  ) throws(StorageError) -> SymmetricKey {
    _ = try Payload.head(name: key)
    let named = try NamedKeys.shared.openOrCreate().namedKey(key)
    NamedKeys.shared.keepOpener()
    return named
  }

  /// The program's key of the standard name, as a source that finds it when a storage needs it.
  ///
  /// Code of the Apple package calls `SymmetricKey.generate()` without `try`, as the argument of a
  /// storage:
  ///
  ///     UserDefaultsStorage(suiteName: "com.example.shop", symmetricKey: SymmetricKey.generate())
  ///
  /// There the compiler takes this one. Why the key can't be had is the error of every use of the
  /// storage that needs it; no other key is made in its place. Everywhere else `try
  /// SymmetricKey.generate()` is ``generate(key:)``.
  ///
  /// - Returns: the source, of the same key as ``generate(key:)`` without a name.
  @_disfavoredOverload  // A key is a key, but where no `try` is.
  @available(*, deprecated, message: "give the storage a keySource, or call generate() with try")
  public static func generate() -> KeySource {
    // Here, since a thread that uses the storage may know of no test.
    let keys = NamedKeys.shared
    return KeySource([
      KeySource.Candidate(
        kind: .key, identifier: "",
        read: { () throws(StorageError) in
          let named = try keys.openOrCreate().namedKey(NamedKeys.standardName)
          keys.keepOpener()
          return .key(named)
        })
    ])
  }
}

private enum NamedKeys {
  /// The default of ``CryptoCore/SymmetricKey/generate(key:)``.
  static let standardName: StoreKey = "SecurePropertyStorage.SymmetricKey"

  /// The program's keys, or those of the current test.
  static var shared: StoreKeys {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      StoreKeys(
        test.delegate(of: "named-keys"), source: test.keySource, algorithm: .aes256GCM)
    }
  }

  private static let program = StoreKeys(
    HeaderFile(), source: KeySource.bootstrapped, algorithm: .aes256GCM)
}

/// A file that holds a header and no records.
private struct HeaderFile: RecordPlace {
  private static let limit = 2 << 20
  private let version = Lock<(last: [UInt8]?, number: UInt64)>((nil, 1))

  private func path() throws(StorageError) -> String {
    let application = try SecureStorage.configuration(for: "SymmetricKey.generate")
      .applicationID
    return try StandardFolders.data(application: application) + "/named-keys"
  }

  /// Reads the file; nil when the file was never made.
  ///
  /// - Throws: `keyUnavailable` when the file existed and is gone: a new file would give other
  ///   keys.
  private func read() throws(StorageError) -> [UInt8]? {
    let path = try path()
    let marker = MadeMarker(of: path)
    if let bytes = try readFile(path) {
      marker.leaveIfPossible()
      return bytes
    }
    guard try marker.isThere() else { return nil }
    // The marker is made after the file, so a file that another process is making exists by now.
    if let bytes = try readFile(path) { return bytes }
    throw StorageError(
      .keyUnavailable,
      "the file from which all named keys are derived is gone. No new file was made, because it would "
        + "give other keys. Put the file back from a backup. Only if you no longer need any data "
        + "sealed with a named key, remove \(marker.path)", path: path)
  }

  private func readFile(_ path: String) throws(StorageError) -> [UInt8]? {
    guard let file = try OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) else { return nil }
    let status = try file.status()
    try status.requireRegular(path)
    try status.requireOwner(path)
    return try file.readAll(limit: Self.limit)
  }

  func place() throws(StorageError) -> String { "named-keys" }

  var allowance: StoreAccess { SecureStorage.configuration.access }

  var location: String? {
    do throws(StorageError) { return try path() } catch { return nil }
  }

  private func number(of header: [UInt8]?) -> UInt64 {
    version.withLock { version in
      if version.last != header { version = (header, version.number + 1) }
      return version.number
    }
  }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    let header = try read()
    return (header, number(of: header))
  }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try requireWritable()
    let path = try path()
    let folder = FilePath.folder(of: path)
    try Folder.requirePrivateWay(folder, isMaking: true)
    let lock = try FileLock(path + ".lock", waiting: .seconds(5))
    let old = try read()
    var header = old
    var held = HeldRecords(isEmpty: true) { (_) throws(StorageError) in }
    held.provingAll = { true }  // it can't hold any
    try body(&header, held)
    if let header, header != old {
      try unsafe DurableFile.replace(path, with: header.span.bytes)
      try MadeMarker(of: path).leave()
    }
    _ = consume lock
    return number(of: header)
  }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    (nil, try header().version)
  }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    throw StorageError(.unsupported, "the file of the named keys can't hold records")
  }

  func names() throws(StorageError) -> [NameHash] { [] }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    ChangeObservation {}  // it has no records
  }
}
