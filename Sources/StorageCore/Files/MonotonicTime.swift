internal import Glibc

/// A time of the clock that all processes of a machine share and that nobody sets
/// (clock_gettime(2), CLOCK_MONOTONIC).
///
/// To read it is no system call on most machines, and about 30 ns.
package struct MonotonicTime: Sendable {
  private let nanoseconds: Int64

  /// The present time.
  package static var now: MonotonicTime {
    var time = timespec()
    let result = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    precondition(result == 0, "clock_gettime failed")
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Nanoseconds from `earlier` to this time.
  package func since(_ earlier: MonotonicTime) -> Int64 { nanoseconds - earlier.nanoseconds }

  /// Waits until so many nanoseconds have passed since this time; usually they have.
  package func waitUntilPassed(_ span: Int64) {
    while true {
      let left = span - MonotonicTime.now.since(self)
      guard left > 0 else { return }
      // Nobody tells when time has passed.
      usleep(useconds_t(min(left / 1_000 + 1, 100_000)))
    }
  }
}

/// A tick of the kernel's clock, 1 to 10 ms (clock_gettime(2), CLOCK_MONOTONIC_COARSE).
///
/// To read it is no system call, and a third of the price of ``MonotonicTime``: for what is to be asked once
/// in each, and not every time.
package enum ClockTick {
  /// The present tick; 0 where the clock can't be read, which is to be taken for another one every time.
  @inline(__always)
  package static var now: Int64 {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
