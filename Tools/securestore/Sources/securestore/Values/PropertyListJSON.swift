internal import CryptoCore
internal import Foundation

/// Converts property lists of `Codable` values to JSON, and back.
///
/// Whole numbers have no point and no exponent, other numbers have one. Data, dates, and numbers
/// that JSON lacks are objects of `$type` and `$value`.
enum PropertyListJSON {
  /// The text that Foundation's encoder writes for nil.
  private static let null = "$null"

  // MARK: - To JSON

  /// The JSON of a property list; nil if it has something that a `Codable` value never has.
  static func json(of data: Data) throws -> JSONValue? {
    value(try unsafe PropertyListSerialization.propertyList(from: data, format: nil))
  }

  private static func value(_ value: Any) -> JSONValue? {
    switch value {
    case let text as String: return text == null ? .null : .string(text)
    case let date as Date: return TypedJSON.tagged("Date", date.json)
    case let data as Data: return TypedJSON.tagged("Data", data.json)
    case let values as [Any]:
      let all = values.compactMap { self.value($0) }
      return all.count == values.count ? .array(all) : nil
    case let pairs as [String: Any]:
      let members = pairs.sorted { $0.key < $1.key }.compactMap { name, value in
        self.value(value).map { (name, $0) }
      }
      guard members.count == pairs.count else { return nil }
      let object = JSONValue.object(members)
      return pairs[TypedJSON.typeName] == nil ? object : TypedJSON.tagged("JSON", object)
    case let number as NSNumber: return scalar(number)
    default: return nil
    }
  }

  private static func scalar(_ number: NSNumber) -> JSONValue {
    switch unsafe SystemText.shown(number.objCType) {
    case "c": .bool(number.boolValue)  // a property list has no other number of one byte
    case "d", "f":
      number.doubleValue.isFinite
        ? number.doubleValue.json : TypedJSON.tagged("Double", number.doubleValue.json)
    case "Q": number.uint64Value.json
    default: number.int64Value.json
    }
  }

  // MARK: - From JSON

  /// The binary property list of a value; nil if a property list can't hold the value.
  static func data(of json: JSONValue) -> Data? {
    guard let object = object(of: json) else { return nil }
    do {
      return try PropertyListSerialization.data(
        fromPropertyList: object, format: .binary, options: 0)
    } catch {
      return nil  // the error may quote the value
    }
  }

  private static func object(of json: JSONValue) -> Any? {
    switch json {
    case .null: return null
    case .bool(let value): return value
    // The reader would take this text for nil.
    case .string(let text): return text == null ? nil : text
    case .number(let digits): return number(json, isWhole: !digits.contains { ".eE".contains($0) })
    case .array(let values):
      let all = values.compactMap { object(of: $0) }
      return all.count == values.count ? all : nil
    case .object(let members):
      guard let (type, value) = TypedJSON.parts(of: json) else {
        return json[TypedJSON.typeName] == nil ? dictionary(members) : nil
      }
      return tagged(type, value)
    }
  }

  private static func number(_ json: JSONValue, isWhole: Bool) -> Any? {
    guard isWhole else { return Double.reading(json).map { NSNumber(value: $0) } }
    if let value = Int64.reading(json) { return NSNumber(value: value) }
    return UInt64.reading(json).map { NSNumber(value: $0) }
  }

  private static func tagged(_ type: String, _ value: JSONValue) -> Any? {
    switch (type, value) {
    case ("Date", _): Date.reading(value)
    case ("Data", _): Data.reading(value)
    case ("Double", _): Double.reading(value).map { NSNumber(value: $0) }
    case ("JSON", .object(let members)): dictionary(members)
    default: nil
    }
  }

  private static func dictionary(_ members: [(String, JSONValue)]) -> [String: Any]? {
    var pairs: [String: Any] = [:]
    for (name, json) in members {
      guard let value = object(of: json), pairs.updateValue(value, forKey: name) == nil else {
        return nil
      }
    }
    return pairs
  }
}
