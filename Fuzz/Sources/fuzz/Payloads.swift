import CryptoCore
import Foundation
import StorageCore

extension Target {
  /// What a record holds: who writes it has the keys, as another program of the user does.
  static let payload = Target(
    name: "payload",
    seeds: { try Payloads.seeds() },
    make: {
      let place = try Payloads()
      return { input in try place.check(input) }
    })
}

/// One place for a record whose keys follow from the sample's: docs/file-format.md, "Direct mode".
private final class Payloads: StorageDelegate, @unchecked Sendable {
  // Used by one thread: libFuzzer's.
  private var kept: [UInt8]?
  private let dataKey: DataKey
  private let context: RecordContext
  /// One for all inputs: to derive its keys takes longer than to read a payload.
  private lazy var storage = DelegatedStorage(self, symmetricKey: Sample.key)

  private struct Part: Codable { var a = 1 }

  init() throws {
    dataKey = try DataKey(
      SymmetricKey(data: Sample.hkdf(Sample.key, "SPS direct data key v1")), id: 1,
      algorithm: .xaes256GCM)
    let store = StoreID(try Sample.hkdf(Sample.key, "SPS direct store id v1", count: 16))!
    let names = try KeyedHash(
      SymmetricKey(data: Sample.hkdf(Sample.key, "SPS direct name key v1")))
    context = RecordContext(store: store, name: try names.hash(name: "k"))
  }

  /// The payload of the record that is kept.
  private var payload: [UInt8]? {
    get throws {
      guard let kept else { return nil }
      return try unsafe Array(dataKey.openedData(kept.span.bytes, for: context))
    }
  }

  static func seeds() throws -> [[UInt8]] {
    let place = try Payloads()
    func seed<Value>(_ value: Value) throws -> [UInt8] {
      try place.storage.save(value, forKey: "k")
      return try place.payload ?? []
    }
    return try [
      seed(true), seed(-2), seed(UInt16(7)), seed(1.5), seed(Float(-0.0)), seed("ké"),
      seed(Data([0, 255])), seed(Date(timeIntervalSinceReferenceDate: 1.25)),
      seed(URL(string: "https://example.org/")!), seed(UUID()), seed(Decimal(string: "-1.25")!),
      seed([Int?.none, 7]), seed(["a", "b"] as Set), seed(["a": UInt8(1), "b": 2]),
      seed([false, "x", [1, 2]] as [Any]), seed(["k": 1, "l": "m"] as [String: Any]),
      seed([1, "x"] as Set<AnyHashable>), seed(Part()),
      seed([["a": [1.5, nil]]] as [[String: [Double?]]]),
    ]
  }

  func check(_ input: [UInt8]) throws {
    let sealed = try unsafe dataKey.seal(input.span.bytes, for: context)
    kept = sealed
    let summary = try taking({ try storage.summary(forKey: "k") }) ?? nil
    _ = try taking { try storage.load(Any.self, forKey: "k") }
    _ = try taking { try storage.load([Any].self, forKey: "k") }
    _ = try taking { try storage.load([String: Any].self, forKey: "k") }
    _ = try taking { try storage.load(Set<AnyHashable>.self, forKey: "k") }
    _ = try taking { try storage.load(Part.self, forKey: "k") }
    func again<Value>(_ type: Value.Type) throws {
      kept = sealed
      guard let value = try taking({ try storage.load(type, forKey: "k") }) ?? nil else { return }
      // It is written anew under the name that was asked for, and values of type any as the type that
      // they have: docs/file-format.md, "Reading a type as another".
      guard input.starts(with: [1, 0, 1, UInt8(ascii: "k")]), let summary,
        !summary.type.description.contains("Any")
      else { return }
      try storage.save(value, forKey: "k")
      guard try payload == input else { finding("a \(type) has a second encoding") }
    }
    try again(Bool.self)
    try again(Int.self)
    try again(Int8.self)
    try again(UInt16.self)
    try again(Double.self)
    try again(Float.self)
    try again(String.self)
    try again(Data.self)
    try again(Date.self)
    try again(URL.self)
    try again(UUID.self)
    try again(Decimal.self)
    try again([Int?].self)
    try again(Set<String>.self)
    try again([String: UInt8].self)
    try again([[String: [Double?]]].self)
  }

  // MARK: - The delegate

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { kept }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) { kept = record }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    guard kept == nil else { return false }
    kept = record
    return true
  }

  func remove(_ name: NameHash) throws(StorageError) { kept = nil }
}
