public import Synchronization

/// Counts what makes a plain read impossible: overrides that are alive, and builders that run whose
/// instance is kept.
///
/// While it is 0, as it mostly is outside tests, a read looks at nothing else.
@usableFromInline
final class Activity: Sendable {
  @usableFromInline let count = Atomic<Int>(0)

  /// The process's own.
  static let shared = Activity()

  func begin() { count.add(1, ordering: .acquiringAndReleasing) }

  func end() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
