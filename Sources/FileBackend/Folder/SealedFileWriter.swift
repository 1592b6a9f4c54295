public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// Takes a value piece by piece, in constant memory, and gives it a name when it is committed.
///
///     let writer = try folder.writer(named: "export")
///     try writer.write(header)
///     for row in rows { try writer.write(row) }
///     try writer.commit()
///
/// Nobody sees the value before ``commit()`` has returned. A value that is neither committed nor
/// abandoned is abandoned when the handle goes away; after a kill, when the folder is opened next.
/// A child of fork(2) can't use its parent's handle: every call is the error `unavailable`, and
/// ``abandon()`` and the end of the handle leave the parent's value alone. Not for several threads
/// at once.
public final class SealedFileWriter {
  /// The name that the value gets.
  public let name: StoreKey
  private let folder: SealedFolder
  /// Nil once it was committed or abandoned.
  private var blob: BlobWriter?
  private var ended = 0

  init(_ folder: SealedFolder, _ name: StoreKey, _ blob: BlobWriter) {
    self.folder = folder
    self.name = name
    self.blob = blob
  }

  /// How many bytes were written so far.
  public var size: Int { blob?.length ?? ended }

  /// Takes more bytes.
  ///
  /// - Throws: `StorageError`: `full` and the like, and the handle is abandoned; `invalid` for a
  ///   handle that was committed or abandoned; `unavailable` in a child of fork(2).
  public func write(_ bytes: Data) throws(StorageError) { try write(bytes.bytes) }

  /// Takes more bytes.
  ///
  /// - Throws: as ``write(_:)``.
  public func write(_ bytes: RawSpan) throws(StorageError) {
    let blob = try current()
    do throws(StorageError) {
      try blob.append(bytes)
    } catch {
      abandon()
      throw error.about(name)
    }
  }

  /// Gives the name the value that was written, durably, in place of its old value.
  ///
  /// - Throws: `StorageError`: `io` when the new file was removed or replaced meanwhile,
  ///   `unavailable` in a child of fork(2), and others; the name then has its old value, except
  ///   with `outcomeUnknown`, and the handle is abandoned.
  public func commit() throws(StorageError) {
    let blob = try current()
    end()
    do throws(StorageError) {
      let entry = try blob.finish()
      try folder.change { (transaction) throws(StorageError) in
        try transaction.put(entry, of: blob, named: name)
      }
    } catch {
      // It is then unknown whether the index names the blob; the next sweep finds out.
      if error.code == .outcomeUnknown { blob.leave() } else { blob.abandon() }
      throw error.about(name)
    }
  }

  /// Refuses to go on in a child of fork(2), which shares the position of its parent's files.
  func requireOwn() throws(StorageError) { _ = try current() }

  /// Drops what was written.
  public func abandon() {
    blob?.abandon()
    end()
  }

  private func current() throws(StorageError) -> BlobWriter {
    guard let blob else {
      throw StorageError(
        .invalid, "the handle was committed or abandoned; make another one", key: name)
    }
    do throws(StorageError) {
      try blob.requireOwn()
    } catch {
      throw error.about(name)
    }
    return blob
  }

  private func end() {
    ended = size
    blob = nil
  }

  deinit { abandon() }
}

@available(*, unavailable)
extension SealedFileWriter: Sendable {}

extension SealedFileWriter: RedactedDescription {
  /// The name, without any bytes of the value.
  public var description: String { "SealedFileWriter(\"\(name)\")" }
}
