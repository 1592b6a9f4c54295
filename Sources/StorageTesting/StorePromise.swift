internal import CryptoCore
internal import StorageCore

/// One promise that stores keep in every kind of place, with a check.
///
/// `DelegatePromise` is about the place alone, this is about the storages over it: who forges
/// records, keys that ended, several storages of one place.
///
///     @Test(.timeLimit(.minutes(30)), arguments: StorePromise.all)
///     func aStoreKeepsIts(_ promise: StorePromise) async throws {
///       try await promise.check { MyPlace() }
///     }
package struct StorePromise: Sendable, CustomStringConvertible {
  /// The promise, as a sentence.
  package let description: String
  private let body: @Sendable (StoreSubject) async throws -> Void

  init(
    _ description: String, _ body: @escaping @Sendable (StoreSubject) async throws -> Void
  ) {
    self.description = description
    self.body = body
  }

  /// All promises.
  package static let all =
    sharing + live + properties + existence + forgeries + endedKeys + reentry
    + discarding

  /// Checks the promise.
  ///
  /// - Parameter make: makes an empty place; called one or more times.
  /// - Throws: ``BrokenPromise``, or an unexpected error.
  package func check(_ make: @escaping @Sendable () throws -> any StorePlace) async throws {
    try await body(StoreSubject(promise: description, make: make))
  }
}

/// The places that a check works with, and what it requires.
struct StoreSubject: Sendable {
  let promise: String
  let make: @Sendable () throws -> any StorePlace

  func require(_ isKept: Bool, _ what: @autoclosure () -> String) throws {
    guard isKept else { throw BrokenPromise(description: "\(promise): \(what())") }
  }

  /// Requires that a storage has these values of type `Int`.
  func require(_ values: [String: Int], in storage: DelegatedStorage) throws {
    for (key, value) in values {
      let found = try storage.load(Int.self, forKey: .init(key))
      try require(found == value, "\(key) is \(found.map(String.init) ?? "absent")")
    }
  }

  /// Requires that `body` fails in one way.
  @discardableResult
  func require(
    _ code: StorageError.Code, _ what: String, _ body: () throws -> Void
  ) throws -> StorageError {
    do {
      try body()
    } catch let error as StorageError where error.code == code {
      return error
    } catch {
      throw BrokenPromise(description: "\(promise): \(what) is the error \(error)")
    }
    throw BrokenPromise(description: "\(promise): \(what) succeeds")
  }
}

extension KeySource {
  /// The key of a store, and another.
  static let first = repeating(5)
  static let second = repeating(9)

  private static func repeating(_ byte: UInt8) -> KeySource {
    .key(SymmetricKey(data: [UInt8](repeating: byte, count: 32)))
  }
}

extension StorePlace {
  /// Another storage of the place, without a tag.
  func storage(_ source: KeySource = .first) throws -> DelegatedStorage {
    try storage(source, tag: nil)
  }

  /// A storage with values under "k0", "k1" and so on, each its number.
  func filled(_ count: Int) throws -> DelegatedStorage {
    let storage = try storage()
    for index in 0..<count { try storage.save(index, forKey: "k\(index)") }
    return storage
  }

  /// The name and the bytes of the only record.
  func onlyRecord() throws -> (name: NameHash, record: [UInt8]) {
    let records = try records()
    guard records.count == 1, let (name, record) = records.first else {
      throw StorageError(.invalid, "there are \(records.count) records")
    }
    return (name, record)
  }
}
