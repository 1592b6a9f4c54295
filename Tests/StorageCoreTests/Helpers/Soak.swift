import Foundation
import TestSupport

/// Long tests, whose names end in Soak: they run with SPS_SOAK=1 alone.
enum Soak {
  static var isOn: Bool { ProcessInfo.processInfo.environment["SPS_SOAK"] == "1" }

  static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    Threads.run(count, body)
  }
}
