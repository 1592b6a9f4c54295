import CryptoCore
import TestSupport

/// Marker bytes that are nowhere in one piece but in what is made of them.
struct Secret {
  private let left, right: [UInt8]

  init(count: Int) throws {
    left = try randomBytes(count)
    // Never equal, so that no byte is zero: a run of zeroes is everywhere.
    right = try zip(left, randomBytes(count)).map { $0 == $1 ? $1 ^ 0x80 : $1 }
  }

  /// The halves of bytes that the caller then wipes.
  init(splitting bytes: UnsafeRawBufferPointer) throws {
    let right = try randomBytes(bytes.count)
    left = bytes.indices.map { unsafe bytes[$0] ^ right[$0] }
    self.right = right
  }

  func makeKey() throws -> SymmetricKey {
    SymmetricKey(
      bytes: try SecureBytes(count: left.count) { span in
        for index in left.indices {
          span.storeBytes(of: left[index] ^ right[index], toByteOffset: index, as: UInt8.self)
        }
      })
  }

  /// How many copies of the last 32 bytes, each changed by `pad`, the process's memory holds.
  ///
  /// The last, since free(3) writes over the first.
  func copies(pad: UInt8 = 0) -> Int {
    ProcessMemory.addresses(
      of: Array(left.suffix(32)), xor: right.suffix(32).map { $0 ^ pad }
    ).count
  }
}
