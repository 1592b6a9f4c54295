import FileBackend
import Foundation
import TestSupport
import Testing

/// Processes that are killed anywhere: either value whole, and no space lost after the next
/// opening.
@Suite struct CrashTests {
  private let place = TemporarySealedFolder()

  /// What the names may hold, by what a killed process said: each is `number length`, or nil.
  private struct Model {
    var values: [String: String] = [:]
    /// What may be instead, of a command that was not acknowledged.
    var open: [String: String?]?

    /// What the folder holds where the open command was done.
    var done: [String: String] {
      var done = values
      if let open { for (name, value) in open { done[name] = value } }
      return done
    }

    mutating func take(_ line: String) {
      if line.hasPrefix("= ") {
        (values, open) = (done, nil)
        return
      }
      let words = line.split(separator: " ").map(String.init)
      switch words[0] {
      case "write": open = [words[1]: "\(words[2]) \(words[3])"]
      case "remove": open = [words[1]: nil]
      case "rename":
        open = [:]
        guard words[1] != words[2], let value = values[words[1]] else { return }
        open = [words[1]: nil, words[2]: value]
      default: open = nil
      }
    }
  }

  private func state(_ folder: SealedFolder) throws -> [String: String] {
    var state: [String: String] = [:]
    for name in try folder.names() {
      let value = try #require(try folder.read(named: name))
      let number = value.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      // All of it is of one write.
      for start in stride(from: 0, to: value.count - 8, by: 8) where start % 1024 == 0 {
        #expect(value[start..<start + 8] == value.prefix(8))
      }
      state[name] = "\(number) \(value.count)"
    }
    return state
  }

  private func killAtRandom(_ times: Int) throws {
    var model = Model()
    let index = place.path + "/index.vault"
    var generator = SystemRandomNumberGenerator()
    for time in 0..<times {
      let child = try helper.start(
        ["write-on", place.path, "0", "\(generator.next() as UInt64)"])
      child.waitUntilItSpeaks()
      // The first has made the folder: what it does first may be the removal of a name that it has
      // not.
      for lines in 2..<200 where !FileManager.default.fileExists(atPath: index) {
        child.waitUntilItSpeaks(lines: lines)
      }
      usleep(useconds_t.random(in: 0..<30_000))
      child.kill()
      for line in try child.lines() where line != "ready" {
        #expect(!line.hasPrefix("= error"), "\(line)")
        model.take(line)
      }
      let folder = place.folder()
      let found = try state(folder)
      #expect(found == model.values || found == model.done, "kill \(time): \(model)")
      model = Model(values: found)
      // What nobody names was swept when the folder was opened.
      let large = found.values.count { Int($0.split(separator: " ")[1])! > 16_384 }
      #expect(place.blobs.count == large && place.pending == [], "kill \(time)")
    }
    #expect(try place.folder().verify().isSound)
  }

  @Test func aKilledProcessLeavesOneValueOrTheOtherAndNoBlob() throws { try killAtRandom(15) }

  @Test(.enabled(if: Soak.isOn)) func twoThousandKillsSoak() throws { try killAtRandom(2000) }

  /// Takes an ext4 down under a writer, as without power, and looks at what is left.
  ///
  /// The writer is stopped before, between any two system calls: one that is under way while an
  /// ext4 is shut down may return 0 and have done nothing.
  private func shutDown(trials: Int) throws {
    let lines = try helper.run(
      script: """
        cd \(place.parent.path) && truncate -s 48M image && mkfs.ext4 -q -F image && mkdir disk || exit 1
        for trial in $(seq \(trials)); do
          mount -o loop image disk && mkdir -p -m 700 disk/v || exit 1
          "$0" write-on \(place.parent.path)/disk/v/files 0 $trial > said &
          writer=$!
          sleep 0.$(shuf -i 150-400 -n 1)
          # A busy machine takes longer to write enough.
          for wait in $(seq 3000); do [ $(wc -l < said) -ge 15 ] && break; sleep 0.01; done
          kill -STOP $writer
          until grep -q '^State:.T' /proc/$writer/status; do :; done
          "$0" shut-down \(place.parent.path)/disk >&2
          kill -9 $writer; wait $writer
          umount disk && mount -o loop image disk || exit 1
          echo trial $trial
          sed 's/^/said /' said
          "$0" state \(place.parent.path)/disk/v/files | sed 's/^/state /'
          umount disk || exit 1
        done
        """)
    var model = Model()
    var (trials, written) = (trials, 0)
    for trial in lines.split(whereSeparator: { $0.hasPrefix("trial ") }) {
      trials -= 1
      var found: [String: String] = [:]
      var report = ""
      for line in trial {
        let words = line.split(separator: " ").map(String.init)
        if words[0] == "said" {
          guard words[1] != "ready" else { continue }
          #expect(!line.hasPrefix("said = error"), "\(line)")
          model.take(words.dropFirst().joined(separator: " "))
          written += 1
        } else if words.count == 4 {
          found[words[1]] = "\(words[2]) \(words[3])"
        } else {
          report = line
        }
      }
      #expect(found == model.values || found == model.done, "\(model) \(trial)")
      let large = found.values.count { Int($0.split(separator: " ")[1])! > 16_384 }
      #expect(report == "state true \(large)", "what nobody names was swept")
      model = Model(values: found)
    }
    #expect(trials == 0 && written > 10, "\(lines)")
  }

