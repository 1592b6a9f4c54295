import Foundation
import InjectRegistry
import Testing

/// A type of this name is in Foundation as well.
struct Locale: Sendable { let name: String }

private struct Box<Content: Sendable>: Sendable { let text: String }

@Suite struct KeyTests {
  private let storage = InjectStorage()

  @Test func typesThatPrintTheSameAreTwo() throws {
    let storage = storage
    func first() throws -> String {
      struct Local: Sendable {}
      storage.register(Local())
      _ = try storage.resolve(Local.self)
      return "\(Local.self)"
    }
    func second() throws -> String {
      struct Local: Sendable {}
      #expect(throws: InjectError.self) { try storage.resolve(Local.self) }
      return "\(Local.self)"
    }
    #expect(try first() == second())
  }

  @Test func typesOfTwoModulesWithOneNameAreTwo() throws {
    storage.register(Locale(name: "ours"))
    #expect(throws: InjectError.self) { try storage.resolve(Foundation.Locale.self) }
    storage.register(Foundation.Locale(identifier: "de_DE"))
    #expect(try storage.resolve(Locale.self).name == "ours")
    #expect(try storage.resolve(Foundation.Locale.self).identifier == "de_DE")
  }

  @Test func compositionsGenericsAndOptionalsAreTypesOfTheirOwn() throws {
    storage.register(Terrier() as any Animal & Dog & Sendable)
    storage.register(Tabby() as any Animal)
    #expect(try storage.resolve((any Animal & Dog & Sendable).self) is Terrier)
    #expect(try storage.resolve((any Dog & Animal & Sendable).self) is Terrier)
    #expect(try storage.resolve((any Animal).self) is Tabby)
    storage.register(Box<Int>(text: "Int"))
    storage.register(Box<String>(text: "String"))
    #expect(try storage.resolve(Box<Int>.self).text == "Int")
    #expect(try storage.resolve(Box<String>.self).text == "String")
    storage.register(1 as Int)
    storage.register(nil as Int?)
    storage.register(2 as Int??)
    #expect(try storage.resolve(Int.self) == 1)
    #expect(try storage.resolve(Int?.self) == nil)
    #expect(try storage.resolve(Int??.self) == 2)
  }

  @Test func dictionariesFunctionsAndMetatypesAreTypesOfTheirOwn() throws {
    storage.register(["a": 1])
    storage.register(["a": "b"])
    #expect(try storage.resolve([String: Int].self) == ["a": 1])
    #expect(try storage.resolve([String: String].self) == ["a": "b"])
    storage.register { { 3 } as @Sendable () -> Int }
    storage.register { { 4 } as @Sendable () throws -> Int }
    #expect(try storage.resolve((@Sendable () -> Int).self)() == 3)
    #expect(try storage.resolve((@Sendable () throws -> Int).self)() == 4)
    storage.register(Terrier.self)
    #expect(try storage.resolve(Terrier.Type.self) == Terrier.self)
    #expect(throws: InjectError.self) { try storage.resolve(Tabby.Type.self) }
    storage.register((1, "tuple"))
    #expect(try storage.resolve((Int, String).self).1 == "tuple")
  }

  @Test func aClassIsNotFoundByItsProtocolNorByItsSuperclass() throws {
    storage.register(Client())
    let error = #expect(throws: InjectError.self) { try storage.resolve((any API).self) }
    #expect(
      error?.description.contains("it fits the requested type; register it as any") == true)
  }

  @Test func aThousandTypesAreFoundAndNoneIsMistakenForAnother() throws {
    func nest<Value: Sendable>(_: Value.Type, _ depth: Int) throws {
      guard depth > 0 else { return }
      storage.register(Box<Value>(text: "\(depth)"))
      #expect(try storage.resolve(Box<Value>.self).text == "\(depth)")
      try nest(Box<Value>.self, depth - 1)
      // Looked up again when the table has grown.
      #expect(try storage.resolve(Box<Value>.self).text == "\(depth)")
    }
    try nest(Int.self, 500)
    try nest(String.self, 500)
  }
}
