import CryptoCore
import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// What a process that reads all the time sees of others' changes.
///
/// Such a reader looks at the file once in 25 microseconds, and goes by that in between.
@Suite struct CoherenceTests {
  private let folder = TemporaryFolder()

  /// Longer than a look at the file counts.
  private func passTrust() { usleep(100) }

  // MARK: - Programs that know nothing of us

  /// What another program does to the suite's file.
  enum Foreign: CaseIterable {
    case replaces, removes, truncates, writesInPlace, replacesALinkedFile, exchanges, movesAway
    case puts
  }

  /// The bytes of a suite with a record under the first name.
  private static func bytes(_ record: [UInt8]) throws -> [UInt8] {
    let folder = TemporaryFolder()
    try folder.delegate().set(record, for: name(1))
    return try #require(folder.bytes)
  }

  private func make(_ bytes: [UInt8], at path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test(arguments: Foreign.allCases)
  func whatAnotherProgramDidToTheFileIsSeenAtOnce(_ foreign: Foreign) throws {
    let delegate = folder.delegate()
    let other = folder.path + "/other"
    let (before, after) = try (Self.bytes([1]), Self.bytes([2, 2]))
    for round in 0..<50 {
      if foreign == .puts { _ = unsafe unlink(folder.file) } else { try folder.put(before) }
      let isThere = foreign != .puts
      try make(after, at: other)
      for _ in 0..<3 { #expect(try delegate.record(for: name(1)) == (isThere ? [1] : nil)) }
      let expected = try change(foreign, to: after, by: other)
      passTrust()
      let found: Result<[UInt8]?, any Error> = Result { try delegate.record(for: name(1)) }
      switch expected {
      case .success(let record): #expect(try found.get() == record, "round \(round)")
      case .failure(let code): #expect(Self.code(of: found) == code, "round \(round)")
      }
    }
  }

  /// RENAME_EXCHANGE of renameat2(2), which the headers show only to GNU sources.
  private static let exchange: UInt32 = 2
  private static let renameat2 = unsafe unsafeBitCast(
    dlsym(nil, "renameat2"),
    to: (@convention(c) (
      Int32, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, UInt32
    ) -> Int32).self)

  private enum Expected {
    case success([UInt8]?)
    case failure(StorageError.Code)
  }

  private static func code(of result: Result<[UInt8]?, any Error>) -> StorageError.Code? {
    if case .failure(let error as StorageError) = result { return error.code }
    return nil
  }

  /// Makes the change, and says what is to be read then.
  private func change(
    _ foreign: Foreign, to bytes: [UInt8], by other: String
  ) throws -> Expected {
    switch foreign {
    case .replaces, .puts:
      #expect(unsafe rename(other, folder.file) == 0)
    case .removes:
      #expect(unsafe unlink(folder.file) == 0)
      return .success(nil)
    case .truncates:
      #expect(unsafe truncate(folder.file, 0) == 0)
      return .failure(.damaged)
    case .writesInPlace:
      try make(bytes, at: folder.file)
    case .replacesALinkedFile:
      let kept = folder.path + "/kept"
      _ = unsafe unlink(kept)
      #expect(unsafe link(folder.file, kept) == 0)
      #expect(unsafe rename(other, folder.file) == 0)
    case .exchanges:
      #expect(unsafe Self.renameat2(AT_FDCWD, other, AT_FDCWD, folder.file, Self.exchange) == 0)
    case .movesAway:
      #expect(unsafe rename(folder.file, other) == 0)
      return .success(nil)
    }
    return .success([2, 2])
  }

  @Test(arguments: ["", "/above"])
  func aReaderThatNeverPausesSeesThatAFolderOnTheWayWasMoved(_ above: String) throws {
    let place = folder.path + above + "/config"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    _ = unsafe chmod(folder.path + above, 0o700)
    _ = unsafe chmod(place, 0o700)
    let delegate = DefaultsDelegate(folder: place, suiteName: "suite")
    let moved = above.isEmpty ? place : folder.path + above
    for _ in 0..<10 {
      try delegate.set([1], for: name(1))
      #expect(try delegate.record(for: name(1)) == [1])
      #expect(unsafe rename(moved, moved + ".old") == 0)
      #expect(try reads(nil, of: delegate))
      // And back: what is there is what was there.
      #expect(unsafe rename(moved + ".old", moved) == 0)
      #expect(try reads([1], of: delegate))
    }
  }

  /// Whether a record is read in the end, by somebody who reads without a pause.
  private func reads(_ record: [UInt8]?, of delegate: DefaultsDelegate) throws -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while try delegate.record(for: name(1)) != record {
      if ContinuousClock.now > end { return false }
    }
    return true
  }

  // MARK: - Programs that share the suite

  /// Reads a record without a pause, in a thread, and remembers where it went back.
  private final class Reading: Sendable {
    private let state = Lock((last: -1, steps: 0, wentBack: [String](), isDone: false))
    private let isOver = DispatchSemaphore(value: 0)

    init(_ delegate: DefaultsDelegate) {
      Thread.detachNewThread { [self] in
        while !state.withLock({ $0.isDone }) {
          let found = (try? delegate.record(for: name(0))).flatMap { $0 }
          guard let found else { continue }
          state.withLock { state in
            let now = index(of: found)
            if now < state.last { state.wentBack.append("\(state.last) to \(now)") }
            if now > state.last { state.steps += 1 }
            state.last = now
          }
        }
        isOver.signal()
      }
    }

    /// Ends it.
    func end() -> (steps: Int, wentBack: [String]) {
      state.withLock { $0.isDone = true }
      isOver.wait()
      return state.withLock { ($0.steps, $0.wentBack) }
    }
  }

  /// Reads what a writing process says that it has written, while a thread reads without a pause.
  ///
  /// - Returns: how often the thread saw another value.
  private func follow(
    _ child: Child, _ count: Int, with delegate: DefaultsDelegate
  ) throws -> Int {
    let reading = Reading(delegate)
    defer { child.kill() }
    #expect(child.nextLine() == "ready")
    for _ in 0..<count {
      let written = try #require(child.nextLine().flatMap { Int($0) })
      let found = try #require(try delegate.record(for: name(written % 40)))
      #expect(index(of: found) >= written)
    }
    let (steps, wentBack) = reading.end()
    #expect(wentBack.isEmpty)
    return steps
  }

  @Test func whatAnotherProcessWasToldIsWrittenIsReadByOneThatReadsAllTheTime() throws {
    let delegate = folder.delegate()
    try delegate.set(record(0), for: name(0))
    let child = try helper.start(["write-on", folder.path, "0"])
    let steps = try follow(child, 1_000, with: delegate)
    #expect(steps > 5, "the reader saw too little for the test to mean much")
  }

  /// A delegate that goes by a look for so long that it shows when somebody does not wait for that.
  private func trusting(_ trust: Int64) -> DefaultsDelegate {
    DefaultsDelegate(folder: folder.path, suiteName: "suite", trust: trust)
  }

  @Test func aWriteReturnsOnlyWhenEveryReaderSeesIt() throws {
    let trust: Int64 = 50_000_000
    let delegate = trusting(trust)
    try delegate.set(record(0), for: name(0))
    let child = try helper.start(["write-on", folder.path, "0", "\(trust)"])
    _ = try follow(child, 20, with: delegate)
  }

  /// The writer is a program that does not wait, so the first reader has to.
  @Test(arguments: [true, false])
  func whatOneReaderShowsEveryReaderSees(_ isRemoved: Bool) throws {
    let trust: Int64 = 300_000_000
    let other = folder.path + "/other"
    try make(try Self.bytes([2]), at: other)
    try folder.put(try Self.bytes([1]))
    let delegate = trusting(trust)
    for _ in 0..<2 { #expect(try delegate.record(for: name(1)) == [1]) }
    let result =
      isRemoved ? unsafe unlink(folder.file) : unsafe rename(other, folder.file)
    #expect(result == 0)
    let shown = try helper.run("get", folder.path, "1", "\(trust)")
    #expect(shown == [isRemoved ? "nil" : "2"])
    #expect(try delegate.record(for: name(1)) == (isRemoved ? nil : [2]))
  }

  @Test(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
  func aReaderAgreesWithTheFileWhereverTheWriterWasKilled() throws {
    let delegate = folder.delegate()
    try delegate.set(record(0), for: name(0))
    let reading = Reading(delegate)
    let paths = [folder.path] + ["", ".new", ".lock"].map { folder.file + $0 }
    let fault = SystemFault.kill(
      before: "openat,write,fsync,rename,renameat,renameat2,fcntl,close")
    var value = 0
    let (kills, _) = try fault.each(of: paths) { prefix in
      value += 1
      return try helper.run("set", folder.path, "0", "\(value)", prefix: prefix)
    } check: { run in
      let found = try delegate.record(for: name(0))
      #expect(found == (try SuiteFileReading.record(name(0), in: folder.file)), "\(run)")
      if run.isDone { #expect(found == record(value)) }
    }
    #expect((Depth.count(8, day: 1)..<100).contains(kills), "\(kills) steps")
    #expect(reading.end().wentBack.isEmpty)
  }
}
