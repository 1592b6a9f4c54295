import Foundation
import StorageCore
import Testing

@testable import LocalData

/// Bytes that may be a property list.
struct PropertyListSyntaxTests {
  private struct Nested: Codable {
    var numbers = ["1": "a", "2": "b"]
    var list = [[1.5, 2.5], [], [3]]
    var data = Data(repeating: 7, count: 40)
    var date = Date(timeIntervalSinceReferenceDate: 1)
    var flag = false
    var text = "é"
  }

  @Test func everyCutOfAListIsInvalid() throws {
    let list = try PropertyListCoder.encode(Nested())
    #expect(PropertyListSyntax.isValue(list))
    for count in 0..<list.count {
      #expect(!PropertyListSyntax.isValue(list.prefix(count)), "\(count)")
    }
  }

  /// A list of some objects, of which the first is the top.
  private func list(_ objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 255)] }
    bytes += [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return Data(bytes)
  }

  @Test func aListThatContainsItselfIsInvalid() {
    #expect(!PropertyListSyntax.isValue(list([[0xA1, 0]])))
    #expect(!PropertyListSyntax.isValue(list([[0xA1, 1], [0xA1, 0]])))
    #expect(!PropertyListSyntax.isValue(list([[0xD1, 1, 0], [0x51, 0x61]])))
  }

  @Test func aListThatGrowsWhenItIsReadIsCheckedOnce() {
    let doubling = (1...60).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x09]]
    #expect(PropertyListSyntax.isValue(list(doubling)))
  }

  @Test func onlySoManyLevelsAreTaken() {
    func nested(_ depth: Int) -> Data {
      // Each level refers to the next one with two bytes.
      var bytes = Array("bplist00".utf8)
      for level in 1...depth { bytes += [0xA1, UInt8(level >> 8), UInt8(level & 255)] }
      bytes.append(0x09)
      let table = bytes.count
      for level in 0...depth {
        let offset = 8 + 3 * level
        bytes += [UInt8(offset >> 8), UInt8(offset & 255)]
      }
      bytes += [0, 0, 0, 0, 0, 0, 2, 2]
      for number in [depth + 1, 0, table] {
        bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      }
      return Data(bytes)
    }
    #expect(PropertyListSyntax.isValue(nested(512)))
    #expect(!PropertyListSyntax.isValue(nested(513)))
    #expect(!PropertyListSyntax.isValue(nested(10_000)))
  }

  @Test(
    arguments: [
      [0x00], [0x0F], [0x15], [0x10], [0x21, 0], [0x23, 0], [0x33, 0], [0x41], [0x51],
      [0x51, 0x80],
      [0x61, 0], [0x71, 0x61], [0xA1], [0xA1, 9], [0xC1, 1], [0xD1, 0, 0], [0xF0], [0x4F],
      [0x4F, 0x10],
      [0x4F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xAF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ] as [[UInt8]])
  func anObjectThatIsNoneIsInvalid(_ object: [UInt8]) {
    #expect(!PropertyListSyntax.isValue(list([object])))
  }
}
