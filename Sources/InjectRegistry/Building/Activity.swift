internal import Synchronization

/// Counts what makes a plain read impossible: overrides that are alive, and builders that run whose
/// instance is kept.
///
/// While it is 0, as it mostly is outside tests, a read looks at nothing else.
enum Activity {
  /// The process's own; every read looks at it, so nothing else is in its cache line.
  // An atomic, whose memory is never freed.
  nonisolated(unsafe) static let count = unsafe CacheLine.allocate(Atomic(0))

  static func begin() { unsafe count.pointee.add(1, ordering: .acquiringAndReleasing) }

  static func end() { unsafe count.pointee.subtract(1, ordering: .acquiringAndReleasing) }
}
