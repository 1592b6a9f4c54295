import RemoteTesting
import Testing

/// The checker of histories itself: it accepts what can be, and refuses what can't.
@Suite struct LinearizabilityTests {
  private typealias Call = RegisterHistory.Call

  private func isPossible(_ calls: [Call]) -> Bool {
    RegisterHistory(calls: calls).isLinearizable()
  }

  @Test func whatOverlapsMayBeInEitherOrder() {
    for seen in ["a", "b"] {
      #expect(
        isPossible([
          Call(operation: .write("a"), begin: 1, end: 4),
          Call(operation: .write("b"), begin: 2, end: 3),
          Call(operation: .read(seen), begin: 5, end: 6),
        ]))
    }
  }

  @Test func aReadAfterAWriteGivesNothingOlder() {
    #expect(
      !isPossible([
        Call(operation: .write("a"), begin: 1, end: 2),
        Call(operation: .write("b"), begin: 3, end: 4),
        Call(operation: .read("a"), begin: 5, end: 6),
      ]))
    #expect(
      !isPossible([
        Call(operation: .write("a"), begin: 1, end: 2),
        Call(operation: .read(nil), begin: 3, end: 4),
      ]))
    // Forward, and back again.
    #expect(
      !isPossible([
        Call(operation: .write("a"), begin: 1, end: 10),
        Call(operation: .read("a"), begin: 2, end: 3),
        Call(operation: .read(nil), begin: 4, end: 5),
      ]))
  }

  @Test func aSwapNeedsTheValueThatItReplaces() {
    let written = Call(operation: .write("a"), begin: 1, end: 2)
    #expect(
      isPossible([
        written, Call(operation: .swap(from: "a", to: "b"), begin: 3, end: 4),
        Call(operation: .read("b"), begin: 5, end: 6),
      ]))
    #expect(
      !isPossible([written, Call(operation: .swap(from: nil, to: "b"), begin: 3, end: 4)]))
    // Two can't both replace it.
    #expect(
      !isPossible([
        written, Call(operation: .swap(from: "a", to: "b"), begin: 3, end: 6),
        Call(operation: .swap(from: "a", to: "c"), begin: 4, end: 7),
      ]))
  }

  @Test func aWriteWithoutAnAnswerMayComeLateOrNever() {
    let lost = Call(operation: .write("b"), begin: 3, end: nil)
    for reads in [["a", "a"], ["a", "b"], ["b", "b"]] {
      #expect(
        isPossible([
          Call(operation: .write("a"), begin: 1, end: 2), lost,
          Call(operation: .read(reads[0]), begin: 4, end: 5),
          Call(operation: .read(reads[1]), begin: 6, end: 7),
        ]), "\(reads)")
    }
    #expect(
      !isPossible([
        Call(operation: .write("a"), begin: 1, end: 2), lost,
        Call(operation: .read("b"), begin: 4, end: 5),
        Call(operation: .read("a"), begin: 6, end: 7),
      ]))
    #expect(!isPossible([lost, Call(operation: .read("b"), begin: 1, end: 2)]))
  }

  @Test func aValueThatNobodyWroteIsImpossible() {
    #expect(!isPossible([Call(operation: .read("x"), begin: 1, end: 2)]))
  }
}
