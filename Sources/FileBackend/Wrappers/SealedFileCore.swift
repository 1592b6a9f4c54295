public import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// The parts that the wrappers of sealed files consist of: a folder, a name and a coding.
///
/// Opaque; only ``SealedFileProperty`` needs it. Printing it shows the name.
public struct SealedFileCore<Value>: Sendable {
  let folder: SealedFolder
  let name: StoreKey
  let coding: SealedFileCoding<Value>

  func load() throws(StorageError) -> Value? {
    do throws(StorageError) {
      var bytes = try folder.read(named: name)
      let value = try decode(&bytes)
      folder.failedReads.forget(name)
      return value
    } catch {
      folder.failedReads.remember(name, error)
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

  /// Implements a wrapper's getter: reports an error, and then returns nil.
  func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      folder.failedReads.remember(name, error, gaveDefault: true)
      folder.index.report(error)
      return nil
    }
  }

  /// Implements a wrapper's setter: does not replace a value that could not be read.
  func set(_ value: Value?) {
    do throws(StorageError) {
      try folder.failedReads.checkAssignment(to: name) { () throws(StorageError) in
        try folder.contains(name)
      }
      try save(value)
    } catch {
      folder.index.report(error)
    }
  }

  /// Stores an initial value only if the name has no value.
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

extension SealedFileCore: RedactedDescription {
  /// The name, and no value.
  public var description: String { "SealedFileCore(\"\(name)\")" }
}
