import Foundation
import StorageCore
import StorageFoundation
import Testing

/// Values whose exact type the program learns from the store.
@Suite struct AnyStorableValueTests {
  private let storage = DelegatedStorage.fresh()

  private func nested(_ depth: Int) throws -> [AnyStorableValue] {
    try (1..<depth).reduce([try AnyStorableValue(1)]) { inner, _ in [try AnyStorableValue(inner)] }
  }

  @Test func aValueIsLoadedWithItsTypeAndStoredAgainAsItWas() throws {
    func stays<Value: StorableValue & Equatable>(_ value: Value) throws {
      try storage.save(Optional(value), forKey: "k")
      let loaded = try #require(try storage.load(AnyStorableValue.self, forKey: "k"))
      #expect(loaded.value as? Value == value)
      #expect(loaded.type == Value.valueType)
      #expect(try AnyStorableValue(value) == loaded)
      try storage.save(loaded, forKey: "copy")
      #expect(try storage.load(Value.self, forKey: "copy") == value)
      #expect(!"\(loaded)\(String(reflecting: loaded))".contains("marker"))
    }
    try stays(Int8(-3))
    try stays("marker")
    try stays(Int??.some(nil))
    try stays([Int??.none, .some(nil), 5])
    try stays([String?]())
    try stays(Set<Data>())
    try stays([UUID(): [Decimal(1)]])
    try stays([[true]: ["a": Date.distantPast]])
  }

  @Test func elementsKeepTheirExactTypes() throws {
    let values = try [
      AnyStorableValue(Int?.none), AnyStorableValue(UInt8(1)), AnyStorableValue([1, nil]),
      AnyStorableValue(["a": try AnyStorableValue(Float(0.5))]),
      AnyStorableValue(Set([try AnyStorableValue("x")])),
    ]
    try storage.save(values, forKey: "k")
    #expect(try storage.load([AnyStorableValue].self, forKey: "k") == values)
    #expect(try storage.load([Any].self, forKey: "k")?.count == 5)
    #expect(try storage.load(AnyStorableValue.self, forKey: "k")?.type.description == "[Any]")
    let mixed: [String: Any] = ["a": 1, "b": [true, "x"] as [Any], "c": Data([1])]
    try storage.save(mixed, forKey: "k")
    let pairs = try #require(try storage.load([String: AnyStorableValue].self, forKey: "k"))
    #expect(pairs["b"]?.value as? [AnyStorableValue] == [try .init(true), try .init("x")])
    try storage.save(Set<AnyHashable>([1, "a", [1]]), forKey: "k")
    #expect(
      try storage.load(Set<AnyStorableValue>.self, forKey: "k")
        == [try .init(1), try .init("a"), try .init([1])])
  }

  @Test(arguments: [1, 2, 16, 31])
  func whatIsNestedIsReadBack(_ depth: Int) throws {
    try storage.save(try nested(depth), forKey: "k")
    #expect(try storage.load([AnyStorableValue].self, forKey: "k") == nested(depth))
    #expect(try storage.load([Any].self, forKey: "k")?.count == 1)
  }

  @Test func whatIsNestedTooDeeplyIsInvalid() {
    #expect(code { _ = try nested(33) } == .invalid)
    #expect(code { _ = try nested(1000) } == .invalid)
  }

  @Test func anyOccursAsAnElementOfThreeTypesOnly() throws {
    let any = try AnyStorableValue(1)
    #expect(code { _ = try AnyStorableValue([[any]]) } == .unsupported)
    #expect(code { _ = try AnyStorableValue([1: any]) } == .unsupported)
    #expect(code { _ = try AnyStorableValue(Optional(any)) } == .unsupported)
    #expect(code { try storage.save([[any]], forKey: "k") } == .unsupported)
    #expect(code { try storage.save(["a": [any]], forKey: "k") } == .unsupported)
    #expect(code { try storage.save(AnyStorableValue??.some(any), forKey: "k") } == .unsupported)
    #expect(try storage.keys().isEmpty)
  }

  @Test func codableValuesAndArchivesAreATypeMismatch() throws {
    try storage.save(encodable: ["a": 1], forKey: "k")
    #expect(code { _ = try storage.load(AnyStorableValue.self, forKey: "k") } == .typeMismatch)
    try storage.save(NSString("x"), forKey: "k")
    #expect(code { _ = try storage.load(AnyStorableValue.self, forKey: "k") } == .typeMismatch)
    try storage.save([1], forKey: "k")
    #expect(code { _ = try storage.load([AnyStorableValue].self, forKey: "k") } == .typeMismatch)
  }
}
