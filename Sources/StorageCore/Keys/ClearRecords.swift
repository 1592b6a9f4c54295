package import CryptoCore

internal import struct FoundationEssentials.Data

/// Turns hashes and records into names and JSON, and back.
package final class ClearRecords: Sendable {
  private let keys: Result<OpenKeys, StorageError>
  private let names = Lock<[NameHash: String]>([:])

  /// Converts the records of stores that are opened with `key`.
  package init(key: SymmetricKey) {
    do throws(StorageError) {
      keys = .success(try OpenKeys(directly: key))
    } catch {
      keys = .failure(error)
    }
  }

  /// Remembers the name of a hash.
  func learn(_ name: String, _ hash: NameHash) { names.withLock { $0[hash] = name } }

  /// The name of a hash that this process has made before.
  ///
  /// - Throws: `StorageError`: `invalid` for a hash that this process did not make.
  package func name(of hash: NameHash) throws(StorageError) -> String {
    guard let name = names.withLock({ $0[hash] }) else {
      throw StorageError(
        .invalid, "the name of a record is not known; use a storage over the provider")
    }
    return name
  }

  /// Seals JSON as a record.
  ///
  /// - Throws: `StorageError` when the JSON can't be sealed.
  package func seal(
    _ json: [UInt8], _ name: String, _ hash: NameHash
  ) throws(StorageError) -> [UInt8] {
    let keys = try keys.get()
    var payload = try Payload.head(name: name)
    defer { Wipe.bytes(&payload) }
    ValueType(.json).append(to: &payload)
    try Data(json).append(to: &payload)
    return try cryptography(key: name) { () throws(CryptoError) in
      try unsafe keys.primary.seal(payload.span.bytes, for: context(hash, keys))
    }
  }

  /// Opens a record and returns its JSON.
  ///
  /// - Throws: `StorageError`: `unsupported` for a value in another form.
  package func json(of record: [UInt8], _ hash: NameHash) throws(StorageError) -> [UInt8] {
    let keys = try keys.get()
    var result: Result<[UInt8], StorageError>?
    try cryptography { () throws(CryptoError) in
      try unsafe keys.withOpened(record.span.bytes, for: context(hash, keys)) { payload in
        do throws(StorageError) {
          result = .success(try Self.json(in: payload))
        } catch {
          result = .failure(error)
        }
      }
    }
    guard let result else { throw StorageError(.io, "the record was not opened; this is a bug") }
    return try result.get()
  }

  private static func json(in payload: RawSpan) throws(StorageError) -> [UInt8] {
    var offset = try Payload.valueOffset(payload)
    guard ValueType(.json).matches(payload, at: &offset) else {
      throw StorageError(
        .unsupported, "a plain storage can store only JSON; use @Live or a Codable wrapper")
    }
    return Array(try Data.read(payload, at: &offset))
  }

  private func context(_ hash: NameHash, _ keys: OpenKeys) -> RecordContext {
    RecordContext(store: keys.store, name: hash, authenticationTag: [])
  }
}
