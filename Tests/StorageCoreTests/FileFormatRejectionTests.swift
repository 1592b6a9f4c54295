import CryptoCore
import Foundation
import TestSupport
import Testing

@testable import StorageCore

/// The table "What a reader rejects" of docs/file-format.md, by changes to the document's examples.
struct FileFormatRejectionTests {
  private let header: [UInt8]
  private let keyset: [UInt8]
  private let keysetWithStates: [UInt8]
  private let store: StoreID
  private let root: RootKey

  init() throws {
    let document = try FormatDocument()
    header = document.bytes("header")
    keyset = document.bytes("keyset")
    keysetWithStates = document.bytes("keyset-states")
    store = try #require(StoreID(document.bytesOfLines("record-inputs")[0]))
    root = RootKey(SymmetricKey(data: [UInt8](0x80...0x9f)), store: store)
  }

  /// The code that reading `bytes` as a header throws; nil when it throws none.
  private func codeOfHeader(_ bytes: [UInt8]) -> StorageError.Code? {
    do throws(StorageError) {
      _ = try StoreHeader(reading: bytes)
      return nil
    } catch {
      return error.code
    }
  }

  private func changed(_ bytes: [UInt8], _ offset: Int, _ new: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
    return bytes
  }

  // Slot 1 begins at 26, its identifier has 10 bytes; slot 2 begins at 197.
  @Test(arguments: [
    ("the magic", 0, [0x58], "damaged"), ("the version", 4, [2], "unsupported"),
    ("no slot", 21, [0], "damaged"), ("33 slots", 21, [33], "damaged"),
    ("a slot beyond the limit", 22, [0, 0, 0x10, 1], "damaged"),
    ("the slot's version", 26, [2], "unsupported"), ("kind 0", 31, [0], "unsupported"),
    ("kind 10", 31, [10], "unsupported"),
    ("an identifier beyond the limit", 32, [0, 0, 4, 1], "damaged"),
    ("an identifier that is not UTF-8", 36, [0xff], "damaged"),
    ("function 5", 46, [5], "unsupported"),
    ("an unused parameter", 47, [0, 0, 0, 1], "damaged"),
    ("scrypt's N beyond the limit", 208, [0, 0x20, 0, 0], "damaged"),
    ("scrypt's N that is no power of two", 208, [0, 0, 4, 1], "damaged"),
    ("scrypt's r beyond the limit", 212, [0, 0, 0, 33], "damaged"),
    ("scrypt's p of 0", 216, [0, 0, 0, 0], "damaged"),
  ])
  func aHeaderIsRejectedFor(_ what: String, _ offset: Int, _ new: [UInt8], _ code: String) {
    #expect(codeOfHeader(changed(header, offset, new))?.description == code, "\(what)")
  }

  /// A function and its three parameters, in the slot of the passphrase: nothing is derived by them.
  @Test(
    arguments: [
      (1, [1 << 21, 8, 1]), (1, [1 << 31, 8, 1]), (1, [1 << 20, 32, 1]), (1, [1 << 20, 8, 16]),
      (1, [(1 << 17) + 1, 8, 1]), (1, [0, 8, 1]), (1, [1, 8, 1]), (1, [1 << 17, 0, 1]),
      (1, [1 << 10, 33, 1]), (1, [1 << 10, 8, 17]), (1, [1 << 10, 8, 0]),
      (2, [10_000_001, 0, 0]), (2, [0, 0, 0]), (2, [1000, 1, 0]), (2, [1000, 0, 1]),
      (3, [UInt32.max, 0, 0]), (4, [(1 << 20) + 1, 3, 4]), (4, [UInt32.max, UInt32.max, 1]),
      (4, [65_536, 17, 4]), (4, [65_536, 3, 17]), (4, [8, 1, 2]), (0, [1, 0, 0]),
    ] as [(UInt8, [UInt32])])
  func parametersBeyondTheLimitsAreDamage(_ function: UInt8, _ parameters: [UInt32]) {
    let bytes = parameters.flatMap { number in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    #expect(codeOfHeader(changed(header, 207, [function] + bytes)) == .damaged)
  }

  @Test func aKeysetThatDoesNotOpenIsDamaged() throws {
    var header = try StoreHeader(reading: header)
    for index in header.sealedKeyset.indices {
      header.sealedKeyset[index] ^= 0x80
      let error = #expect(throws: StorageError.self) { try root.openKeyset(of: header) }
      #expect(error?.code == .damaged, "byte \(index)")
      header.sealedKeyset[index] ^= 0x80
    }
    #expect(try root.openKeyset(of: header).primaryID == 7)
  }

  @Test func aRootKeyThatDoesNotGiveTheRootCheckIsNotTheHeaders() throws {
    var header = try StoreHeader(reading: header)
    #expect(try root.isRoot(of: header))
    header.rootCheck[31] ^= 1
    #expect(try !root.isRoot(of: header))
  }

  private func codeOfKeyset(_ bytes: [UInt8]) -> StorageError.Code? {
    do throws(StorageError) {
      _ = try unsafe Keyset(reading: bytes.span.bytes)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func aKeysetIsReadStrictly() {
    #expect(codeOfKeyset(changed(keyset, 0, [0])) == .unsupported)
    #expect(codeOfKeyset(changed(keyset, 0, [2])) == .unsupported)
    #expect(codeOfKeyset(changed(keyset, 4, [9])) == .damaged, "lacks its primary")
    #expect(codeOfKeyset(changed(keyset, 47, [4])) == .unsupported, "algorithm 4")
    for count in 0..<keyset.count {
      #expect(codeOfKeyset(Array(keyset.prefix(count))) == .damaged, "\(count) bytes")
    }
    #expect(codeOfKeyset(keyset + [0]) == .damaged)
    let twice = changed(keyset, 9, [0, 2]) + keyset.suffix(46)
    #expect(codeOfKeyset(twice) == .damaged, "an id twice")
  }

  @Test func theStatesOfDataKeysAreReadStrictly() {
    // Of the first data key, which is not the primary one, and of the last.
    let (first, last) = (43 + 45, 43 + 46 + 45)
    for state in UInt8(0)...2 {
      #expect(codeOfKeyset(changed(keysetWithStates, first, [state])) == nil)
      let ofPrimary = codeOfKeyset(changed(keysetWithStates, last, [state]))
      #expect(ofPrimary == (state == 0 ? nil : .damaged))
    }
    #expect(codeOfKeyset(changed(keysetWithStates, first, [3])) == .unsupported)
    for count in 0..<keysetWithStates.count {
      #expect(codeOfKeyset(Array(keysetWithStates.prefix(count))) == .damaged, "\(count) bytes")
    }
  }
}
