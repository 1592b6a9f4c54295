import InjectTesting
import Synchronization
import TestSupport
import Testing

private protocol API: Sendable { var name: String { get } }

private struct Named: API { let name: String }

/// A double that belongs to the first test that claims it.
private final class Double: Sendable {
  private let owner = Atomic<Int>(-1)

  func claim(_ test: Int) -> Bool {
    let (exchanged, original) = owner.compareExchange(
      expected: -1, desired: test, ordering: .acquiringAndReleasing)
    return exchanged || original == test
  }
}

private final class Live: Sendable {}
private struct LiveUser: Sendable { let live: Live }

/// What the program registers, outside all tests: a detached task has no overrides.
private let program = Task.detached {
  @Register var live = { Live() }
  @Register var user = { LiveUser(live: try InjectStorage.standard.resolve()) }
}

private func registerANumber() { @Register var number = 42 }

@Suite struct TraitTests {
  /// Reads through a property, as a program does.
  private struct Reader: Sendable { @UnwrappedInject var double: Double }

  @Test(.injecting { @Register var double = Double() }, arguments: 0..<Depth.count(1_000, day: 50))
  func manyTestsSideBySideHaveDoublesOfTheirOwn(_ number: Int) async throws {
    let reader = Reader()
    for _ in 0..<10 {
      #expect(reader.double.claim(number))
      await Task.yield()
    }
    async let child = reader.double.claim(number)
    #expect(await child)
    #expect(try InjectStorage.standard.resolve(Double.self) === reader.double)
  }

  @Suite(
    .injecting {
      @Register var api: any API = Named(name: "suite")
      @Register var number = 1
    })
  struct OfASuite {
    @Inject private var api: (any API)?
    @Inject private var number: Int?

    @Test func everyTestOfASuiteHasWhatTheSuiteRegisters() {
      #expect(api?.name == "suite" && number == 1)
      @Register var mine = 2
      #expect(throws: InjectError.self) { try $number.resolve() }
    }

    @Test(.injecting { @Register var api: any API = Named(name: "test") })
    func aTraitOfATestWins() {
      #expect(api?.name == "test" && number == 1)
    }
  }

  @Test(.injecting()) func whatTheProgramRegistersAsABuilderIsBuiltAnewForTheTest() async throws {
    await program.value
    let outside = try await Task.detached {
      try InjectStorage.standard.resolve(LiveUser.self)
    }.value
    let inside = try InjectStorage.standard.resolve(LiveUser.self)
    #expect(inside.live !== outside.live)
    #expect(try InjectStorage.standard.resolve(Live.self) === inside.live)
    let again = try await Task.detached { try InjectStorage.standard.resolve(Live.self) }.value
    #expect(again === outside.live)
  }

  @Test(.injecting(.strict) { @Register var api: any API = Named(name: "double") })
  func aStrictTestFailsWhereItUsesWhatIsLive() async throws {
    await program.value
    let first = #line + 2
    struct Checkout: Sendable {
      @Inject var live: Live?
      @UnwrappedInject var unwrapped: Live
      @UnwrappedInject var user: LiveUser
      @Inject var api: (any API)?
      @Inject var missing: Int?
    }
    let checkout = Checkout()
    #expect(checkout.api?.name == "double")
    // At the line where it is injected, and not where it is read.
    func fails(_ text: String, at line: Int, _ body: () -> Void) {
      // Fails where no issue is recorded, and where another is.
      withKnownIssue {
        body()
      } matching: { issue in
        issue.sourceLocation?.fileID == "InjectTestingTests/TraitTests.swift"
          && issue.sourceLocation?.line == line
          && issue.comments.contains { $0.rawValue.contains(text) }
      }
    }
    fails("liveInTest", at: first) { #expect(checkout.live == nil) }
    // It can't be nil, and the test has failed: stopping would take the other tests along.
    fails("liveInTest", at: first + 1) { _ = checkout.unwrapped }
    fails("liveInTest", at: first + 2) { _ = checkout.user }
    fails("notFound", at: first + 4) { #expect(checkout.missing == nil) }
    fails("liveInTest", at: #line) { _ = try? InjectStorage.standard.resolve(LiveUser.self) }
  }

  @Suite(.injecting { InjectStorage.standard.errorClosure = { _ in registerANumber() } })
  struct WithAClosure {
    @Test(.injecting(.strict) {}) func aStrictTestIsGivenNothingByAClosureFromBeyond() {
      // Fails where the closure is asked: then nothing is missing, and no issue is recorded.
      withKnownIssue {
        #expect(throws: InjectError.self) { try InjectStorage.standard.resolve(Int.self) }
      } matching: { issue in
        issue.comments.contains { $0.rawValue.contains("notFound") }
      }
    }

    @Test(.injecting {}) func anotherTestIs() throws {
      #expect(try InjectStorage.standard.resolve(Int.self) == 42)
    }
  }

  @Test(.injecting(.strict)) func aMissingDependencyThatIsResolvedEndsTheTestAndNotTheProcess() {
    struct Suite: Sendable {
      @UnwrappedInject var api: any API
      init() throws { _ = try $api.resolve() }
    }
    withKnownIssue {
      #expect(throws: InjectError.self) { try Suite() }
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("InjectError.notFound") }
    }
  }

  @Test func whereItEndsTheProcessTheTextSaysWhatWouldEndTheTest() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Checkout: Sendable { @UnwrappedInject var api: any API }
      let tell: @Sendable (InjectError) -> Void = { _ in }
      InjectStorage.standard.withFreshOverrides(strictHandler: tell) { _ = Checkout().api }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("InjectError.notFound") && text.contains("`try $property.resolve()`"))
  }

  @Test(.injecting(.strict) { @Register var live = { Live() } })
  func aStrictTestMayUseItsOwn() throws {
    _ = try InjectStorage.standard.resolve(Live.self)
  }
}
