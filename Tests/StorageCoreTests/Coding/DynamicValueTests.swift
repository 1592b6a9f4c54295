import Foundation
import StorageCore
import StorageFoundation
import Testing

/// Values whose type is known only when the program runs.
@Suite struct DynamicValueTests {
  private let storage = DelegatedStorage.fresh()

  private func nested(_ depth: Int) -> [Any] {
    (1..<depth).reduce([1] as [Any]) { inner, _ in [inner] }
  }

  @Test func mixedArraysAndDictionaries() throws {
    let value: [String: Any] = [
      "int": 1, "text": "a", "list": [1, "b", [true]] as [Any], "map": ["x": 1.5] as [String: Any],
      "data": Data([1]), "date": Date.distantPast, "empty": [] as [Any],
    ]
    try storage.save(value, forKey: "k")
    let back = try #require(try storage.load([String: Any].self, forKey: "k"))
    #expect(back["int"] as? Int == 1)
    #expect(back["text"] as? String == "a")
    let list = try #require(back["list"] as? [Any])
    try #require(list.count == 3)
    #expect(list[0] as? Int == 1 && list[1] as? String == "b")
    #expect(list[2] as? [Bool] == [true])
    #expect((back["map"] as? [String: Any])?["x"] as? Double == 1.5)
    #expect(back["data"] as? Data == Data([1]))
    #expect(back["date"] as? Date == .distantPast)
    #expect((back["empty"] as? [Any])?.isEmpty == true)
  }

  @Test func aTypedCollectionIsReadAsADynamicOneAndTheOtherWayRound() throws {
    storage.set([1, 2], forKey: "k")
    #expect(try storage.load([Any].self, forKey: "k") as? [Int] == [1, 2])
    storage.set([3, 4] as [Any], forKey: "k")
    #expect(try storage.load([Int].self, forKey: "k") == [3, 4])
    storage.set([3, "x"] as [Any], forKey: "k")
    #expect(code { _ = try storage.load([Int].self, forKey: "k") } == .typeMismatch)
    storage.set(["a": 1] as [String: Any], forKey: "k")
    #expect(try storage.load([String: Int].self, forKey: "k") == ["a": 1])
    storage.set([1, nil] as [Int?], forKey: "k")
    #expect(try storage.load([Any].self, forKey: "k")?.count == 2)
  }

  @Test func setsOfAnythingKeepEveryElement() throws {
    let value: Set<AnyHashable> = [1, "a", true, Data([1]), 1.5, Date.distantPast]
    try storage.save(value, forKey: "k")
    #expect(try storage.load(forKey: "k") == value)
    let deep: Set<AnyHashable> = [[1, 2], ["a": 1], Set([1]), Int?.none]
    try storage.save(deep, forKey: "k")
    #expect(try storage.load(Set<AnyHashable>.self, forKey: "k")?.count == 4)
    let lists: Set<AnyHashable> = [[1, 2], [3]]
    try storage.save(lists, forKey: "k")
    #expect(try storage.load(forKey: "k") == lists)
  }

  @Test(arguments: [1, 8, 15, 16, 17, 24, 31])
  func whatIsWrittenAtAnyDepthIsReadBack(_ depth: Int) throws {
    try storage.save(nested(depth), forKey: "k")
    var value: Any = try #require(try storage.load([Any].self, forKey: "k"))
    for _ in 1..<depth { value = try #require((value as? [Any])?.first) }
    #expect(value as? [Int] == [1])
  }

  @Test(arguments: [32, 34, 100, 10_000])
  func whatIsNestedTooDeepIsRefusedWhenItIsWritten(_ depth: Int) throws {
    #expect(code { try storage.save(nested(depth), forKey: "k") } == .invalid)
    #expect(try storage.contains("k") == false)
  }

  @Test func aTypedValueDeepInADynamicOneIsReadBackOrRefused() throws {
    for depth in 20...32 {
      let value = (1..<depth).reduce([[[[[[1]]]]]] as [Any]) { inner, _ in [inner] }
      guard code({ try storage.save(value, forKey: "k") }) == nil else { continue }
      #expect(code { _ = try storage.load([Any].self, forKey: "k") } == nil, "\(depth)")
    }
  }

  @Test func whatAJSONReaderGivesCanBeStored() throws {
    let text = #"{"a": 1, "b": [true, 1.5, "x", -7], "c": {"d": 12345678901}}"#
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let value = try #require(object as? [String: Any])
    try storage.save(value, forKey: "k")
    let back = try #require(try storage.load([String: Any].self, forKey: "k"))
    let reread = try JSONSerialization.data(withJSONObject: back, options: .sortedKeys)
    let original = try JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
    #expect(reread == original)
    #expect(back["a"] as? Int == 1)
    let list = try #require(back["b"] as? [Any])
    try #require(list.count == 4)
    #expect(list[0] as? Bool == true && list[1] as? Double == 1.5 && list[3] as? Int == -7)
  }

  @Test func whatHasNoFormIsUnsupportedAndSaysWhatToDo() throws {
    final class Opaque {}
    struct Plain { var x = 1 }
    for failure in [
      error { try storage.save(Opaque(), forKey: "k") },
      error { try storage.save(Plain(), forKey: "k") },
      error { try storage.save([1, Opaque()] as [Any], forKey: "k") },
      error { try storage.save(["a": Opaque()] as [String: Any], forKey: "k") },
      error { try storage.save({ () in }, forKey: "k") },
      error { try storage.save((1, 2), forKey: "k") },
    ] {
      #expect(failure?.code == .unsupported)
      #expect(failure?.message.contains("Codable") == true)
    }
    #expect(try storage.keys().isEmpty)
  }
}
