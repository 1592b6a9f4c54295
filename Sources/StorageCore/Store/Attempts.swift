/// The attempts of a call that others disturb: at most 1000, and no more than ten when 30 s have
/// passed since the second began.
///
/// Where each attempt asks another machine, a thousand of them could take hours. On a machine that
/// is busy with other programs the first two may take half a minute.
struct Attempts: Sequence, IteratorProtocol {
  private static let most = 1000
  private static let least = 10
  private static let span: Int64 = 30_000_000_000
  private var left = most
  private var start: MonotonicTime?

  /// The next attempt; nil when it is time to give up.
  @inline(__always)
  mutating func next() -> Void? {
    // The usual call needs one, and no clock.
    guard left < Self.most else {
      left -= 1
      return ()
    }
    return again() ? () : nil
  }

  private mutating func again() -> Bool {
    guard left > 0 else { return false }
    left -= 1
    if let end = CallLimit.end, MonotonicTime.now.since(end) > 0 { return false }
    guard let start else {
      start = .now
      return true
    }
    return left > Self.most - Self.least || MonotonicTime.now.since(start) < Self.span
  }
}
