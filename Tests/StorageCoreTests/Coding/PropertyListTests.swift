import Foundation
import StorageCore
import Testing

/// Binary property lists of one scalar.
@Suite struct PropertyListTests {
  private enum Theme: String, Codable { case dark }

  /// What every reader of property lists reads.
  private func expectReadable<Value: Codable & Equatable>(
    _ value: Value, as object: AnyHashable
  ) throws {
    let list = try PropertyListCoder.encode(value)
    let read = try unsafe PropertyListSerialization.propertyList(from: list, format: nil)
    #expect(read as? AnyHashable == object, "\(Value.self)")
    #expect(try PropertyListCoder.decode(Value.self, from: list) == value, "\(Value.self)")
  }

  @Test func aScalarIsAListThatEveryReaderReads() throws {
    for number in [0, 1, -1, 127, 128, 255, 256, 65_536, .max, .min] {
      try expectReadable(number, as: number)
    }
    try expectReadable(UInt64.max, as: UInt64.max)
    for number in [0.0, -0.5, .pi, .infinity] { try expectReadable(number, as: number) }
    try expectReadable(true, as: true)
    let date = Date(timeIntervalSinceReferenceDate: 0.25)
    try expectReadable(date, as: date)
    try expectReadable(Theme.dark, as: "dark")
    for count in [0, 1, 14, 15, 254, 300, 70_000] {
      let text = String(repeating: "x", count: count)
      try expectReadable(text, as: text)
      try expectReadable(text + "é😀", as: text + "é😀")
      let data = Data(repeating: 1, count: count)
      try expectReadable(data, as: data)
    }
  }
}
