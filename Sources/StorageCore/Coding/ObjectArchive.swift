internal import CryptoCore
internal import Foundation

/// `NSSecureCoding` objects through NSKeyedArchiver.
enum ObjectArchive {
  private static let type = ValueType(.archive)

  static func append(
    _ object: any NSObject & NSSecureCoding, to bytes: inout [UInt8]
  ) throws(StorageError) {
    try requireName(of: Swift.type(of: object))
    var data: Data
    do {
      data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    } catch {
      throw StorageError(.invalid, "the \(Swift.type(of: object)) can't be archived")
    }
    defer { Wipe.data(&data) }
    type.append(to: &bytes)
    try data.append(to: &bytes)
  }

  /// Refuses a class that Foundation has no name for: Foundation's archiver would end the process.
  private static func requireName(of type: AnyClass) throws(StorageError) {
    // NSStringFromClass takes `Module.Class` alone, and private classes are
    // "Module.(context).Class".
    guard String(reflecting: type).split(separator: ".").count != 2 else { return }
    throw StorageError(
      .unsupported,
      "the class \(type) is private or inside another type, and Foundation can't archive it; move it to "
        + "the top level of its file, or store a Codable type")
  }

  /// The classes of property lists and two more; creating one of their objects has no side effect.
  private static let plainClasses: [AnyClass] = [
    NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self, NSUUID.self, NSNull.self,
    NSArray.self, NSDictionary.self, NSSet.self,
  ]

  /// Reads an archive of objects of Foundation; nil where there is no archive, and then nothing is
  /// read.
  static func readPlain(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> Any? {
    guard type.matches(bytes, at: &offset) else { return nil }
    var data = try Data.read(bytes, at: &offset)
    defer { Wipe.data(&data) }
    // First, since Foundation's unarchiver ends the process when it meets a class that was not
    // named.
    guard namesPlainClasses(data) else { throw unnamed }
    do {
      if let object = try NSKeyedUnarchiver.unarchivedObject(ofClasses: plainClasses, from: data) {
        return object
      }
    } catch {
      throw unnamed
    }
    throw unnamed
  }

  /// Whether an archive names no class but plain ones and what they may be changed as.
  private static func namesPlainClasses(_ archive: Data) -> Bool {
    do {
      let list = try unsafe PropertyListSerialization.propertyList(from: archive, format: nil)
      guard let objects = (list as? [String: Any])?["$objects"] as? [Any] else { return false }
      let names = objects.compactMap { ($0 as? [String: Any])?["$classname"] }
      return names.allSatisfy { name in
        guard let name = name as? String, name.hasPrefix("NS") else { return false }
        return plainNames.contains(name.replacing("NSMutable", with: "NS", maxReplacements: 1))
      }
    } catch {
      return false
    }
  }

  private static let plainNames = Set(plainClasses.map { "\($0)" })

  private static let unnamed = StorageError(
    .typeMismatch,
    "the archived object is of a class that has to be named: read it with load(_:forKey:)")

  /// Foundation's unarchiver ends the process on bytes that are not an archive: it is handed only
  /// bytes whose authenticated type says that we archived them.
  static func read<Object: NSObject & NSSecureCoding>(
    _: Object.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Object {
    guard type.matches(bytes, at: &offset) else {
      throw try ValueCoder<Object>.mismatch(bytes, at: offset)
    }
    var data = try Data.read(bytes, at: &offset)
    defer { Wipe.data(&data) }
    do {
      if let object = try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data) {
        return object
      }
    } catch {
      throw StorageError(.typeMismatch, "the archived object is not a \(Object.self)")
    }
    throw StorageError(.typeMismatch, "the archived object is not a \(Object.self)")
  }
}
