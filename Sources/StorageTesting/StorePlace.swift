package import CryptoCore
package import StorageCore

private import struct Foundation.Data

/// A place of stores that ``StorePromise`` checks, with ways past the storages.
package protocol StorePlace: Sendable {
  /// Another storage of the place, as another program would make it.
  func storage(_ source: KeySource, tag: String?) throws -> DelegatedStorage

  /// The place without storages: what anybody sees and changes who has no key.
  func raw() throws -> any RecordPlace

  /// Puts raw bytes, or nothing, in the place of a record, or of the header if `name` is nil.
  ///
  /// By default, `raw()` does it. A place in a file changes the file instead, as another program
  /// would.
  func plant(_ bytes: [UInt8]?, for name: NameHash?) throws

  /// Makes listeners look at the place after something was planted; by default they do so anyway.
  func wakeListeners(by storage: DelegatedStorage) throws

  /// Whether a storage that must exist keeps the other storages of the process from making one.
  ///
  /// The default is `false`.
  var sharesExistence: Bool { get }

  /// All bytes that the place stores; by default the header, the names and the records.
  func storedBytes() throws -> [UInt8]

  /// Moves the store away, and returns what brings it back; nil, the default, where that can't be.
  func moveAway() throws -> (() throws -> Void)?
}

extension StorePlace {
  package func plant(_ bytes: [UInt8]?, for name: NameHash?) throws {
    let raw = try raw()
    guard let name else {
      _ = try raw.updateHeader { (header, _) throws(StorageError) in header = bytes }
      return
    }
    let version = try raw.header().version
    guard try raw.commit(RecordWrite(bytes, for: name), headerVersion: version) == .committed
    else { throw StorageError(.busy, "the header changed meanwhile") }
  }

  package func wakeListeners(by storage: DelegatedStorage) throws {}

  package var sharesExistence: Bool { false }

  package func storedBytes() throws -> [UInt8] {
    try records().reduce(try raw().header().header ?? []) { $0 + $1.key.bytes + $1.value }
  }

  package func moveAway() throws -> (() throws -> Void)? { nil }

  /// All raw records.
  package func records() throws -> [NameHash: [UInt8]] {
    let raw = try raw()
    var records: [NameHash: [UInt8]] = [:]
    for name in try raw.names() { records[name] = try raw.record(for: name) }
    return records
  }
}

/// A place that one delegate object is.
package struct DelegatePlace: StorePlace {
  private let delegate: any RecordPlace

  package init(_ delegate: any RecordPlace) { self.delegate = delegate }

  package func storage(_ source: KeySource, tag: String?) throws -> DelegatedStorage {
    DelegatedStorage(
      delegate, keySource: source, authenticationTag: tag.map { Data($0.utf8) },
      errorClosure: { _ in })
  }

  package func raw() throws -> any RecordPlace { delegate }
}
