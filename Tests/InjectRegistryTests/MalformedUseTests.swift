import Foundation
import TestSupport
import Testing

/// Hands sources to the compiler, beside the module that the tests were built with.
@Suite struct MalformedUseTests {
  private static let common = """
    import InjectRegistry
    protocol API: Sendable {}
    final class Client: API { init() {} }
    final class State { var count = 0 }
    struct Parameters: Sendable {}
    protocol Dog: Sendable {}
    @MainActor final class Screen { init() {} }
    """

  /// What the compiler has to refuse, each for a reason of its own.
  private static let refused = [
    "a registered object that is not Sendable": "func f() { @Register var state = State() }",
    "a builder of what is not Sendable": "func f() { @Register var state = { State() } }",
    "a builder that shares a variable":
      "func f() { var n = 0; @Register var b = { () -> Int in n += 1; return n } }",
    "a builder that belongs to an actor": "func f() { @Register var screen = { Screen() } }",
    "what does not conform": "func f() { @Register var dog: any Dog = Client() }",
    "an optional injection that is not optional": "struct S { @Inject var api: any API }",
    "a lazy injection": "struct S { @Inject(.lazy) var api: (any API)? }",
    "parameters that are not Sendable": "struct S { @InjectWith(State()) var api: (any API)? }",
    "an injection of what is not Sendable": "struct S { @Inject var state: State? }",
    "an assignment": "struct S { @Inject var api: (any API)?; func f() { api = Client() } }",
    "an unwrapped assignment":
      "struct S { @UnwrappedInject var api: any API; func f() { api = Client() } }",
    "resolving what is not Sendable":
      "func f() throws { _ = try InjectStorage.standard.resolve(State.self) }",
    "resolving without try": "func f() { _ = InjectStorage.standard.resolve(Client.self) }",
    "awaiting without await":
      "func f() async throws { _ = try InjectStorage.standard.resolveAsync(Client.self) }",
    "a group that is no name": "struct S { @Inject(group: 3) var api: (any API)? }",
    "a qualifier that is an instance":
      "func f() throws { _ = try InjectStorage.standard.resolve(Client.self, Client()) }",
  ]

  /// What the compiler would refuse in words that help nobody, and the words that do.
  private static let refusedWithAdvice = [
    (
      "struct S { @Inject var api: (any API)? = Client() }",
      "register the value: @Register var x: any API = Client()"
    ),
    (
      "struct S { @UnwrappedInject var api: any API = Client() }",
      "register the value: @Register var x: any API = Client()"
    ),
    (
      "func f() { @Register(.weak) var api = { Client() as any API } }",
      "name the scope: @Register(scope: ...) var x = { ... }"
    ),
    (
      "func f() { @Register(scope: .weak) var api: any API = Client() }",
      "only a builder without parameters has a scope: @Register(scope: ...) var x = { ... }"
    ),
    (
      "func f() { @Register(scope: .weak) var b = { (p: Parameters) in Client() } }",
      "only a builder without parameters has a scope: @Register(scope: ...) var x = { ... }"
    ),
    (
      "func f() throws { _ = try InjectStorage.standard.resolve(Client()) }",
      "ask for the type: resolve(Client.self)"
    ),
    (
      "func f() throws { let client = try InjectStorage.standard.resolve() }",
      "say which type: resolve(Client.self)"
    ),
  ]

  private static let accepted = """
    func f() throws {
      @Register var value: API = Client()
      @Register var client = Client()
      @Register var builder = { Client() as API }
      @Register var parametrised = { (parameters: Parameters) in Client() as API }
      @Register(.lazy) var late: API = Client()
      @Inject(Client.self) var one: API?
      @Inject([Client.self]) var two: API?
      @Inject(Parameters()) var three: API?
      @UnwrappedInject(.instance) var four: API
      @Register(scope: .weak) var scoped = { Client() }
      let inferred: Client = try InjectStorage.standard.resolve()
      struct Member { @Inject var client: Client?; @UnwrappedInject var other: Client }
      _ = (inferred, Member(), Member(client: Inject(.instance), other: UnwrappedInject()))
      _ = (one, two, three, four, value, client)
    }
    """

  @Test func theCompilerRefusesMalformedUse() throws {
    let cases = Self.refused.sorted { $0.key < $1.key }
    // One line for each, so that its number tells them apart.
    let lines = cases.enumerated().map { "enum Case\($0) { \($1.value) }" }
    let first = Self.common.split(separator: "\n").count + 1
    let said = try Compiler.check(Self.common + "\n" + lines.joined(separator: "\n") + "\n")
    for (index, (reason, source)) in cases.enumerated() {
      let place = "source.swift:\(first + index):"
      #expect(
        said.contains { $0.contains(place) && $0.contains(" error: ") }, "\(reason): \(source)")
    }
    let common = (1..<first).map { "source.swift:\($0):" }
    #expect(!said.contains { line in common.contains { line.contains($0) } }, "\(said)")
  }

  @Test func theCompilerSaysWhatToWriteInstead() throws {
    let lines = Self.refusedWithAdvice.enumerated().map { "enum Case\($0) { \($1.0) }" }
    let said = try Compiler.check(Self.common + "\n" + lines.joined(separator: "\n") + "\n")
    let first = Self.common.split(separator: "\n").count + 1
    for (index, (source, advice)) in Self.refusedWithAdvice.enumerated() {
      let errors = said.filter { $0.contains("source.swift:\(first + index):") }
        .filter { $0.contains(" error: ") }
      #expect(errors.count == 1 && errors.allSatisfy { $0.hasSuffix(advice) }, "\(source)")
    }
  }

  @Test func properUseIsAcceptedWithoutAWarningAndWithTheExistentialAnySettingToo() throws {
    let source = Self.common + "\n" + Self.accepted
    let plain = try Compiler.check(source, ["-warnings-as-errors"])
    #expect(plain.isEmpty, "\(plain.joined(separator: "\n"))")
    let existential = source.replacingOccurrences(of: ": API?", with: ": (any API)?")
      .replacingOccurrences(of: ": API =", with: ": any API =")
      .replacingOccurrences(of: "four: API", with: "four: any API")
      .replacingOccurrences(of: "as API", with: "as any API")
    let strict = try Compiler.check(
      existential, ["-warnings-as-errors", "-enable-upcoming-feature", "ExistentialAny"])
    #expect(strict.isEmpty, "\(strict.joined(separator: "\n"))")
  }
}
