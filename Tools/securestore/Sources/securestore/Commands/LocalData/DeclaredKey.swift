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
    switch descriptor.serializer {
    case Serializer.data.name:
      try Stored(key(.data, of: Data.self), router: router).load().map { .data($0) }
    case Serializer.json.name:
      try Stored(key(.json, of: JSONPart.self), router: router).load().map { .json($0.value) }
    case Serializer.plist.name:
      try Stored(key(.plist, of: JSONPart.self), router: router).load().map { .json($0.value) }
    default: throw isCustom
    }
  }

  /// Stores a value.
  func save(_ value: DeclaredValue, _ router: StorageRouter) throws {
    switch (descriptor.serializer, value) {
    case (Serializer.data.name, .data(let data)):
      try Stored(key(.data, of: Data.self), router: router).save(data)
    case (Serializer.json.name, .json(let json)):
      try Stored(key(.json, of: JSONPart.self), router: router).save(JSONPart(value: json))
    case (Serializer.plist.name, .json(let json)):
      try Stored(key(.plist, of: JSONPart.self), router: router).save(JSONPart(value: json))
    default: throw isCustom
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
    if descriptor.serializer == Serializer.data.name {
      guard
        case .value(let data as Data)? = try given.value(of: .type(Data.self), exactly: true, name)
      else { throw mismatch }
      return .data(data)
    }
    if let kind = ValueKind(stored: descriptor.valueType), kind.hasOwnForm {
      guard case .value(let value)? = try given.value(of: kind, exactly: true, name) else {
        throw mismatch
      }
      // As Codable, a Decimal is a number.
      return .json(value is Decimal ? .number(value.text ?? "0") : value.json)
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

/// The value of a declared key.
enum DeclaredValue {
  case json(JSONValue)
  case data(Data)

  /// The bytes that `get` writes: text and data unchanged, the rest as JSON.
  var bytes: [UInt8] {
    switch self {
    case .json(let json): Array((json.string ?? json.text).utf8)
    case .data(let data): Array(data)
    }
  }

  var json: JSONValue {
    switch self {
    case .json(let json): json
    case .data(let data): .string(data.base64EncodedString())
    }
  }
}
