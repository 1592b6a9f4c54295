private import Dispatch
private import Foundation

/// How long the changes of another process take until they are seen in this one.
package enum ArrivalTimes {
  /// Has a child make changes one after another, each of which is waited for.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - change: has the change to a number made, and gives the child's time of acknowledging it.
  ///   - read: the number that is seen.
  /// - Returns: the times in milliseconds, sorted.
  /// - Throws: what `change` throws, or that the child ended.
  package static func measure(
    _ count: Int, change: (Int) throws -> String?, read: () -> Int
  ) throws -> [Double] {
    var times: [Double] = []
    for index in 0..<count {
      guard let answer = try change(index), let written = UInt64(answer) else {
        throw CocoaError(.coderInvalidValue)
      }
      while read() != index { usleep(100) }
      let now = DispatchTime.now().uptimeNanoseconds
      times.append(now > written ? Double(now - written) / 1e6 : 0)
    }
    return times.sorted()
  }

  /// The times in words.
  package static func describe(_ times: [Double]) -> String {
    "median \(times[times.count / 2]) ms, 99 % \(times[times.count * 99 / 100]) ms, "
      + "slowest \(times.last ?? 0) ms"
  }
}
