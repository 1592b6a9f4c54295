/// Binary property lists of one kind: a flat dictionary from ASCII strings to data.
///
/// The package has its own code for two reasons. Every change parses and writes a whole suite,
/// which Foundation does many times slower. And Foundation's parser should not get hostile bytes.
/// `PropertyListSerialization` and `UserDefaults` can read what this code writes.
///
/// The format, from CFBinaryPList.c: eight bytes of magic; the objects, each with a marker byte,
/// whose low half is a count, and its content; a table of the objects' offsets; a trailer.
enum FlatPropertyList {
  static let magic: [UInt8] = Array("bplist00".utf8)
  static let trailerSize = 32
  /// A suite is held in memory and written as a whole, so a larger file is not accepted.
  static let sizeLimit = 1 << 30

  /// The high half of an object's first byte.
  enum Marker {
    static let integer: UInt8 = 0x10
    static let data: UInt8 = 0x40
    static let string: UInt8 = 0x50
    static let dictionary: UInt8 = 0xD0
  }
}
