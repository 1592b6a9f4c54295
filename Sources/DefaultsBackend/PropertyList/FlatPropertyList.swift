/// Binary property lists of one kind: a flat dictionary from ASCII strings to data.
///
/// Code of our own because a suite is parsed and written whole at every change, which Foundation
/// does many times slower, and because its parser should not be handed hostile bytes. What is
/// written here, `PropertyListSerialization` and `UserDefaults` read.
///
/// The format, from CFBinaryPList.c: eight bytes of magic; the objects, each a marker byte whose
/// low half is a count and its content; a table of their offsets; a trailer.
enum FlatPropertyList {
  static let magic: [UInt8] = Array("bplist00".utf8)
  static let trailerSize = 32
  /// A suite is held in memory and written whole: more than this is no settings file.
  static let sizeLimit = 1 << 30

  /// The high half of an object's first byte.
  enum Marker {
    static let integer: UInt8 = 0x10
    static let data: UInt8 = 0x40
    static let string: UInt8 = 0x50
    static let dictionary: UInt8 = 0xD0
  }
}
