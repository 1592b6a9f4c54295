public import struct FoundationEssentials.URL

extension KeySource {
  /// A key file that only its owner can read; made with a fresh key if the store is new.
  ///
  /// The file holds 32 bytes that are no text, or standard Base64 of 32 bytes and a line break; anything
  /// else is a passphrase.
  /// The error is `denied` when another user owns the file, when group or others can use it, or
  /// when it is a symbolic link. No file is made whose name ends in `-wal`, `-shm`, `-journal` or
  /// `-notice`, as those of files beside a vault do: that is `invalid`.
  ///
  /// Whoever seals with the key leaves a marker beside the file: the file's name with `.made`. If
  /// the file is gone but its marker exists, the error is `keyUnavailable`, and no new file is
  /// made, not even for a new store.
  ///
  /// - Parameter url: a file URL.
  /// - Returns: the source.
  public static func file(_ url: URL) -> KeySource {
    let file = KeyFile(url)
    return .file(named: FilePath.name(of: url.path)) { () throws(StorageError) in file }
  }

  /// A key file whose path `find` gives when the file is needed.
  ///
  /// `holdsKey` says that the file is the library's own, so that it never holds a passphrase.
  static func file(
    named name: String, holdsKey: Bool = false,
    _ find: @escaping @Sendable () throws(StorageError) -> KeyFile
  ) -> KeySource {
    var candidate = Candidate(
      kind: .file, identifier: name,
      read: { () throws(StorageError) in try find().read() },
      make: { () throws(StorageError) in try find().make() },
      keep: { do throws(StorageError) { try find().keep() } catch {} },
      dependents: { () throws(StorageError) in
        try find().path.map { KeyDependents(ofKeyFile: $0) }
      },
      path: {
        do throws(StorageError) { return try find().path } catch { return nil }
      })
    candidate.holdsKey = holdsKey
    return KeySource([candidate])
  }
}
