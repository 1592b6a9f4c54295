public import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// What the wrappers of sealed files are made of: a folder, a name and a coding.
///
/// Opaque: it is there for ``SealedFileProperty``. Printing it shows the name.
public struct SealedFileCore<Value>: Sendable {
  let folder: SealedFolder
  let name: StoreKey
  let coding: SealedFileCoding<Value>

  func load() throws(StorageError) -> Value? {
    do throws(StorageError) {
      var bytes = try folder.read(named: name)
      let value = try decode(&bytes)
      folder.unreadable.forget(name)
      return value
    } catch {
      // Of one that may be read the next time the caller hears, who has made nothing of a default.
      if !error.isPassing { folder.unreadable.remember(name, error) }
      throw error.about(name)
    }
  }

  func save(_ value: Value?) throws(StorageError) {
    guard let value else { return try folder.remove(name) }
    try folder.write(encode(value), named: name)
  }

  func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try folder.update(named: name) { bytes in
      var value = try decode(&bytes)
      let result = try body(&value)
      bytes = try value.map { (value) throws(StorageError) in try encode(value) }
      return result
    }
  }

  /// What a wrapper's getter does: an error is reported, and then there is nothing to return.
  func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      folder.unreadable.remember(name, error)
      folder.index.report(error)
      return nil
    }
  }

  /// What a wrapper's setter does.
  func set(_ value: Value?) {
    do throws(StorageError) {
      // `count += 1` is a read and a write: after a read that failed, the write would replace what
      // could not be read by what was made of a default.
      if let error = folder.unreadable[name] {
        // The next assignment comes with a read of its own, if it is made of one.
        if error.isPassing { folder.unreadable.forget(name) }
        throw StorageError(
          error.code,
          "the value was not replaced, because the last read of it failed: \(error.message). "
            + (error.isPassing
              ? "Read it again, then assign it again"
              : "Call save(_:) to replace it, or remove() to delete it"),
          key: name,
          path: error.path)
      }
      try save(value)
    } catch {
      folder.index.report(error)
    }
  }

  /// Stores an initial value if, and only if, the name has none.
  func register(_ value: Value?) {
    guard let value else { return }
    do throws(StorageError) {
      guard try !folder.contains(name) else { return }
      let bytes = try encode(value)
      try folder.change { (transaction) throws(StorageError) in
        if try !transaction.contains(name) { try transaction.write(bytes, named: name) }
      }
    } catch {
      folder.index.report(error.about(name))
    }
  }

  private func encode(_ value: Value) throws(StorageError) -> Data {
    do throws(StorageError) { return try coding.encode(value) } catch { throw error.about(name) }
  }

  private func decode(_ bytes: inout Data?) throws(StorageError) -> Value? {
    guard let value = bytes else { return nil }
    bytes = nil
    do throws(StorageError) { return try coding.decode(value) } catch { throw error.about(name) }
  }
}

extension StorageError {
  /// Whether it tells of the moment, and nothing of the value.
  fileprivate var isPassing: Bool { [.busy, .cancelled].contains(code) }
}

extension SealedFileCore: RedactedDescription {
  /// The name, and no value.
  public var description: String { "SealedFileCore(\"\(name)\")" }
}
