import CoreMetrics
import Foundation

/// Keeps counters and gauges, and prints them in the format of Prometheus.
///
/// Small, so that the example needs no other package; a real service uses swift-prometheus, or the
/// exporter of its other metrics.
final class MetricsPage: MetricsFactory, @unchecked Sendable {
  // `lock` protects `series`.
  private let lock = NSLock()
  private var series: [String: Series] = [:]

  private final class Series: CounterHandler, RecorderHandler, @unchecked Sendable {
    // `lock` protects `value`.
    private let lock = NSLock()
    private let isCounter: Bool
    private var value = 0.0

    init(isCounter: Bool) { self.isCounter = isCounter }

    var text: String {
      let value = lock.withLock { self.value }
      return value == value.rounded() ? String(format: "%.0f", value) : "\(value)"
    }
    func increment(by amount: Int64) { lock.withLock { value += Double(amount) } }
    func reset() { lock.withLock { value = 0 } }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { lock.withLock { self.value = value } }
  }

  /// The text of the page.
  func text() -> String {
    let lines = lock.withLock { series.map { "\($0.key) \($0.value.text)" } }
    let time = "process_cpu_nanoseconds \(MeasuredTokens.processTime)"
    return (lines + [time]).sorted().joined(separator: "\n") + "\n"
  }

  private func series(
    _ label: String, _ dimensions: [(String, String)], isCounter: Bool
  ) -> Series {
    let pairs = dimensions.map { "\($0.0)=\"\($0.1)\"" }.sorted().joined(separator: ",")
    let name = pairs.isEmpty ? label : "\(label){\(pairs)}"
    return lock.withLock {
      if let known = series[name] { return known }
      let new = Series(isCounter: isCounter)
      series[name] = new
      return new
    }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, isCounter: true)
  }
  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? NOOPMetricsHandler.instance : series(label, dimensions, isCounter: false)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    NOOPMetricsHandler.instance
  }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
