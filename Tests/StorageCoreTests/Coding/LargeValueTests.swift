import Foundation
import StorageCore
import Testing

@Suite(.serialized) struct LargeValueTests {
  private let storage = DelegatedStorage.fresh()

  @Test func sixtyFourMebibytesWork() throws {
    var data = Data(count: 64 << 20)
    data[data.count - 1] = 7
    try storage.save(data, forKey: "k")
    #expect(try storage.load(forKey: "k") == data)
  }

  @Test(arguments: [(1 << 28) + 1, 300 << 20, 1 << 30])
  func moreThanTheLimitIsInvalidAndLeavesTheOldValue(_ count: Int) throws {
    try storage.save("old", forKey: "k")
    // Zeroed memory that nobody has touched yet costs nothing.
    let data = Data(count: count)
    #expect(code { try storage.save(data, forKey: "k") } == .invalid)
    #expect(try storage.load(forKey: "k") == "old")
  }

  @Test func theLimitIsForTheWholeValue() throws {
    let part = Data(count: 140 << 20)
    #expect(code { try storage.save([part, part], forKey: "k") } == .invalid)
    #expect(try storage.keys().isEmpty)
  }
}
