internal import CryptoCore
public import StorageCore

public import protocol Foundation.ContiguousBytes
public import struct Foundation.Data
public import struct Foundation.URL

/// The calls for async code: each blocks a thread of its own, and none of Swift concurrency.
///
/// A cancelled task ends reading, writing and copying of long values with `cancelled`; nothing is then
/// changed.
extension SealedFolder {
  private func run<Success: Sendable>(
    _ body: @escaping @Sendable (SealedFolder) throws(StorageError) -> Success
  ) async throws(StorageError) -> Success {
    try await Blocking.run { () throws(StorageError) in try body(self) }
  }

  /// As ``open(_:)``.
  ///
  /// - Throws: as ``open(_:)``.
  public func openAsync(
    _ existence: StoreExistence = .madeIfMissing
  ) async throws(StorageError) {
    try await run { (folder) throws(StorageError) in try folder.open(existence) }
  }

  /// As ``read(named:)``.
  ///
  /// - Returns: the value, or nil.
  /// - Throws: as ``read(named:)``.
  public func readAsync(named name: StoreKey) async throws(StorageError) -> Data? {
    try await run { (folder) throws(StorageError) in try folder.read(named: name) }
  }

  /// As ``reader(named:)``.
  ///
  /// - Returns: a reader, or nil.
  /// - Throws: as ``reader(named:)``.
  public func readerAsync(named name: StoreKey) async throws(StorageError) -> SealedFileReader? {
    try await run { (folder) throws(StorageError) in try folder.reader(named: name) }
  }

  /// As ``contains(_:)``.
  ///
  /// - Throws: as ``contains(_:)``.
  public func containsAsync(_ name: StoreKey) async throws(StorageError) -> Bool {
    try await run { (folder) throws(StorageError) in try folder.contains(name) }
  }

  /// As ``names()``.
  ///
  /// - Throws: as ``names()``.
  public func namesAsync() async throws(StorageError) -> [StoreKey] {
    try await run { (folder) throws(StorageError) in try folder.names() }
  }

  /// As ``listing()``.
  ///
  /// - Throws: as ``listing()``.
  public func listingAsync() async throws(StorageError) -> KeyListing {
    try await run { (folder) throws(StorageError) in try folder.listing() }
  }

  /// As ``info(named:)``.
  ///
  /// - Throws: as ``info(named:)``.
  public func infoAsync(named name: StoreKey) async throws(StorageError) -> SealedFileInfo? {
    try await run { (folder) throws(StorageError) in try folder.info(named: name) }
  }

  /// As ``write(_:named:)``.
  ///
  /// - Throws: as ``write(_:named:)``.
  public func writeAsync(_ value: Data, named name: StoreKey) async throws(StorageError) {
    try await run { (folder) throws(StorageError) in try folder.write(value, named: name) }
  }

  /// As `write(contentsOf:named:progress:)` of a file.
  ///
  /// - Throws: as the call that blocks; `cancelled` when the task was.
  public func writeAsync(
    contentsOf file: URL, named name: StoreKey,
    progress: AsyncProgress? = nil
  ) async throws(StorageError) {
    try await run { (folder) throws(StorageError) in
      try folder.write(contentsOf: file, named: name, progress: progress)
    }
  }

  /// Gives a name what a sequence gives, in constant memory; what the name had is replaced at the end,
  /// whole or not at all.
  ///
  /// - Parameters:
  ///   - chunks: the value in parts, of any sizes.
  ///   - name: the name.
  ///   - progress: told after each part how many bytes are done.
  /// - Throws: what the sequence throws, or `StorageError`: `cancelled` when the task was. The old value
  ///   is then still there, except with `outcomeUnknown`.
  public func write<Chunks: AsyncSequence>(
    contentsOf chunks: Chunks, named name: StoreKey, progress: AsyncProgress? = nil
  ) async throws where Chunks.Element: ContiguousBytes & Sendable {
    let writer = try await run { (folder) throws(StorageError) in
      HandedWriter(writer: try folder.writer(named: name))
    }
    for try await chunk in chunks {
      try SealedFileReader.checkCancellation(name)
      try await Blocking.run { () throws(StorageError) in
        try writer.write(chunk)
        progress?(writer.writer.size, nil)
      }
    }
    // A sequence may end early when its task is cancelled.
    try SealedFileReader.checkCancellation(name)
    try await Blocking.run { () throws(StorageError) in try writer.writer.commit() }
  }

  /// As ``remove(_:)``.
  ///
  /// - Throws: as ``remove(_:)``.
  public func removeAsync(_ name: StoreKey) async throws(StorageError) {
    try await run { (folder) throws(StorageError) in try folder.remove(name) }
  }

  /// As ``rename(_:to:)``.
  ///
  /// - Returns: whether there is a value of the old name.
  /// - Throws: as ``rename(_:to:)``.
  @discardableResult
  public func renameAsync(
    _ name: StoreKey, to newName: StoreKey
  ) async throws(StorageError) -> Bool {
    try await run { (folder) throws(StorageError) in try folder.rename(name, to: newName) }
  }

  /// As ``copy(_:to:progress:)``.
  ///
  /// - Returns: whether there is a value.
  /// - Throws: as ``copy(_:to:progress:)``; `cancelled` when the task was.
  @discardableResult
  public func copyAsync(
    _ name: StoreKey, to other: StoreKey,
    progress: AsyncProgress? = nil
  ) async throws(StorageError) -> Bool {
    try await run { (folder) throws(StorageError) in
      try folder.copy(name, to: other, progress: progress)
    }
  }

  /// As ``update(named:_:)``.
  ///
  /// - Returns: what `body` returned the last time.
  /// - Throws: as ``update(named:_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    named name: StoreKey, _ body: @escaping @Sendable (inout Data?) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try self.update(named: name, body) }
  }

  /// As ``transaction(deadline:_:)``.
  ///
  /// - Returns: what `body` returned the last time.
  /// - Throws: as ``transaction(deadline:_:)``.
  @discardableResult
  public func transactionAsync<Result: Sendable>(
    deadline: Duration = .seconds(30),
    _ body: @escaping @Sendable (SealedFolderTransaction) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try self.transaction(deadline: deadline, body) }
  }
}

/// A writer that one call after another has.
private final class HandedWriter: @unchecked Sendable {
  // Each call is awaited before the next one is made.
  let writer: SealedFileWriter

  init(writer: SealedFileWriter) { self.writer = writer }

  func write(_ chunk: some ContiguousBytes) throws(StorageError) {
    try SealedFolder.typed {
      try unsafe chunk.withUnsafeBytes { bytes in
        try writer.write(unsafe RawSpan(_unsafeBytes: bytes))
      }
    }
  }
}
