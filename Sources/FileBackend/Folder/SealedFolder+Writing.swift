internal import CryptoCore
internal import Glibc
public import StorageCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

extension SealedFolder {
  /// Told how many bytes are done, and of how many, where that is known.
  public typealias Progress = (_ done: Int, _ total: Int?) -> Void

  /// How many bytes of a file are read at once.
  private static let chunkSize = 262_144

  /// Gives a name a value, durably, before it returns; the old value is replaced whole or not at
  /// all.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func write(_ value: Data, named name: StoreKey) throws(StorageError) {
    try change { (transaction) throws(StorageError) in try transaction.write(value, named: name) }
  }

  /// Gives a name the content of a file, in constant memory.
  ///
  /// - Parameters:
  ///   - file: any file that can be read to its end, a link to one, or a pipe.
  ///   - name: the name.
  ///   - progress: told how far it is, every 256 KiB.
  /// - Throws: `StorageError`: `unavailable` when there is no file, `cancelled` when the task was;
  ///   the old value is then still there, except with `outcomeUnknown`.
  public func write(
    contentsOf file: URL, named name: StoreKey, progress: Progress? = nil
  ) throws(StorageError) {
    let path = file.isFileURL ? file.path(percentEncoded: false) : ""
    guard let source = try OpenFile(path, O_RDONLY) else {
      throw StorageError(.unavailable, "the file does not exist; check the path", path: path)
    }
    let status = try source.status()
    guard !status.isFolder else {
      throw StorageError(.invalid, "it is a folder; give the path of a file", path: path)
    }
    let total = status.isRegular ? status.size : nil
    let writer = try writer(named: name)
    let buffer = PlainBuffer(count: Self.chunkSize)
    while true {
      try SealedFileReader.checkCancellation(name)
      // `progress` may have forked: what the child read would be missing in the parent's value.
      try writer.requireOwn()
      let count = try buffer.write(0..<Self.chunkSize) { (bytes) throws(StorageError) in
        try source.readNext(into: &bytes)
      }
      guard count > 0 else { break }
      try buffer.read(0..<count) { (bytes) throws(StorageError) in try writer.write(bytes) }
      progress?(writer.size, total)
    }
    try writer.commit()
  }

  /// A handle that takes a value piece by piece, and gives it the name when it is committed.
  ///
  /// - Throws: `StorageError`: why the folder can't be written to.
  public func writer(named name: StoreKey) throws(StorageError) -> SealedFileWriter {
    SealedFileWriter(self, name, try blobWriter(in: preparedForWriting()))
  }

  /// Removes the value of a name, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func remove(_ name: StoreKey) throws(StorageError) {
    try change { (transaction) throws(StorageError) in try transaction.remove(name) }
  }

  /// Gives a value another name, in one atomic step and without touching its bytes; the new name's
  /// old value is gone then.
  ///
  /// - Returns: whether there is a value of the old name.
  /// - Throws: `StorageError`; nothing is then changed, except with `outcomeUnknown`.
  @discardableResult
  public func rename(_ name: StoreKey, to newName: StoreKey) throws(StorageError) -> Bool {
    try change { (transaction) throws(StorageError) in
      try transaction.rename(name, to: newName)
    }
  }

  /// Gives another name the same value, sealed anew, in constant memory.
  ///
  /// The value is that of one moment; the other name's old value is replaced.
  ///
  /// - Parameters:
  ///   - name: the name that has the value.
  ///   - other: the name that gets it.
  ///   - progress: told how far it is, every 64 KiB.
  /// - Returns: whether there is a value.
  /// - Throws: `StorageError`: as ``reader(named:)`` and ``write(_:named:)``.
  @discardableResult
  public func copy(
    _ name: StoreKey, to other: StoreKey, progress: Progress? = nil
  ) throws(StorageError) -> Bool {
    guard let reader = try reader(named: name) else { return false }
    let writer = try writer(named: other)
    try reader.forEachChunk { (chunk) throws(StorageError) in
      try writer.write(chunk)
      progress?(writer.size, reader.size)
    }
    try writer.commit()
    return true
  }

  /// Changes a value in one atomic step, across threads and processes; the whole value is in
  /// memory.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - body: is given the value, or nil, and changes it; nil removes it. Runs outside all locks,
  ///     and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there, except
  ///   with `outcomeUnknown`.
  @discardableResult
  public func update<Result>(
    named name: StoreKey, _ body: (inout Data?) throws -> Result
  ) throws -> Result {
    try transaction { transaction in
      var value = try transaction.read(named: name)
      let result = try body(&value)
      if let value {
        try transaction.write(value, named: name)
      } else {
        try transaction.remove(name)
      }
      return result
    }
  }

  /// Reads and writes several values in one atomic step, across threads and processes.
  ///
  /// As `Storage.transaction(deadline:_:)`: `body` runs outside all locks, and again when somebody
  /// else changed what it had read; all of its writes take effect, or none.
  ///
  /// - Parameters:
  ///   - deadline: how long `body` is run again after others' writes.
  ///   - body: reads and writes through the ``SealedFolderTransaction`` that it is given.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`: `busy` at the deadline. Nothing is then
  ///   changed, except with `outcomeUnknown`.
  @discardableResult
  public func transaction<Result>(
    deadline: Duration = .seconds(30), _ body: (SealedFolderTransaction) throws -> Result
  ) throws -> Result {
    let place = try preparedForWriting()
    var last: SealedFolderTransaction?
    do {
      let result = try index.transaction(deadline: deadline) { entries in
        last?.finish(.failed)
        let transaction = SealedFolderTransaction(self, place, entries)
        last = transaction
        let result = try body(transaction)
        try transaction.synchronize()
        return result
      }
      last?.finish(.done)
      return result
    } catch {
      let isUnknown = (error as? StorageError)?.code == .outcomeUnknown
      last?.finish(isUnknown ? .unknown : .failed)
      throw error
    }
  }

  /// The same for a body that throws no other error.
  func change<Result>(
    _ body: (SealedFolderTransaction) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try Self.typed { try transaction { transaction in try body(transaction) } }
  }

  /// Runs a body that throws only `StorageError`.
  static func typed<Result>(_ body: () throws -> Result) throws(StorageError) -> Result {
    do {
      return try body()
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(.io, "an error of another kind, \(type(of: error)); this is a bug")
    }
  }
}

extension SealedFileReader {
  /// As ``withChunks(of:_:)`` for a body that throws no other error.
  func forEachChunk(
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    try SealedFolder.typed { try withChunks { chunk in try body(chunk) } }
  }
}

extension OpenFile {
  /// Fills `span` from the current position and returns the count of bytes; less than asked only at
  /// the end.
  func readNext(into span: inout MutableRawSpan) throws(StorageError) -> Int {
    let count = span.byteCount
    var done = 0
    while done < count {
      let result = unsafe span.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress! + done, count - done)
      }
      if result < 0 && errno == EINTR { continue }
      guard result >= 0 else { throw StorageError(system: "read", path: path) }
      if result == 0 { break }
      done += result
    }
    return done
  }
}
