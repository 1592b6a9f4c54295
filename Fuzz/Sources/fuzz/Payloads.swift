import CryptoCore
import Foundation

@testable import StorageCore

extension Target {
  /// What a record holds: who writes it has the keys, as another program of the user does.
  ///
  /// Every input is read as every type. One in sixteen is sealed, and read out of a storage.
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
    var isOfItsType = false
    _ = try taking {
      var offset = try unsafe Payload.valueOffset(input.span.bytes)
      let type = try unsafe ValueType.read(input.span.bytes, at: &offset)
      // Values of type any are written as the type that they have: docs/file-format.md, "Reading a
      // type as another".
      isOfItsType = !type.description.contains("Any")
    }
    let name = isOfItsType ? try taking { try unsafe Payload.name(input.span.bytes) } : nil
    for reading in Self.readings { try reading(input, name) }
    if isPicked(input, oneIn: 16) { try load(input) }
  }

  /// Reads a payload as a type, and writes it again under its name, if one is given.
  private typealias Reading = @Sendable (_ input: [UInt8], _ name: String?) throws -> Void

  private static let readings: [Reading] = [
    reading(Any.self, again: false), reading([Any].self, again: false),
    reading([String: Any].self, again: false), reading(Set<AnyHashable>.self, again: false),
    reading(Part.self, again: false),
    reading(Bool.self), reading(Int.self), reading(Int8.self), reading(UInt16.self),
    reading(Double.self), reading(Float.self), reading(String.self), reading(Data.self),
    reading(Date.self), reading(URL.self), reading(UUID.self), reading(Decimal.self),
    reading([Int?].self), reading(Set<String>.self), reading([String: UInt8].self),
    reading([[String: [Double?]]].self),
  ]

  private static func reading<Value>(_: Value.Type, again: Bool = true) -> Reading {
    let coder = ValueCoder<Value>.automatic()
    return { input, name in
      let value = try taking { try unsafe coder.decode(input.span.bytes) }
      guard again, let value, let name, try isStored(Value.self, input) else { return }
      var payload = try Payload.head(name: name)
      try coder.append(value, &payload)
      guard payload == input else { finding("a \(Value.self) has a second encoding") }
    }
  }

  /// Whether a payload that can be read holds the type itself.
  ///
  /// A number is also read from exact text, which has several forms.
  private static func isStored(_ type: Any.Type, _ input: [UInt8]) throws -> Bool {
    guard let type = type as? any StorableValue.Type else { return false }
    var offset = try unsafe Payload.valueOffset(input.span.bytes)
    return unsafe type.valueType.matches(input.span.bytes, at: &offset)
  }

  /// Reads a payload out of a storage.
  private func load(_ input: [UInt8]) throws {
    let sealed = try unsafe dataKey.seal(input.span.bytes, for: context)
    kept = sealed
    _ = try taking { try storage.summary(forKey: "k") }
    _ = try taking { try storage.load(Any.self, forKey: "k") }
    _ = try taking { try storage.load(String.self, forKey: "k") }
    _ = try taking { try storage.load(Part.self, forKey: "k") }
    guard kept == sealed else { finding("to read a value changed it") }
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
