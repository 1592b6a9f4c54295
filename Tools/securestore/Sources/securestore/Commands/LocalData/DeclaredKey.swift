internal import ArgumentParser
internal import Foundation
internal import LocalData
internal import StorageCore

/// A key of a catalog, as this program reads and writes it: by its declaration, without its Swift
/// type.
struct DeclaredKey {
  let descriptor: StorageKeyDescriptor

  /// The domain and the name.
  var title: String { Self.title(of: descriptor) }

  static func title(of key: StorageKeyDescriptor) -> String { "\(key.domain)/\(key.name)" }

  /// The key of a name in a catalog.
  ///
  /// - Parameters:
  ///   - name: the name, or the domain and the name if several domains have it.
  ///   - catalog: the catalog.
  /// - Throws: `Failure` for a name that is not declared, with similar ones, and for one that
  ///   several keys have.
  init(_ name: String, in catalog: StorageCatalogFile) throws {
    let keys = catalog.keys.filter { key in
      [key.name, Self.title(of: key)].contains { $0.isExactly(name) }
    }
    guard let key = keys.first else {
      let near = Nearness.names(name, in: catalog.keys.map(\.name).withoutRepetition)
      throw Failure(
        .absent, "the catalog declares no such key" + Nearness.question(near), key: name)
    }
    guard keys.count == 1 else {
      throw Failure(
        .usage,
        "several domains have a key of this name; give one of "
          + keys.map { Self.title(of: $0) }.joined(separator: ", "), key: name)
    }
    descriptor = key
  }

  /// The stored value; nil if there is none.
  func value(_ router: StorageRouter) throws -> DeclaredValue? {
    func load<Value: TypedValue>(_: Value.Type) throws -> DeclaredValue? {
      try Stored(key(serializer, of: Value.self), router: router).load().map { .value($0) }
    }
    if let type { return try load(type) }
    // Foundation's decoders would round what they do not know to be a Decimal.
    guard let bytes = try encoded(router).load() else { return nil }
    return .json(try EncodedValue(bytes, coding: coding).json(of: StoreKey(name)))
  }

  /// Stores a value.
  func save(_ value: DeclaredValue, _ router: StorageRouter) throws {
    func save<Value: TypedValue>(_ value: Value) throws {
      try Stored(key(serializer, of: Value.self), router: router).save(value)
    }
    switch value {
    case .value(let value): try save(value)
    case .json(let json):
      let text = Data(json.sorted.text.utf8)
      guard let bytes = try coding == .json ? text : PropertyListJSON.data(of: json) else {
        throw mismatch
      }
      try encoded(router).save(bytes)
    }
  }

  /// The bytes of a value whose type only the application knows.
  private func encoded(_ router: StorageRouter) throws -> Stored<StoredKey<Data>> {
    try Stored(key(serializer.ofBytes, of: Data.self), router: router)
  }

  private var coding: EncodedValue.Coding {
    get throws { try serializer.name == Serializer.json.name ? .json : .propertyList }
  }

  /// The declared type, if it is one of Foundation's or Swift's; nil for a type of the application.
  private var type: (any TypedValue.Type)? {
    descriptor.serializer == Serializer.data.name
      ? Data.self : TypeReader.type(descriptor.valueType) as? any TypedValue.Type
  }

  private var serializer: Serializer {
    get throws {
      let all = [Serializer.json, .plist, .data]
      guard let known = all.first(where: { $0.name == descriptor.serializer }) else {
        throw isCustom
      }
      return known
    }
  }

  /// Removes the value; false if there is none.
  func remove(_ router: StorageRouter) throws -> Bool {
    let property = Stored(key(.data, of: Data.self), router: router)
    guard try property.core.contains() else { return false }
    try property.remove()
    return true
  }

  /// A given value as this key stores it.
  ///
  /// - Parameters:
  ///   - given: the value.
  ///   - old: the stored value, whose form a value of an unknown type must have.
  /// - Returns: the value to store.
  /// - Throws: `Failure` for a value that does not convert exactly.
  func converted(_ given: GivenValue, like old: DeclaredValue?) throws -> DeclaredValue {
    _ = try serializer
    if let type {
      guard
        case .value(let value as any TypedValue)? = try given.value(
          of: .type(type), exactly: true, name)
      else { throw mismatch }
      return .value(value)
    }
    var form: JSONValue?
    if case .json(let json)? = old { form = json }
    if case .json(let json)? = try given.value(of: .json, exactly: true, name, like: form) {
      return .json(json)
    }
    guard form == nil, case .value(let text as String)? = try given.asItIs(name) else {
      throw mismatch
    }
    return .json(.string(text))
  }

  private var name: String { descriptor.name }

  private var mismatch: Failure {
    Failure(
      .typeMismatch,
      "the key is declared as \(descriptor.valueType), and the input does not convert exactly; nothing was "
        + "changed", key: name)
  }

  private var isCustom: Failure {
    Failure(
      .unsupported,
      "the key has the serializer \(descriptor.serializer), so only the application reads and writes it",
      key: name)
  }

  private func key<Value: Codable & Sendable>(
    _ serializer: Serializer, of _: Value.Type
  ) -> StoredKey<Value> {
    StoredKey(
      descriptor.name, in: descriptor.domain, security: descriptor.security,
      serializer: serializer, owner: descriptor.owner, description: descriptor.description,
      availability: descriptor.availability, syncPolicy: descriptor.syncPolicy)
  }
}

/// A value that is read and written by its own type.
typealias TypedValue = ReadableValue & Codable & Sendable

/// The value of a declared key.
enum DeclaredValue {
  case value(any TypedValue)
  /// Of a type that only the application knows.
  case json(JSONValue)

  /// The bytes that `get` writes: text and data unchanged, the rest as JSON.
  var bytes: [UInt8] {
    switch self {
    case .value(let data as Data): Array(data)
    case .value(let value): Array((value.text ?? value.json.text).utf8)
    case .json(let json): Array((json.string ?? json.text).utf8)
    }
  }

  var isText: Bool { if case .value(_ as Data) = self { false } else { true } }

  var json: JSONValue {
    switch self {
    case .value(let value): value.json
    case .json(let json): json
    }
  }
}

extension JSONValue {
  /// With the members of all objects in order, as LocalData's encoder writes them.
  fileprivate var sorted: JSONValue {
    switch self {
    case .array(let values): .array(values.map(\.sorted))
    case .object(let members):
      .object(members.sorted { $0.0 < $1.0 }.map { ($0.0, $0.1.sorted) })
    default: self
    }
  }
}
