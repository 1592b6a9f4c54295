import Foundation
import Glibc
import StorageCore
import VaultBackend

/// Vaults of many entries of 32 bytes.
final class Entries {
  static let counts = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
  private static let value = String(repeating: "e", count: 32)
  private static let batch = 10_000

  let count: Int
  let storage: VaultStorage
  let path: String
  /// Goes on from batch to batch: the same few entries again would be in the processor's caches.
  private var random = Random()

  struct WrongValue: Error {}

  static func path(_ count: Int) -> String { Disk.folder + "/entries-\(count).vault" }

  static func open(_ path: String) -> VaultStorage {
    let key = SymmetricKey(data: Data(repeating: 7, count: 32))
    return VaultStorage(at: URL(filePath: path), keySource: .key(key))
  }

  static func name(_ index: Int) -> String { "entry-\(index)" }

  /// The vault with so many entries, made once.
  init(_ count: Int) throws {
    self.count = count
    path = Self.path(count)
    let isThere = Disk.size(of: path) > 0
    storage = Self.open(path)
    guard !isThere else { return }
    for start in stride(from: 0, to: count, by: Self.batch) {
      try storage.transaction { transaction in
        for index in start..<min(count, start + Self.batch) {
          try transaction.save(Self.value, forKey: Self.name(index))
        }
      }
    }
  }

  func readFirst() throws { try read(0) }

  /// Reads every entry once.
  func readAll() throws {
    for index in 0..<count { try read(index) }
  }

  /// Reads entries picked at random.
  func readAnywhere(_ rounds: Int) throws {
    for _ in 0..<rounds { try read(random.below(count)) }
  }

  private func read(_ index: Int) throws {
    guard try storage.load(String.self, forKey: Self.name(index))?.utf8.count == 32 else {
      throw WrongValue()
    }
  }
}

/// What another process finds when it opens a vault of many entries and reads each once.
struct EntryVisit {
  let count: Int
  let fileSize: Int
  /// Milliseconds from nothing to the first value.
  let opening: Double
  /// Bytes of resident memory that were added by reading all.
  let growth: Int
  /// Nanoseconds of an entry's first read, when all are read one after the other.
  let firstRead: Double
  /// Nanoseconds of a later read of an entry picked at random, in processor time.
  var warmRead = 0.0

  var line: String { "\(count) \(fileSize) \(opening) \(growth) \(firstRead)" }
  var growthRatio: Double { Double(growth) / Double(fileSize) }

  init?(_ line: String) {
    let parts = line.split(whereSeparator: \.isWhitespace)
    guard parts.count == 5, let count = Int(parts[0]), let size = Int(parts[1]),
      let opening = Double(parts[2]), let growth = Int(parts[3]), let first = Double(parts[4])
    else { return nil }
    (self.count, fileSize, self.opening, self.growth) = (count, size, opening, growth)
    firstRead = first
  }

  /// Visits a vault in this process.
  init(of path: String, count: Int) throws {
    self.count = count
    fileSize = Disk.size(of: path) + Disk.size(of: path + "-wal")
    let start = Clock.wall.nanoseconds
    let entries = try Entries(count)
    try entries.readFirst()
    opening = (Clock.wall.nanoseconds - start) / 1e6
    let before = Self.residentSize
    let begin = Clock.wall.nanoseconds
    try entries.readAll()
    firstRead = (Clock.wall.nanoseconds - begin) / Double(count)
    growth = Self.residentSize - before
  }

  /// Visits a vault in a process of its own; opening is the median of three.
  static func elsewhere(_ count: Int) throws -> EntryVisit {
    // Closed again: the last one that closes takes the log into the file.
    let path = try Entries(count).path
    let visits = try (0..<3).map { _ in
      let helper = try Helper.start(["--visit-entries", path, "\(count)"])
      let output = try helper.output.fileHandleForReading.readToEnd() ?? Data()
      helper.process.waitUntilExit()
      guard let visit = EntryVisit(String(decoding: output, as: UTF8.self)) else {
        throw Helper.Failed()
      }
      return visit
    }
    return visits.sorted { $0.opening < $1.opening }[visits.count / 2]
  }

  /// All sizes, and what is asked of the largest.
  static func all() throws -> [EntryVisit] {
    var visits = try Entries.counts.map { try elsewhere($0) }
    for (index, time) in try warmReads().enumerated() { visits[index].warmRead = time }
    return visits
  }

  /// Medians of batches that take turns, so that what slows the machine slows all sizes.
  private static func warmReads() throws -> [Double] {
    let sizes = try Entries.counts.map { try Entries($0) }
    for entries in sizes { try entries.readAll() }
    var times = [[Double]](repeating: [], count: sizes.count)
    for _ in 0..<101 {
      for (index, entries) in sizes.enumerated() {
        let start = Clock.thread.nanoseconds
        try entries.readAnywhere(1000)
        times[index].append((Clock.thread.nanoseconds - start) / 1000)
      }
    }
    return times.map(\.median)
  }

  static func figures(_ visits: [EntryVisit]) -> [Figure] {
    guard let largest = visits.last else { return [] }
    return [
      Figure(
        name: "1,000,000 entries: opening", value: largest.opening, unit: "ms", limit: 50),
      Figure(
        name: "1,000,000 entries: memory for all of them", value: largest.growthRatio,
        unit: "of the file", limit: 1.5),
    ]
  }

  /// proc(5), statm: the second number counts pages.
  private static var residentSize: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