  @Test(.enabled(if: Machine.canMountFiles, "needs the right to mount an ext4"))
  func nothingAcknowledgedIsLostWithThePower() throws {
    try shutDown(trials: Depth.count(4, day: 1))
  }

  @Test(.enabled(if: Soak.isOn && Machine.canMountFiles))
  func nothingAcknowledgedIsLostWithThePowerSoak() throws {
    try shutDown(trials: 100)
  }

  /// Two processes write, rename and remove, others are killed while they write, and this one opens
  /// the folder, which sweeps it, and verifies it.
  private func stress(rounds: Int, openings: Int) throws {
    var models = [Model(), Model()]
    var generator = SystemRandomNumberGenerator()
    for round in 0..<rounds {
      let writers = try models.indices.map { number in
        try helper.start(["write-on", place.path, "\(number)", "\(generator.next() as UInt64)"])
      }
      for writer in writers { writer.waitUntilItSpeaks(lines: 3) }
      for opening in 0..<openings {
        let left = try helper.start(["hold-writer", place.path, "left", "5", "300000"])
        left.waitUntilItSpeaks()
        left.kill()
        _ = try left.lines()
        try place.folder().open()
        guard opening % 4 == 3 else { continue }
        let report = try place.folder().verify()
        #expect(report.isSound, "\(report.findings) \(report.index.findings)")
      }
      for writer in writers { writer.kill() }
      let found = try writers.map { try $0.lines() }
      let state = try state(place.folder())
      for (number, lines) in found.enumerated() {
        for line in lines where line != "ready" {
          #expect(!line.hasPrefix("= error"), "\(line)")
          models[number].take(line)
        }
        #expect(lines.count > 10)
        let own = state.filter { $0.key.hasPrefix("writer\(number)-") }
        let model = models[number]
        #expect(own == model.values || own == model.done, "round \(round): \(model)")
        models[number] = Model(values: own)
      }
      let large = state.values.count { Int($0.split(separator: " ")[1])! > 16_384 }
      #expect(place.blobs.count == large && place.pending == [], "round \(round)")
    }
    #expect(try place.folder().verify().isSound)
  }

  @Test func nothingAcknowledgedIsLostWhileOthersAreKilledAndSwept() throws {
    try stress(rounds: Depth.count(2, day: 1), openings: 8)
  }

  @Test(.enabled(if: Soak.isOn)) func nothingAcknowledgedIsLostWhileOthersAreKilledAndSweptSoak()
    throws
  {
    try stress(rounds: 30, openings: 100)
  }

  @Test func whatIsBeingWrittenIsNotSwept() throws {
    let child = try helper.start(["hold-writer", place.path, "name", "5", "300000"])
    child.waitUntilItSpeaks()
    #expect(place.blobs.count == 1 && place.pending.count == 1)
    for _ in 0..<3 {
      let folder = place.folder()
      try folder.open()
      #expect(try folder.read(named: "name") == nil)
      try folder.write(pattern(50_000), named: "other")
      #expect(try folder.verify().findings == [])
    }
    #expect(place.blobs.count == 2)
    child.release()
    #expect(try child.lines() == ["inside", "written"])
    #expect(try place.folder().read(named: "name")?.count == 300_000)
    #expect(place.pending == [])
  }

