private import Foundation

/// Long tests, whose names end in Soak: they run with SPS_SOAK=1 alone.
package enum Soak {
  package static let isOn = mode == "1"

  /// Whether a suite that measures time runs, with no other beside it: SPS_SOAK=alone.
  package static let isAlone = mode == "alone"

  private static let mode = ProcessInfo.processInfo.environment["SPS_SOAK"]
}
