package import Foundation
package import StorageCore

extension FoundationObjects: FoundationObjectCoder {
  package func canArchive(_ type: Any.Type) -> Bool {
    type is any (NSObject & NSSecureCoding).Type
  }

  package func archive(_ object: Any) throws(StorageError) -> Data? {
    guard let object = object as? any NSObject & NSSecureCoding else { return nil }
    try Self.requireName(of: Swift.type(of: object))
    do {
      return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    } catch {
      throw StorageError(.invalid, "the \(Swift.type(of: object)) can't be archived")
    }
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

  /// Foundation's unarchiver ends the process on bytes that are not an archive: it is handed only
  /// bytes whose authenticated type says that we archived them.
  package func object(of archive: Data, as type: Any.Type) -> Any? {
    guard let type = type as? any (NSObject & NSSecureCoding).Type else { return nil }
    return Self.object(of: archive, as: type)
  }

  private static func object<Object: NSObject & NSSecureCoding>(
    of archive: Data, as type: Object.Type
  ) -> Any? {
    do {
      return try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: archive)
    } catch {
      return nil
    }
  }

  package func plainObject(of archive: Data) -> Any? {
    // First, since Foundation's unarchiver ends the process when it meets a class that was not
    // named.
    guard Self.namesPlainClasses(archive) else { return nil }
    do {
      return try NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.plainClasses, from: archive)
    } catch {
      return nil
    }
  }

  /// The classes of property lists and two more; creating one of their objects has no side effect.
  private static let plainClasses: [AnyClass] = [
    NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self, NSUUID.self, NSNull.self,
    NSArray.self, NSDictionary.self, NSSet.self,
  ]

  private static let plainNames = Set(plainClasses.map { "\($0)" })

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

  package func swiftValue(of object: Any) -> (any StorableValue)? {
    switch object {
    case let number as NSDecimalNumber: return number.decimalValue
    case let number as NSNumber:
      let type = unsafe SystemText.shown(number.objCType)
      switch type {
      case "c" where number.intValue == 0 || number.intValue == 1: return number.boolValue
      case "f": return number.floatValue
      case "d": return number.doubleValue
      case "C", "S", "I", "L", "Q": return number.uintValue
      default: return number.intValue
      }
    case let text as NSString: return String(describing: text)
    default: return nil
    }
  }
}
