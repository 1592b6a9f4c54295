internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// What tells whether memory can be current without a look at the file.
struct Freshness: ~Copyable, Sendable {
  /// Whether readers must look at the files, because no shared memory tells about changes.
  private let stamped = Atomic<Bool>(false)
  /// The last tick of the clock in which the open file was seen to be in its place.
  private let looked = Atomic<Int64>(-1)
  /// The count of forks when the file was opened; -1 when it is not open.
  private let openedAt = Atomic<Int>(-1)
  private let forks = ForkCount.shared

  /// Whether readers must compare the files' stamps.
  var isStamped: Bool { stamped.load(ordering: .relaxed) }

  /// The files' stamp, if readers must compare it.
  func stamp(of file: VaultFile) throws(StorageError) -> VaultFile.Stamp? {
    isStamped ? try file.stamp() : nil
  }

  /// Whether the index in shared memory alone decides if memory is current.
  @inline(__always)
  var mayBeCurrent: Bool {
    !isStamped && openedAt.load(ordering: .relaxed) == forks.current
      && looked.load(ordering: .relaxed) == ClockTick.now
  }

  /// Whether the file was opened before fork(2), and this is the child.
  var isParents: Bool {
    let opened = openedAt.load(ordering: .relaxed)
    return opened >= 0 && opened != forks.current
  }

  /// Notes that the file was opened.
  func noteOpening(isStamped: Bool) {
    if isStamped { stamped.store(true, ordering: .relaxed) }
    openedAt.store(forks.current, ordering: .relaxed)
  }

  /// Notes that the file was closed.
  func noteClosing() {
    stamped.store(false, ordering: .relaxed)
    openedAt.store(-1, ordering: .relaxed)
  }

  /// Whether the file was seen in its place in this tick.
  func wasSeen(at tick: Int64) -> Bool { tick != 0 && looked.load(ordering: .relaxed) == tick }

  /// Notes that the file was seen in its place.
  func noteSeen(at tick: Int64) { if tick != 0 { looked.store(tick, ordering: .relaxed) } }
}
