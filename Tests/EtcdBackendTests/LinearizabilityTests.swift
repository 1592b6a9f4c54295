import RemoteTesting
import Testing

/// The checker of histories itself: it accepts what can be, and refuses what can't.
@Suite struct LinearizabilityTests {
  private typealias Call = RegisterHistory.Call

  private static func write(_ value: String, _ begin: UInt64, _ end: UInt64?) -> Call {
    Call(operation: .write(value), begin: begin, end: end)
  }
  private static func read(_ value: String?, _ begin: UInt64, _ end: UInt64) -> Call {
    Call(operation: .read(value), begin: begin, end: end)
  }
  private static func swap(_ to: String, _ begin: UInt64, _ end: UInt64) -> Call {
    Call(operation: .swap(from: "a", to: to), begin: begin, end: end)
  }

  @Test func itRefusesWhatNoRegisterDoesAndNothingElse() {
    let (a, lost) = (Self.write("a", 1, 2), Self.write("b", 3, nil))
    let possible: [[Call]] = [
      [Self.write("a", 1, 4), Self.write("b", 2, 3), Self.read("a", 5, 6)],
      [Self.write("a", 1, 4), Self.write("b", 2, 3), Self.read("b", 5, 6)],
      [a, Self.swap("b", 3, 4), Self.read("b", 5, 6)],
      // A write without an answer may come late, or never.
      [a, lost, Self.read("a", 4, 5), Self.read("a", 6, 7)],
      [a, lost, Self.read("a", 4, 5), Self.read("b", 6, 7)],
    ]
    let impossible: [[Call]] = [
      [a, Self.write("b", 3, 4), Self.read("a", 5, 6)],
      [a, Self.read(nil, 3, 4)],
      [Self.write("a", 1, 10), Self.read("a", 2, 3), Self.read(nil, 4, 5)],
      [Self.swap("b", 3, 4)],
      // Two can't both replace it.
      [a, Self.swap("b", 3, 6), Self.swap("c", 4, 7)],
      [a, lost, Self.read("b", 4, 5), Self.read("a", 6, 7)],
      [lost, Self.read("b", 1, 2)],
    ]
    for calls in possible { #expect(RegisterHistory(calls: calls).isLinearizable(), "\(calls)") }
    for calls in impossible { #expect(!RegisterHistory(calls: calls).isLinearizable(), "\(calls)") }
  }
}
