internal import CryptoCore
public import StorageCore

public import protocol FoundationEssentials.ContiguousBytes

extension SealedFolder {
  /// As ``Progress``, for work on another thread.
  public typealias AsyncProgress = @Sendable (_ done: Int, _ total: Int?) -> Void

  /// Gives a name the value from a sequence, in constant memory; the old value is replaced at the
  /// end, whole or not at all.
  ///
  /// - Parameters:
  ///   - chunks: the value in parts, of any sizes.
  ///   - name: the name.
  ///   - progress: told after each part how many bytes are done.
  /// - Throws: what the sequence throws, or `StorageError`: `cancelled` when the task was. The old
  ///   value is then still there, except with `outcomeUnknown`.
  public func write<Chunks: AsyncSequence>(
    contentsOf chunks: Chunks, named name: StoreKey, progress: AsyncProgress? = nil
  ) async throws where Chunks.Element: ContiguousBytes & Sendable {
    let writer = try await self.async { HandedWriter(writer: try $0.writer(named: name)) }
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
}

/// A writer that one call after another uses.
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
