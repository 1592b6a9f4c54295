internal import FoundationEssentials

/// Whether a property list is of a form that Foundation's decoder survives.
///
/// The decoder recurses into arrays and dictionaries without a limit: a few hundred kilobytes
/// overflow the stack, and a binary list that contains itself always does. Any program may have
/// written an item of the keyring.
enum PropertyListShape {
  /// The most arrays and dictionaries; all of them may be nested.
  private static let mostContainers = 512
  /// The most XML tags, end tags included.
  private static let mostTags = 2_048

  static func isHarmless(_ data: Data) -> Bool {
    let bytes = Array(data)
    guard bytes.starts(with: Array("bplist".utf8)) else {
      // A zero byte means an encoding such as UTF-16, in which tags could not be counted.
      return !bytes.contains(0) && bytes.count(where: { $0 == UInt8(ascii: "<") }) <= mostTags
    }
    return Binary(bytes)?.isTree == true
  }

  /// Reads only the references of a binary list: CFBinaryPList.c describes the format.
  private struct Binary {
    private let bytes: [UInt8]
    private let referenceSize: Int
    private let root: Int
    private var offsets: [Int] = []

    /// Nil if the bytes are no binary list.
    init?(_ bytes: [UInt8]) {
      guard bytes.count >= 8 + 32 else { return nil }
      self.bytes = bytes
      let trailer = bytes.count - 32
      let offsetSize = Int(bytes[trailer + 6])
      referenceSize = Int(bytes[trailer + 7])
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
        let count = Self.number(bytes, trailer + 8, 8),
        let root = Self.number(bytes, trailer + 16, 8),
        let table = Self.number(bytes, trailer + 24, 8),
        count <= bytes.count, root < count, table <= trailer,
        count <= (trailer - table) / offsetSize
      else { return nil }
      self.root = root
      for index in 0..<count {
        guard let offset = Self.number(bytes, table + index * offsetSize, offsetSize),
          offset < table
        else { return nil }
        offsets.append(offset)
      }
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
      guard start >= 0, size <= bytes.count - start else { return nil }
      var number: UInt64 = 0
      for byte in bytes[start..<start + size] { number = number << 8 | UInt64(byte) }
      return Int(exactly: number)
    }

    /// Whether each array or dictionary is in one place and not within itself, and there are not
    /// too many.
    var isTree: Bool {
      var places = [Int](repeating: 0, count: offsets.count)
      var containers: [Int] = []
      for (index, offset) in offsets.enumerated() {
        // Array, ordered set, set and dictionary; the last has keys and values.
        let kind = bytes[offset] >> 4
        guard [0xA, 0xB, 0xC, 0xD].contains(kind) else { continue }
        containers.append(index)
        guard containers.count <= mostContainers, let (count, start) = length(at: offset),
          count <= bytes.count
        else { return false }
        for number in 0..<(kind == 0xD ? 2 * count : count) {
          guard let other = Self.number(bytes, start + number * referenceSize, referenceSize),
            other < places.count
          else { return false }
          places[other] += 1
        }
      }
      return places[root] == 0 && containers.allSatisfy { places[$0] <= 1 }
    }

    /// How many members a container has, and where their references begin.
    private func length(at offset: Int) -> (count: Int, start: Int)? {
      let short = Int(bytes[offset] & 0xF)
      guard short == 0xF else { return (short, offset + 1) }
      // An integer object follows: its low bits are the logarithm of its size.
      guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { return nil }
      let size = 1 << Int(bytes[offset + 1] & 0xF)
      guard size <= 8, let count = Self.number(bytes, offset + 2, size) else { return nil }
      return (count, offset + 2 + size)
    }
  }
}