  /// The sweep has listed the index by then, and comes to the writer's marker later.
  @Test(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
  func whatIsWrittenDuringASweepIsNotSwept() throws {
    func hold(_ name: String) throws -> Child {
      let child = try helper.start(["hold-writer", place.path, name, "5", "300000"])
      child.waitUntilItSpeaks()
      return child
    }
    // The sweep begins with one that was left, in any order: of four, seldom behind the writer's own.
    let left = try (0..<4).map { try hold("left-\($0)") }
    let markers = place.pending.map { place.path + "/pending/" + $0 }
    let writer = try hold("name")
    for child in left {
      child.kill()
      _ = try child.lines()
    }
    let log = place.parent.appendingPathComponent("log")
    let sweep = try helper.start(
      ["names", place.path],
      prefix: SystemFault.delay("fcntl", microseconds: 500_000).prefix(of: markers, log: log.path))
    // Two calls on the first marker, then the index is listed, and the third call is late.
    while (try? String(contentsOf: log, encoding: .utf8))?.filter(\.isNewline).count ?? 0 < 2 {
      usleep(10_000)  // strace(1) tells nobody what it has written
    }
    usleep(200_000)  // nor the sweep that it has listed the index
    writer.release()
    #expect(try writer.lines() == ["inside", "written"])
    #expect(try sweep.lines().count == 1)
    #expect(try place.folder().read(named: "name")?.count == 300_000)
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  @Test func whatAKilledWriterLeftIsSweptByTheNextOpeningAlone() throws {
    let folder = place.folder()
    try folder.write(pattern(50_000), named: "other")
    let child = try helper.start(["hold-writer", place.path, "name", "5", "300000"])
    child.waitUntilItSpeaks()
    child.kill()
    _ = try child.lines()
    #expect(place.blobs.count == 2)
    #expect(try place.folder(access: .readOnly).read(named: "other") == pattern(50_000))
    #expect(place.blobs.count == 2)
    try place.folder().open()
    #expect(place.blobs.count == 1 && place.pending == [])
    #expect(try folder.read(named: "other") == pattern(50_000))
  }

  @Test func nothingIsSweptWhileAnEntryOfTheIndexCannotBeRead() throws {
    try place.folder().write(pattern(50_000), named: "name")
    let index = place.index()
    let child = try helper.start(["hold-writer", place.path, "left", "5", "300000"])
    child.waitUntilItSpeaks()
    child.kill()
    _ = try child.lines()
    // Of a newer release, for all that this one knows.
    try index.save(Data([9, 9]), forKey: "newer")
    try place.folder().open()
    #expect(place.blobs.count == 2 && place.pending.count == 1)
    try index.delete(forKey: "newer")
    try place.folder().open()
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  @Test func processesThatReplaceOneNameLeaveOneWholeValue() throws {
    let times = "\(Depth.count(30, day: 8))"
    let children = try (1...3).map { number in
      try helper.start(["replace-on", place.path, "name", "\(number)", "\(number)00000", times])
    }
    let folder = place.folder()
    var seen: Set<Int> = []
    var reads = 0
    while reads < Depth.count(200, day: 50) {
      guard let value = try folder.read(named: "name") else { continue }
      reads += 1
      seen.insert(value.count)
      #expect([100_000, 200_000, 300_000].contains(value.count))
      #expect(Int(value[0]) == value.count / 100_000 && value[value.count - 8] == value[0])
    }
    for child in children { #expect(try child.lines() == ["replaced"]) }
    let last = try #require(try place.folder().read(named: "name"))
    #expect(last.count.isMultiple(of: 100_000))
    #expect(place.blobs.count == 1 && place.pending == [])
    #expect(try folder.verify().isSound)
  }

  /// By the handle that is written piece by piece, and from a file.
  static let ways = ["memory", "memory-of-file"]

  @Test(.enabled(if: Soak.isOn), arguments: ways)
  func twoGibibytesTakeNoMemorySoak(_ way: String) throws {
    let said = try helper.run(way, place.path, "\(1 << 31)")
    #expect(try #require(Int(said[0])) <= 16 * 1024, "\(said) KiB")
  }

  @Test(arguments: ways) func aLongValueTakesNoMemory(_ way: String) throws {
    // 64 MiB in at most 8 MiB.
    let said = try helper.run(way, place.path, "\(1 << 26)")
    #expect(try #require(Int(said[0])) <= 8 * 1024, "\(said) KiB")
  }
}
