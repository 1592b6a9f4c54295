import Foundation
import InjectTesting
import Testing
import XCTest

private final class Double: Sendable {}

private final class Case: InjectTestCase {
  var doubles: [Double] = []

  override func registerOverrides() { @Register var double = { Double() } }

  func look() throws {
    let double = try InjectStorage.standard.resolve(Double.self)
    doubles.append(double)
    XCTAssert(try InjectStorage.standard.resolve(Double.self) === double)
  }
}

@Suite struct TestCaseTests {
  @Test func eachTestOfATestCaseHasARegistryOfItsOwn() async {
    // XCTest runs a loop until its asynchronous steps have ended: not on a thread that they need.
    let doubles = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let cases = (0..<2).map { _ in
          Case(name: "look") { testCase in try (testCase as? Case)?.look() }
        }
        for testCase in cases { testCase.invokeTest() }
        continuation.resume(returning: cases.flatMap(\.doubles))
      }
    }
    #expect(doubles.count == 2 && doubles[0] !== doubles[1])
    #expect(throws: InjectError.self) { try InjectStorage.standard.resolve(Double.self) }
  }
}
