internal import CryptoCore
package import FoundationEssentials

/// Stores objects of Foundation, such as `NSNumber`.
///
/// StorageCore imports only FoundationEssentials. Foundation itself adds 40 MB to a program that
/// links Swift's libraries statically, and not every program stores such objects.
package protocol FoundationObjectCoder: Sendable {
  /// Whether objects of a type can be archived.
  func canArchive(_ type: Any.Type) -> Bool
  /// The archive of an object; nil if its class has none.
  func archive(_ object: Any) throws(StorageError) -> Data?
  /// The object of an archive; nil if it is not of the type.
  func object(of archive: Data, as type: Any.Type) -> Any?
  /// The object of an archive that holds only objects that a property list can hold, `NSURL` and
  /// `NSUUID`; nil for any other archive.
  func plainObject(of archive: Data) -> Any?
  /// The Swift value of a number or a text, as readers of JSON and of property lists return them;
  /// nil for any other object.
  func swiftValue(of object: Any) -> (any StorableValue)?
}

/// What the module StorageFoundation makes conform to ``FoundationObjectCoder``.
package struct FoundationObjects: Sendable {
  /// Nil in a program that does not link StorageFoundation.
  static let coder = coder(FoundationObjects())

  // The cast finds a conformance of any linked module. It is neither inlined nor specialised,
  // because the compiler sees no conformance here and could take the answer for no.
  @inline(never)
  private static func coder(_ candidate: Any) -> (any FoundationObjectCoder)? {
    candidate as? any FoundationObjectCoder
  }

  private static let type = ValueType(.archive)

  /// What an error adds where the module is missing.
  static let advice =
    "if it is an object of Foundation, add the product StorageFoundation to the target that makes "
    + "the program, or store the Swift type that corresponds to it"

  /// The error for an archive where the module is missing.
  static let unreadable = StorageError(
    .unsupported,
    "the value is an archived object of Foundation, and this program can't read those; add the product "
      + "StorageFoundation to the target that makes the program")

  /// Appends an object as an archive; returns false for a value that has none.
  static func append(_ value: Any, to bytes: inout [UInt8]) throws(StorageError) -> Bool {
    guard var archive = try coder?.archive(value) else { return false }
    defer { Wipe.data(&archive) }
    type.append(to: &bytes)
    try archive.append(to: &bytes)
    return true
  }

  /// Reads an object of a type that can be archived.
  static func read<Object>(
    _: Object.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Object {
    guard type.matches(bytes, at: &offset) else {
      throw try ValueCoder<Object>.mismatch(bytes, at: offset)
    }
    var archive = try Data.read(bytes, at: &offset)
    defer { Wipe.data(&archive) }
    guard let object = coder?.object(of: archive, as: Object.self) as? Object else {
      throw StorageError(.typeMismatch, "the archived object is not a \(Object.self)")
    }
    return object
  }

  /// Reads an archive of objects whose class need not be named; nil where there is no archive, and
  /// then nothing is read.
  static func readPlain(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> Any? {
    guard type.matches(bytes, at: &offset) else { return nil }
    guard let coder else { throw unreadable }
    var archive = try Data.read(bytes, at: &offset)
    defer { Wipe.data(&archive) }
    guard let object = coder.plainObject(of: archive) else {
      throw StorageError(
        .typeMismatch,
        "the archived object is of a class that has to be named: read it with load(_:forKey:)")
    }
    return object
  }
}
