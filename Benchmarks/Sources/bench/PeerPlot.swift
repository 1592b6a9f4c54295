import Foundation

/// Bars that show this package beside its peers, for the calls by which a user would choose.
///
/// The bars of one call share a scale, whose end is the slowest of them; the time stands at each
/// bar.
struct PeerPlot {
  /// One call, done by this package and by others.
  struct Group {
    let title: String
    let bars: [Bar]
  }

  /// How long the call takes with one of them.
  struct Bar {
    let name: String
    let nanoseconds: Double
    let isOurs: Bool

    init(_ name: String, _ nanoseconds: Double, isOurs: Bool = false) {
      (self.name, self.nanoseconds, self.isOurs) = (name, nanoseconds, isOurs)
    }
  }

  static let title = "One call, with this package and with others: a shorter bar is faster"

  let groups: [Group]

  /// The groups of which this package and at least one peer were measured.
  init(_ results: [Result], _ large: [Figure]) {
    func result(_ name: String, _ floor: String) -> Result? {
      results.first { $0.comparison.name == name && $0.comparison.floorName == floor }
    }
    func bars(
      _ call: String, _ name: String, _ peers: [(row: String, name: String)]
    ) -> [Bar] {
      let measured = peers.compactMap { peer in result(call, peer.row).map { (peer.name, $0) } }
      guard !measured.isEmpty else { return [] }
      return [Bar(name, measured.map(\.1.ours).median, isOurs: true)]
        + measured.map { Bar($0.0, $0.1.floor) }
    }
    func file(_ way: String) -> [Bar] {
      [("sealed folder", "SealedFolder", true), ("age", "age", false)].compactMap {
        (row, name, isOurs) in
        large.first { $0.name == "1 GiB: \(row), \(way)" }?.nanoseconds
          .map { Bar(name, $0, isOurs: isOurs) }
      }
    }
    func sealed(_ call: String) -> [Bar] {
      guard let ours = result("\(call) 32 B as Data", "bare \(call)"),
        let theirs = result("swift-crypto: \(call) 32 B", "bare \(call)")
      else { return [] }
      return [Bar("CryptoCore", ours.ours, isOurs: true), Bar("swift-crypto", theirs.ours)]
    }
    let keyring = "@Keychain String: read, 10 items"
    groups = [
      Group(
        title: "read a text of 32 bytes from a file store",
        bars: bars(
          "@Vault String: read", "@Vault",
          [
            ("SQLCipher point read", "SQLCipher"),
            ("bare SQLite point read", "SQLite, not encrypted"),
          ])),
      Group(
        title: "store a text of 32 bytes durably in a file store",
        bars: bars(
          "@Vault String: durable write", "@Vault",
          [
            ("SQLCipher, two rows", "SQLCipher"),
            ("bare SQLite, a plain table", "SQLite, not encrypted"),
          ])),
      Group(title: "seal 32 bytes with AES-256-GCM", bars: sealed("seal")),
      Group(title: "open 32 bytes with AES-256-GCM", bars: sealed("open")),
      Group(
        title: "read a secret from the desktop's keyring",
        bars: bars(
          keyring, "@Keychain",
          [
            ("libsecret in C, a new session each", "libsecret, a session each"),
            ("Python's keyring", "Python's keyring"),
            ("secret-tool lookup, a process each", "secret-tool"),
          ])),
      Group(title: "store a file of 1 GiB, encrypted and durable", bars: file("write")),
      Group(title: "read a file of 1 GiB that is encrypted", bars: file("read")),
    ].filter { $0.bars.count > 1 }
  }

  private static let (width, left, right) = (720.0, 190.0, 90.0)
  private static let (row, gap, top) = (20.0, 34.0, 34.0)

  func write(to folder: String) throws {
    guard !groups.isEmpty else { return }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try svg.write(toFile: folder + "/peers.svg", atomically: true, encoding: .utf8)
  }

  private var svg: String {
    var y = Self.top
    var lines: [String] = []
    for group in groups {
      y += Self.gap
      lines.append(SVG.text(group.title, 14, y - 8, "start", size: 13, weight: "bold"))
      let longest = group.bars.map(\.nanoseconds).max() ?? 1
      for bar in group.bars {
        let room = Self.width - Self.left - Self.right
        let length = max(bar.nanoseconds / longest * room, 1.5)
        lines.append(
          SVG.text(bar.name, Self.left - 8, y + 14, "end", weight: bar.isOurs ? "bold" : "normal"))
        lines.append(
          "<rect x=\"\(Int(Self.left))\" y=\"\(shown(y + 3, 0))\" width=\"\(shown(length, 1))\" "
            + "height=\"14\" fill=\"\(bar.isOurs ? "#06c" : "#999")\"/>")
        lines.append(
          SVG.text(Self.time(bar.nanoseconds), Self.left + length + 6, y + 14, "start"))
        y += Self.row
      }
    }
    let height = shown(y + 14, 0)
    let head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.width)) \(height)\" "
      + "font-family=\"sans-serif\" font-size=\"12\">"
    let ground = "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    return
      ([head, ground, SVG.text(Self.title, 14, 24, "start", size: 15)] + lines + ["</svg>", ""])
      .joined(separator: "\n")
  }

  /// A time with the unit in which it is easiest to read.
  private static func time(_ nanoseconds: Double) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)]
    let (name, size) = units.first { nanoseconds >= $0.1 } ?? ("ns", 1)
    let value = nanoseconds / size
    return shown(value, value < 10 && size > 1 ? 1 : 0) + " " + name
  }
}
