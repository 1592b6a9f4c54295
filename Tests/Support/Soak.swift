private import Foundation

/// Long tests, whose names end in Soak: they run with SPS_SOAK=1 alone.
package enum Soak {
  package static let isOn = ProcessInfo.processInfo.environment["SPS_SOAK"] == "1"
}
