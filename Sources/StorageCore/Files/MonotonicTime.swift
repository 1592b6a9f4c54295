internal import Glibc

/// A time of the clock that all processes of a machine share and that can't be set
/// (clock_gettime(2), CLOCK_MONOTONIC).
///
/// Reading the clock needs no system call on most machines, and takes about 30 ns.
package struct MonotonicTime: Sendable {
  /// Nanoseconds since some moment before this process began; 0 or less only for a time that
  /// ``earlier(by:)`` gives.
  package let nanoseconds: Int64

  /// The current time.
  package static var now: MonotonicTime {
    var time = timespec()
    let result = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    precondition(result == 0, "clock_gettime failed")
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Nanoseconds from `earlier` to this time.
  package func since(_ earlier: MonotonicTime) -> Int64 { nanoseconds - earlier.nanoseconds }

  /// The time so many nanoseconds before this one.
  package func earlier(by span: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: nanoseconds.subtractingReportingOverflow(span).partialValue)
  }

  /// The time `span` after this one, or the last time that can be told.
  package func later(by span: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = span.components
    let wait = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let most = Int64.max - max(nanoseconds, 0) - 1_000_000_000
    return MonotonicTime(
      nanoseconds: nanoseconds
        + min(wait.overflow ? most : wait.partialValue + attoseconds / 1_000_000_000, most))
  }

  /// Waits until `span` nanoseconds have passed since this time; usually they have passed already.
  package func waitUntilPassed(_ span: Int64) {
    while true {
      let left = span - MonotonicTime.now.since(self)
      guard left > 0 else { return }
      // No event signals that the time has passed, so this sleeps.
      usleep(useconds_t(min(left / 1_000 + 1, 100_000)))
    }
  }
}

/// The time of day, which an administrator can set.
package enum WallTime {
  /// Whole seconds since 1970.
  package static var seconds: Int64 { Int64(time(nil)) }
}

/// A tick of the kernel's clock, 1 to 10 ms (clock_gettime(2), CLOCK_MONOTONIC_COARSE).
///
/// Reading it needs no system call and takes a third of the time of ``MonotonicTime``. Use it for
/// work to be done once in each tick.
package enum ClockTick {
  /// The current tick; 0 if the clock can't be read.
  ///
  /// Treat each 0 as a new tick.
  @inline(__always)
  package static var now: Int64 {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
