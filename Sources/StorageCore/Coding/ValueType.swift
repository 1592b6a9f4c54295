/// The type of a stored value, as stored in its payload: docs/file-format.md, section "Value".
public struct ValueType: Hashable, Sendable, CustomStringConvertible {
  /// The tag bytes: one for a simple type, several for a type that consists of others.
  package let tags: [UInt8]

  package init(_ tag: Tag) { tags = [tag.rawValue] }
  package init(_ tag: Tag, of types: ValueType...) {
    tags = [tag.rawValue] + types.flatMap(\.tags)
  }
  private init(tags: ArraySlice<UInt8>) { self.tags = Array(tags) }

  package enum Tag: UInt8, Sendable {
    case bool = 0x01
    case int = 0x02
    case int8 = 0x03
    case int16 = 0x04
    case int32 = 0x05
    case int64 = 0x06
    case uint = 0x07
    case uint8 = 0x08
    case uint16 = 0x09
    case uint32 = 0x0A
    case uint64 = 0x0B
    case float = 0x0C
    case double = 0x0D
    case string = 0x0E
    case data = 0x0F
    case date = 0x10
    case url = 0x11
    case uuid = 0x12
    case decimal = 0x13
    case optional = 0x20
    case array = 0x21
    case set = 0x22
    case dictionary = 0x23
    case any = 0x24
    case json = 0x30
    case propertyList = 0x31
    case custom = 0x32
    case archive = 0x33

    var title: String {
      switch self {
      case .bool: "Bool"
      case .int: "Int"
      case .int8: "Int8"
      case .int16: "Int16"
      case .int32: "Int32"
      case .int64: "Int64"
      case .uint: "UInt"
      case .uint8: "UInt8"
      case .uint16: "UInt16"
      case .uint32: "UInt32"
      case .uint64: "UInt64"
      case .float: "Float"
      case .double: "Double"
      case .string: "String"
      case .data: "Data"
      case .date: "Date"
      case .url: "URL"
      case .uuid: "UUID"
      case .decimal: "Decimal"
      case .optional: "Optional"
      case .array: "Array"
      case .set: "Set"
      case .dictionary: "Dictionary"
      case .any: "Any"
      case .json: "Codable as JSON"
      case .propertyList: "Codable as property list"
      case .custom: "Codable in a coding of the application"
      case .archive: "keyed archive"
      }
    }

    /// How many types follow the tag.
    var parts: Int {
      switch self {
      case .optional, .array, .set: 1
      case .dictionary: 2
      default: 0
      }
    }
  }

  /// How many levels a value may have.
  static let depthLimit = 32

  /// Reads a type.
  @inline(__always)
  static func read(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> ValueType {
    let start = offset
    try skip(bytes, at: &offset, depth: 0)
    let type = ValueType(tags: bytes.extracting(start..<offset).copied()[...])
    guard type.isLegal else {
      throw StorageError(.damaged, "the stored type \(type) is not a legal type")
    }
    return type
  }

  /// Whether values of the type are stored: any occurs only as the element of three types.
  var isLegal: Bool { !tags.contains(Tag.any.rawValue) || isOfAny }

  /// The error for a value of a type that is never stored.
  var illegal: StorageError {
    StorageError(
      .unsupported,
      "a \(self) can't be stored; elements of Any are stored in [Any], Set<Any> and [String: Any]")
  }

  /// Whether it is one of the three types whose elements each have a type of their own.
  private var isOfAny: Bool {
    let any = ValueType(.any)
    return self == ValueType(.array, of: any) || self == ValueType(.set, of: any)
      || self == ValueType(.dictionary, of: ValueType(.string), any)
  }

  /// Appends the tag bytes.
  @inline(__always)
  func append(to bytes: inout [UInt8]) {
    bytes.makeRoom(for: tags.count)
    if tags.count == 1 { bytes.append(tags[0]) } else { bytes += tags }
  }

  /// Whether the next bytes are this type; if so, moves `offset` past them.
  @inline(__always)
  func matches(_ bytes: RawSpan, at offset: inout Int) -> Bool {
    guard bytes.byteCount - offset >= tags.count else { return false }
    for index in 0..<tags.count
    where unsafe bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) != tags[index] {
      return false
    }
    offset += tags.count
    return true
  }

  private static func skip(
    _ bytes: RawSpan, at offset: inout Int, depth: Int
  ) throws(StorageError) {
    let code = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard let tag = Tag(rawValue: code) else {
      throw StorageError(
        .unsupported, "this release does not know value type \(code); update the program")
    }
    guard depth < depthLimit else { throw StorageError(.damaged, "the value is nested too deeply") }
    for _ in 0..<tag.parts { try skip(bytes, at: &offset, depth: depth + 1) }
  }

  /// The first tag.
  package var tag: Tag { Tag(rawValue: tags[0])! }

  /// The types that follow the first tag.
  package var parts: [ValueType] {
    var parts: [ValueType] = []
    var rest = tags.dropFirst()
    while !rest.isEmpty {
      let count = Self.length(rest)
      parts.append(ValueType(tags: rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return parts
  }

  /// How many levels the type has: 1 for a simple one.
  var nesting: Int {
    var deepest = 1
    // How many types are still missing on each open level.
    var open: [Int] = []
    for tag in tags {
      deepest = max(deepest, open.count + 1)
      let parts = Tag(rawValue: tag)?.parts ?? 0
      if parts > 0 {
        open.append(parts)
      } else {
        while let last = open.popLast() {
          if last > 1 {
            open.append(last - 1)
            break
          }
        }
      }
    }
    return deepest
  }

  private static func length(_ tags: ArraySlice<UInt8>) -> Int {
    var count = 1
    for _ in 0..<(Tag(rawValue: tags.first!)?.parts ?? 0) {
      count += length(tags.dropFirst(count))
    }
    return count
  }

  /// The type as written in Swift.
  public var description: String {
    let parts = parts
    return switch tag {
    case .optional: "\(parts[0])?"
    case .array: "[\(parts[0])]"
    case .set: "Set<\(parts[0])>"
    case .dictionary: "[\(parts[0]): \(parts[1])]"
    default: tag.title
    }
  }
}
