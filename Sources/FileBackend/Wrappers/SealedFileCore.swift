public import CryptoCore
public import StorageCore

internal import struct FoundationEssentials.Data

/// The source of the wrappers of sealed files: a folder, a name and a coding.
///
/// Opaque; only `StoredProperty` needs it. Printing it shows the name.
public struct SealedFileCore<Value>: UpdatableSource, ObservedSource {
  /// The folder.
  public let home: SealedFolder
  /// The name of the file.
  public let name: StoreKey
  let coding: SealedFileCoding<Value>

  /// Remembers whether the last read failed.
  public var failedRead: FailedRead { FailedRead(name, in: home.failedReads) }

  /// Reads the file; nil when there is none.
  public func load() throws(StorageError) -> Value? {
    do throws(StorageError) {
      return try failedRead.noting { () throws(StorageError) in
        var bytes = try home.read(named: name)
        return try decode(&bytes)
      }
    } catch {
      throw error.about(name)
    }
  }

  /// Writes the file, or removes it when `value` is nil.
  public func save(_ value: Value?) throws(StorageError) {
    guard let value else { return try home.remove(name) }
    try home.write(encode(value), named: name)
  }

  /// Changes the value in one atomic step.
  public func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try home.update(named: name) { bytes in
      var value = try failedRead.noting { () throws(StorageError) in try decode(&bytes) }
      let result = try body(&value)
      bytes = try value.map { (value) throws(StorageError) in try encode(value) }
      return result
    }
  }

  /// Whether there is a file, even if it can't be read.
  public func contains() throws(StorageError) -> Bool { try home.contains(name) }

  /// The state of the file now, then after every change.
  public var states: SealedFileStates { home.states(named: name) }

  /// Passes an error to the folder's error closure.
  public func report(_ error: StorageError) { home.index.report(error) }

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

extension StoredProperty where Core.Home == SealedFolder {
  /// The folder.
  public var folder: SealedFolder { core.home }

  /// The name of the file.
  public var name: StoreKey { core.name }
}
