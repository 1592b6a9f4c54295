import FileBackend
import Foundation

/// A sealed folder of 100,000 names beside one of 100.
enum ManyNames {
  private static let many = 100_000
  private static let few = 100
  private static let runs = 21

  private static var base: String { Disk.folder + "/names" }

  static func figures() throws -> [Figure] {
    defer { try? FileManager.default.removeItem(atPath: base) }
    let (large, small) = ("\(base)/many", "\(base)/few")
    try fill(large, many)
    try fill(small, few)
    let opening = try ratio({ try folder(large).open() }, { try folder(small).open() })
    let value = Data(repeating: 5, count: 1024)
    let (big, little) = (folder(large), folder(small))
    let writing = try ratio(
      { for _ in 0..<10 { try big.write(value, named: "name 7") } },
      { for _ in 0..<10 { try little.write(value, named: "name 7") } })
    // Both from memory, name for name: the second listing of each.
    let listing = try ratio(
      { guard try big.names().count == many else { throw FolderCalls.Failed() } },
      { for _ in 0..<many / few { _ = try little.names() } }, runs: 5)
    let afterKill = try ratio(
      {
        // As a writer leaves it who is killed before its blob is there.
        let marker = large + "/pending/" + String(repeating: "ab", count: 16)
        FileManager.default.createFile(
          atPath: marker, contents: nil, attributes: [.posixPermissions: 0o600])
        try folder(large).open()
        guard !FileManager.default.fileExists(atPath: marker) else { throw FolderCalls.Failed() }
      }, { _ = try folder(large).names() }, runs: 5)
    return [
      Figure(
        name: "100,000 names: open, beside 100", value: opening.ratio,
        unit: "times (\(shown(opening.time / 1e3, 0)) µs)", limit: 1.5),
      Figure(
        name: "100,000 names: write 1 KiB, beside 100", value: writing.ratio,
        unit: "times (\(shown(writing.time / 1e4, 0)) µs)", limit: 1.5),
      Figure(
        name: "100,000 names: list, a name, beside 100", value: listing.ratio,
        unit: "times (\(shown(listing.time / Double(many), 0)) ns a name)", limit: 1.5),
      Figure(
        name: "100,000 names: open after a kill", value: afterKill.ratio,
        unit: "times a listing (\(shown(afterKill.time / 1e6, 0)) ms)", limit: 4),
    ]
  }

  private static func folder(_ path: String) -> SealedFolder {
    SealedFolder(
      at: URL(filePath: path, directoryHint: .isDirectory),
      keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
  }

  private static func fill(_ path: String, _ count: Int) throws {
    let folder = folder(path)
    for start in stride(from: 0, to: count, by: 1000) {
      try folder.transaction { transaction in
        for number in start..<min(start + 1000, count) {
          try transaction.write(Data(repeating: 5, count: 100), named: "name \(number)")
        }
      }
    }
    try folder.write(Data(repeating: 5, count: 20_000), named: "name 1")
  }

  /// How long one takes beside the other, by wall time and the medians of runs that take turns.
  private static func ratio(
    _ ours: () throws -> Void, _ floor: () throws -> Void, runs: Int = runs
  ) throws -> (ratio: Double, time: Double) {
    var (times, floors): ([Double], [Double]) = ([], [])
    try ours()
    try floor()
    for _ in 0..<runs {
      times.append(try time(ours))
      floors.append(try time(floor))
    }
    return (times.median / floors.median, times.median)
  }

  private static func time(_ body: () throws -> Void) throws -> Double {
    let start = Clock.wall.nanoseconds
    try body()
    return Clock.wall.nanoseconds - start
  }
}
