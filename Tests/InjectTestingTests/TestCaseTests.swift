import Foundation
import InjectTesting
import Testing
import XCTest

private final class Double: Sendable {}
private final class Live: Sendable {}

/// What the program registers, outside all tests: a detached task has no overrides.
private let program = Task.detached {
  @Register var live = { Live() }
}

private class Case: InjectTestCase {
  var doubles: [Double] = []

  override func registerOverrides() { @Register var double = { Double() } }

  func look() throws {
    let double = try InjectStorage.standard.resolve(Double.self)
    doubles.append(double)
    XCTAssert(try InjectStorage.standard.resolve(Double.self) === double)
  }

  func lookFromTasks() async throws {
    try look()
    await Task.yield()
    try look()
    async let child = InjectStorage.standard.resolve(Double.self)
    doubles.append(try await child)
    doubles.append(try await Task { try InjectStorage.standard.resolve(Double.self) }.value)
  }

  func useWhatIsLive() throws { _ = try InjectStorage.standard.resolve(Live.self) }
}

private final class CaseWithSetUp: Case {
  override func setUp() async throws {
    await Task.yield()
    @Register var number = 42
  }

  func lookForTheNumber() async throws {
    XCTAssertEqual(try InjectStorage.standard.resolve(Int.self), 42)
  }
}

private final class StrictCase: Case {
  static let line: UInt = #line + 2
  private struct Checkout: Sendable {
    @Inject var live: Live?
    @UnwrappedInject var double: Double
  }

  override var strictness: InjectStrictness { .strict }

  func useWhatIsMissing() { XCTAssertThrowsError(try InjectStorage.standard.resolve(Int.self)) }

  func readWhatIsLive() { Self.read() }

  func readWhatIsLiveFromATask() async {
    await Task.yield()
    async let child: Void = Self.read()
    await child
  }

  private static func read() {
    let checkout = Checkout()
    XCTAssertNil(checkout.live)
    _ = checkout.double
  }
}

/// Takes what XCTest is told.
private final class Observer: NSObject, XCTestObservation {
  struct Failure {
    let text: String
    let file: String?
    let line: Int
  }
  var failures: [Failure] = []

  func testCase(
    _ testCase: XCTestCase, didFailWithDescription description: String, inFile filePath: String?,
    atLine lineNumber: Int
  ) {
    failures.append(Failure(text: description, file: filePath, line: lineNumber))
  }
}

// XCTest knows one running test case alone.
@Suite(.serialized) struct TestCaseTests {
  /// Runs test cases as XCTest does.
  ///
  /// - Returns: the doubles that each has seen, and what XCTest was told.
  private func run<Subject: Case>(
    _ bodies: (@Sendable (Subject) throws -> Void)...
  ) async -> (doubles: [[Double]], failures: [Observer.Failure]) {
    await program.value
    // XCTest runs a loop until its asynchronous steps have ended: not on a thread that they need.
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let observer = Observer()
        XCTestObservationCenter.shared.addTestObserver(observer)
        let cases = bodies.map { body in
          Subject(name: "body") { testCase in
            guard let subject = testCase as? Subject else { return XCTFail("another test case") }
            try body(subject)
          }
        }
        for testCase in cases { testCase.run() }
        XCTestObservationCenter.shared.removeTestObserver(observer)
        continuation.resume(returning: (cases.map(\.doubles), observer.failures))
      }
    }
  }

  @Test func eachTestOfATestCaseHasARegistryOfItsOwn() async throws {
    let (doubles, failures) = await run({ (test: Case) in try test.look() }, { try $0.look() })
    try #require(doubles.map(\.count) == [1, 1])
    #expect(failures.isEmpty && doubles[0][0] !== doubles[1][0])
    #expect(throws: InjectError.self) { try InjectStorage.standard.resolve(Double.self) }
  }

  @Test func anAsyncTestAndItsTasksHaveTheRegistryOfTheTest() async throws {
    let look: @Sendable (Case) throws -> Void = { test in
      try asyncTest(Case.lookFromTasks)(test)()
    }
    let (doubles, failures) = await run(look, look)
    try #require(doubles.map(\.count) == [4, 4] && failures.isEmpty, "\(failures)")
    #expect(doubles.allSatisfy { seen in seen.allSatisfy { $0 === seen[0] } })
    #expect(doubles[0][0] !== doubles[1][0])
  }

  @Test func whatAnAsyncSetUpRegistersIsTheTestsAlone() async {
    let (_, failures) = await run({ (test: CaseWithSetUp) in
      try asyncTest(CaseWithSetUp.lookForTheNumber)(test)()
    })
    #expect(failures.isEmpty, "\(failures)")
    #expect(throws: InjectError.self) { try InjectStorage.standard.resolve(Int.self) }
  }

  @Test func aLenientTestMayUseWhatIsLive() async {
    let (_, failures) = await run({ (test: Case) in try test.useWhatIsLive() })
    #expect(failures.isEmpty, "\(failures)")
  }

  @Test func aStrictTestFailsWhereItUsesWhatIsLive() async throws {
    let (_, failures) = await run(
      { (test: StrictCase) in test.readWhatIsLive() },
      { try asyncTest(StrictCase.readWhatIsLiveFromATask)($0)() })
    try #require(failures.count == 2, "\(failures)")
    for failure in failures {
      #expect(failure.text.contains("InjectError.liveInTest"))
      #expect(failure.file == "InjectTestingTests/TestCaseTests.swift")
      #expect(failure.line == Int(StrictCase.line))
    }
  }

  @Test func aStrictTestFailsOfWhatIsMissingAndNotOfItsOwnDoubles() async throws {
    let (doubles, failures) = await run(
      { (test: StrictCase) in test.useWhatIsMissing() }, { try $0.look() })
    try #require(failures.count == 1, "\(failures)")
    #expect(failures[0].text.contains("InjectError.notFound") && doubles[1].count == 1)
  }
}
