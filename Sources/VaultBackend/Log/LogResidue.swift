internal import Synchronization

/// Old content that the log may still contain, such as an old key slot.
struct LogResidue: ~Copyable, Sendable {
  /// Who left it.
  enum Origin: UInt8, AtomicRepresentable {
    case none
    /// Left by another process, which may have ended before it could empty the log.
    case others
    /// Left by this process.
    case own
    /// Left by this process, and the reason why the log could not be emptied was reported.
    case reported
  }
  private let origin = Atomic<Origin>(.none)

  /// Whether the log may contain old content.
  var isAny: Bool { origin.load(ordering: .relaxed) != .none }

  /// Notes what this process left, or could not empty.
  func note(_ new: Origin) { origin.store(new, ordering: .relaxed) }

  /// Notes that another process may have left something, unless more is known.
  func noteOthers() {
    _ = origin.compareExchange(expected: .none, desired: .others, ordering: .relaxed)
  }

  /// What was noted, which is forgotten.
  func take() -> Origin { origin.exchange(.none, ordering: .relaxed) }
}
