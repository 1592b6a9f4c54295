import FileBackend
import Foundation
import TestSupport
import Testing

/// System calls fail in turn, by strace's fault injection: the old value or the new one, whole, and
/// no space lost after the next opening.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct FailingCallTests {
  enum Operation: String, Sendable, CaseIterable {
    case make, replace, shrink, remove, rename, copy

    var command: [String] {
      switch self {
      case .make: ["write", "new", "9", "200000"]
      case .replace: ["write", "name", "9", "200000"]
      case .shrink: ["write", "name", "9", "10"]
      case .remove: ["remove", "name"]
      case .rename: ["rename", "name", "new"]
      case .copy: ["copy", "name", "new"]
      }
    }

    /// What is there when it was done.
    var result: [String: String] {
      switch self {
      case .make: ["name": "1 150000", "other": "2 100000", "new": "9 200000"]
      case .replace: ["name": "9 200000", "other": "2 100000"]
      case .shrink: ["name": "9 10", "other": "2 100000"]
      case .remove: ["other": "2 100000"]
      case .rename: ["new": "1 150000", "other": "2 100000"]
      case .copy: ["name": "1 150000", "new": "1 150000", "other": "2 100000"]
      }
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let calls: String
    /// As strace's `inject` takes it.
    let effect: String
    var testDescription: String { "\(calls) \(effect)" }
  }

  private static let durable = "fsync,fdatasync"
  private static let names = "unlink,unlinkat,rename,renameat,renameat2,link,linkat"

  /// Of each call the first one fails, then the second, until none is left.
  ///
  /// Blobs are written by write(2), the index by pwrite(2).
  static let faults = [
    Fault(calls: durable, effect: "error=EIO"),
    Fault(calls: names, effect: "error=EIO"),
    Fault(calls: "\(durable),unlink,unlinkat,ftruncate", effect: "signal=KILL"),
    Fault(calls: "write", effect: "error=EIO"),
    Fault(calls: "write", effect: "error=ENOSPC"),
    Fault(calls: "write", effect: "signal=KILL"),
  ]

  static let moreFaults = [
    Fault(calls: durable, effect: "error=ENOSPC"),
    Fault(calls: "pwrite64", effect: "error=ENOSPC"),
    Fault(calls: "pwrite64", effect: "error=EIO"),
    Fault(calls: names, effect: "error=ENOSPC"),
    Fault(calls: names, effect: "signal=KILL"),
    Fault(calls: "fcntl", effect: "error=ENOLCK"),
    Fault(calls: "openat", effect: "error=EMFILE"),
    Fault(calls: "pwrite64", effect: "signal=KILL"),
  ]

  private let place = TemporarySealedFolder()

  private func prepare() throws {
    try? FileManager.default.removeItem(at: place.url)
    let folder = place.folder()
    try folder.write(value(1, 150_000), named: "name")
    try folder.write(value(2, 100_000), named: "other")
  }

  /// As the child makes them.
  private func value(_ number: UInt8, _ length: Int) -> Data {
    Data((0..<length).map { $0 % 8 == 0 ? number : 0 })
  }

  private func state() throws -> [String: String] {
    let folder = place.folder()
    var state: [String: String] = [:]
    for name in try folder.names() {
      let found = try #require(try folder.read(named: name))
      #expect(found == value(found[0], found.count))
      state[name] = "\(found[0]) \(found.count)"
    }
    return state
  }

  private let old = ["name": "1 150000", "other": "2 100000"]

  /// Performs an operation in which a call fails, and gives what it said and what strace did.
  private func run(
    _ operation: Operation, _ fault: Fault, _ occurrence: Int
  ) throws -> (said: String, log: String) {
    let log = place.file("strace.log")
    let said = try helper.start(
      [operation.command[0], place.path] + operation.command.dropFirst(),
      prefix: [
        "strace", "-f", "-y", "-qq", "-o", log.path, "-e", "trace=\(fault.calls)", "-e",
        "inject=\(fault.calls):\(fault.effect):when=\(occurrence)",
      ]
    ).lines().joined(separator: " ")
    return (said, try String(contentsOf: log, encoding: .utf8))
  }

  private func failEach(_ fault: Fault, _ operation: Operation) throws {
    var (occurrence, strides) = (1, Depth.Strides())
    while true {
      try prepare()
      let (said, log) = try run(operation, fault, occurrence)
      let what: Comment = "\(fault.calls) \(fault.effect) \(occurrence) in \(operation): \(said)"
      let isKill = fault.effect.hasPrefix("signal")
      guard isKill ? said.isEmpty : log.contains("(INJECTED)") else { break }
      let found = try state()
      // Its own answer may be what could not be written.
      if said.isEmpty || said == "error outcomeUnknown" {
        #expect(found == old || found == operation.result, what)
      } else if said.hasPrefix("error") {
        #expect(found == old, what)
      } else {
        #expect(found == operation.result, what)
      }
      // No space is lost, after the next opening at most.
      let large = found.values.count { Int($0.split(separator: " ")[1])! > 16_384 }
      #expect(place.blobs.count == large && place.pending == [], what)
      #expect(try place.folder().verify().isSound, what)
      occurrence += strides.next()
    }
    // Each of them makes files durable and removes a marker; not each writes a blob.
    #expect(occurrence > 1, "\(fault.calls) did not fail in \(operation)")
  }

  @Test func theNewBlobIsDurableBeforeTheIndexNamesItAndTheOldOneGoesLast() throws {
    try prepare()
    let old = place.blobs
    let log = place.file("strace.log")
    let calls = "fsync,fdatasync,pwrite64,unlink,unlinkat"
    let said = try helper.start(
      ["write", place.path, "name", "9", "200000"],
      prefix: ["strace", "-f", "-y", "-qq", "-o", log.path, "-e", "trace=\(calls)"]
    ).lines()
    #expect(said == ["written"])
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
    let new = try #require(place.blobs.first { !old.contains($0) })
    let gone = try #require(old.first { !place.blobs.contains($0) })
    func first(_ parts: String...) throws -> Int {
      try #require(
        lines.firstIndex { line in parts.allSatisfy { line.contains($0) } }, "\(parts): \(lines)")
    }
    let named = try first("pwrite64", "index.vault-wal>")
    #expect(try first("fsync", "/blobs/\(new)>") < named)
    #expect(try first("fsync", "/blobs>") < named)
    #expect(try first("fsync", "/pending>") < named)
    let durable = try #require(
      lines.indices.first {
        $0 > named && lines[$0].contains("sync") && lines[$0].contains("index.vault-wal>")
      })
    #expect(try first("unlink", "/blobs>, \"\(gone)\"") > durable)
    #expect(try first("unlink", "/pending>, \"\(gone)\"") > first("unlink", "/blobs>, \"\(gone)\""))
  }

  @Test(arguments: Depth.cases(faults, day: 2), Operation.allCases)
  func everyFailingCallLeavesOneValueOrTheOther(
    _ fault: Fault, _ operation: Operation
  ) throws {
    try failEach(fault, operation)
  }

  @Test(arguments: [Operation.make, .replace, .copy])
  func aBlobsWriteThatFailsIsAnErrorAndTheOldValueStays(_ operation: Operation) throws {
    for (effect, said) in [("error=EIO", "error io"), ("error=ENOSPC", "error full")] {
      try prepare()
      let answer = try run(operation, Fault(calls: "write", effect: effect), 1)
      #expect(answer.said == said && answer.log.contains("/blobs/"), "\(answer)")
      #expect(try state() == old && place.blobs.count == 2 && place.pending == [])
    }
  }

  @Test(.enabled(if: Soak.isOn), arguments: moreFaults, Operation.allCases)
  func everyFailingCallLeavesOneValueOrTheOtherSoak(
    _ fault: Fault, _ operation: Operation
  ) throws {
    try failEach(fault, operation)
  }
}
