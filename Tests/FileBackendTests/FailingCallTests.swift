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

  private static let entries = [
    "", "/blobs", "/pending", "/index.vault", "/index.vault-wal", "/index.vault-shm",
  ]
  private static let durable = "fsync,fdatasync"
  private static let names = "unlink,unlinkat,rename,renameat,renameat2,link,linkat"

  private static func fault(_ calls: String, _ error: String, says code: String) -> SystemFault {
    SystemFault(calls, error: error, says: code, "outcomeUnknown")
  }

  /// Blobs are written by write(2), the index by pwrite(2).
  static let faults = [
    fault(durable, "EIO", says: "io"), fault(names, "EIO", says: "io"),
    .kill(before: "\(durable),unlink,unlinkat,ftruncate"), fault("write", "EIO", says: "io"),
    fault("write", "ENOSPC", says: "full"), .kill(before: "write"),
  ]

  static let moreFaults = [
    fault(durable, "ENOSPC", says: "full"), fault("pwrite64", "ENOSPC", says: "full"),
    fault("pwrite64", "EIO", says: "io"), fault(names, "ENOSPC", says: "full"),
    .kill(before: names),
    // Locks; and a folder's descriptor is looked at by fcntl(2), too.
    SystemFault("fcntl", error: "ENOLCK", says: "unsupported", "io", "outcomeUnknown"),
    fault("openat", "EMFILE", says: "io"), .kill(before: "pwrite64"),
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

  private func run(_ operation: Operation, _ prefix: [String]) throws -> [String] {
    try prepare()
    return try helper.start(
      [operation.command[0], place.path] + operation.command.dropFirst(), prefix: prefix
    ).lines()
  }

  private func failEach(_ fault: SystemFault, _ operation: Operation) throws {
    // A program opens its libraries before it has begun.
    let paths = fault.calls == "openat" ? Self.entries.map { place.path + $0 } : []
    let (hits, failures) = try fault.each(of: paths) {
      try run(operation, $0)
    } check: { run in
      let what: Comment = "\(operation): \(run)"
      #expect(run.isNamed, what)
      let found = try state()
      #expect(run.allows(found, old: old, new: operation.result), what)
      // No space is lost, after the next opening at most.
      let large = found.values.count { Int($0.split(separator: " ")[1])! > 16_384 }
      #expect(place.blobs.count == large && place.pending == [], what)
      #expect(try place.folder().verify().isSound, what)
    }
    // Each of them makes files durable and removes a marker, which may stay for the next opening; a
    // removal goes through where there is no room.
    let mayGoOn =
      fault.calls == Self.names || operation == .remove && "\(fault)".contains("ENOSPC")
    #expect(
      hits > 0 && (failures > 0 || mayGoOn),
      "\(fault.calls) did not fail in \(operation)")
  }

  @Test func theNewBlobIsDurableBeforeTheIndexNamesItAndTheOldOneGoesLast() throws {
    try prepare()
    let old = place.blobs
    let (said, lines) = try SystemFault.list("fsync,fdatasync,pwrite64,unlink,unlinkat") {
      try helper.run("write", place.path, "name", "9", "200000", prefix: $0)
    }
    #expect(said == ["written"])
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

  @Test(arguments: Depth.cases(faults, day: 1), Operation.allCases)
  func everyFailingCallLeavesOneValueOrTheOther(
    _ fault: SystemFault, _ operation: Operation
  ) throws {
    try failEach(fault, operation)
  }

  @Test(arguments: [Operation.make, .replace, .copy])
  func aBlobsWriteThatFailsIsAnErrorAndTheOldValueStays(_ operation: Operation) throws {
    for (fault, said) in zip(Self.faults[3...4], ["error io", "error full"]) {
      #expect(try run(operation, fault.prefix(at: 1)) == [said])
      #expect(try state() == old && place.blobs.count == 2 && place.pending == [])
    }
  }

  @Test(.enabled(if: Soak.isOn), arguments: moreFaults, Operation.allCases)
  func everyFailingCallLeavesOneValueOrTheOtherSoak(
    _ fault: SystemFault, _ operation: Operation
  ) throws {
    try failEach(fault, operation)
  }
}
