internal import Synchronization

/// Counts the things that make a plain read impossible: overrides that are alive, and running
/// builders whose instance is kept.
///
/// While the count is 0, as usual outside tests, a read looks at nothing else.
enum Activity {
  /// The count of the process.
  ///
  /// Every read looks at it, so nothing else is in its cache line.
  // An atomic, whose memory is never freed.
  nonisolated(unsafe) static let count = unsafe CacheLine.allocate(Atomic(0))

  static func begin() { unsafe count.pointee.add(1, ordering: .acquiringAndReleasing) }

  static func end() { unsafe count.pointee.subtract(1, ordering: .acquiringAndReleasing) }
}
