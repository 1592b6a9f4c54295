import Foundation

/// A curve over the number of entries, as SVG.
struct Plot {
  /// What the file is called, without its ending.
  let name: String
  let title: String
  /// Of the values.
  let unit: String
  let points: [(entries: Int, value: Double)]
  /// Where a target is: up to there is well.
  let limit: (value: Double, name: String)?

  private static let (width, height) = (640.0, 320.0)
  private static let (left, right, top, bottom) = (70.0, 20.0, 40.0, 45.0)

  func write(to folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    try svg.write(toFile: folder + "/\(name).svg", atomically: true, encoding: .utf8)
  }

  private var top: Double {
    let highest = max(points.map(\.value).max() ?? 1, limit?.value ?? 0) * 1.1
    let step = pow(10, floor(log10(highest)))
    return (highest / step * 2).rounded(.up) / 2 * step
  }

  private func x(_ entries: Int) -> Double {
    let (first, last) = (log10(Double(points[0].entries)), log10(Double(points.last!.entries)))
    let part = (log10(Double(entries)) - first) / (last - first)
    return Self.left + part * (Self.width - Self.left - Self.right)
  }

  private func y(_ value: Double) -> Double {
    let room = Self.height - Self.top - Self.bottom
    return Self.height - Self.bottom - value / top * room
  }

  private var svg: String {
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" "
        + "font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      SVG.text(title, Self.left, 22, "start", size: 15),
    ]
    for step in 0...4 {
      let value = top * Double(step) / 4
      lines.append(line(Self.left, y(value), Self.width - Self.right, y(value), "#ddd"))
      lines.append(SVG.text(number(value) + " " + unit, Self.left - 6, y(value) + 4, "end"))
    }
    for point in points {
      let label = point.entries.formatted(.number.locale(Locale(identifier: "en_US")))
      lines.append(SVG.text(label, x(point.entries), Self.height - Self.bottom + 18, "middle"))
    }
    lines.append(SVG.text("entries", Self.width / 2, Self.height - 8, "middle"))
    if let limit {
      lines.append(
        line(
          Self.left, y(limit.value), Self.width - Self.right, y(limit.value), "#b00", dash: "6 4"))
      lines.append(
        SVG.text(limit.name, Self.width - Self.right, y(limit.value) - 5, "end", color: "#b00"))
    }
    let path = points.map { "\(shown(x($0.entries), 1)),\(shown(y($0.value), 1))" }
    lines.append(
      "<polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2\" "
        + "points=\"\(path.joined(separator: " "))\"/>")
    for point in points {
      lines.append(
        "<circle cx=\"\(shown(x(point.entries), 1))\" cy=\"\(shown(y(point.value), 1))\" r=\"3\" "
          + "fill=\"#06c\"><title>\(point.entries): \(shown(point.value, 2)) \(unit)</title></circle>"
      )
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private func number(_ value: Double) -> String {
    top >= 20 ? shown(value, 0) : shown(value, 2)
  }

  private func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ color: String, dash: String = "none"
  ) -> String {
    "<line x1=\"\(shown(x1, 1))\" y1=\"\(shown(y1, 1))\" x2=\"\(shown(x2, 1))\" "
      + "y2=\"\(shown(y2, 1))\" stroke=\"\(color)\" stroke-dasharray=\"\(dash)\"/>"
  }
}
