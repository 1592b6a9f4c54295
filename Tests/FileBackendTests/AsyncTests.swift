import FileBackend
import Foundation
import TestSupport
import Testing

@Suite struct AsyncTests {
  private let place = TemporarySealedFolder()

  private func chunks(_ value: Data, of size: Int) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for start in stride(from: 0, to: value.count, by: size) {
        continuation.yield(value[start..<min(start + size, value.count)])
      }
      continuation.finish()
    }
  }

  @Test func aSequenceOfChunksIsWrittenAndReadAsOne() async throws {
    let folder = place.folder()
    let value = pattern(300_000)
    try await folder.write(contentsOf: chunks(value, of: 7_777), named: "name")
    var read = Data()
    let reader = try #require(try await folder.readerAsync(named: "name"))
    for try await chunk in reader { read += chunk }
    #expect(read == value)
    #expect(try await reader.readAsync(100..<200) == value[100..<200])
    #expect(place.pending == [])
  }

  @Test func aSequenceThatFailsLeavesTheOldValue() async throws {
    struct Stop: Error {}
    let folder = place.folder()
    try folder.write(Data([1]), named: "name")
    let stream = AsyncThrowingStream<Data, any Error> { continuation in
      continuation.yield(pattern(300_000))
      continuation.finish(throwing: Stop())
    }
    await #expect(throws: Stop.self) { try await folder.write(contentsOf: stream, named: "name") }
    #expect(try folder.read(named: "name") == Data([1]))
    #expect(place.blobs == [] && place.pending == [])
  }

  @Test func aCancelledTaskLeavesTheOldValue() async throws {
    let folder = place.folder()
    try folder.write(Data([1]), named: "name")
    try pattern(5_000_000).write(to: place.file("source"))
    let source = place.file("source")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await folder.writeAsync(contentsOf: source, named: "name")
    }
    await #expect(throws: StorageError.self) { try await task.value }
    let other = Task { [self] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await folder.write(contentsOf: chunks(pattern(100_000), of: 1000), named: "name")
    }
    do {
      try await other.value
      Issue.record("it was written")
    } catch {
      #expect((error as? StorageError)?.code == .cancelled)
    }
    let value = pattern(5_000_000)
    let whole = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await folder.writeAsync(value, named: "name")
    }
    await #expect(throws: StorageError.self) { try await whole.value }
    #expect(try folder.read(named: "name") == Data([1]))
    #expect(place.blobs == [] && place.pending == [])
  }

  /// Work of some megabytes that tells how far it is.
  enum Work: CaseIterable, Sendable {
    case file, chunks, copy, backup, restore, rotate, verify
  }

  /// Cancels a task at its first word, and gives how it ended.
  private func codeWhenCancelled(
    _ body: @escaping @Sendable (@escaping SealedFolder.AsyncProgress) async throws -> Void
  ) async -> StorageError.Code? {
    let (words, speaker) = AsyncStream<Int>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let isFirst = Lock(true)
    let task = Task {
      try await body { done, _ in
        let speaks = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        guard speaks else { return }
        speaker.yield(done)
        gate.wait()
      }
    }
    for await done in words {
      #expect(done > 0)
      break
    }
    task.cancel()
    gate.signal()
    do {
      try await task.value
      return nil
    } catch {
      return (error as? StorageError)?.code
    }
  }

  @Test(.timeLimit(.minutes(30)), arguments: Work.allCases)
  func aTaskThatIsCancelledOnTheWayEndsAndChangesNothing(_ work: Work) async throws {
    let folder = place.folder()
    let value = pattern(10_000_000)
    try folder.write(value, named: "large")
    try folder.write(Data([1]), named: "name")
    let source = place.file("source")
    try value.write(to: source)
    let copy = place.parent.appendingPathComponent("copy", isDirectory: true)
    if work == .restore { try folder.backup(to: copy) }
    let other = TemporarySealedFolder()
    let code = await codeWhenCancelled { [self] progress in
      switch work {
      case .file:
        try await folder.writeAsync(contentsOf: source, named: "name", progress: progress)
      case .chunks:
        let chunks = chunks(value, of: 100_000)
        try await folder.write(contentsOf: chunks, named: "name", progress: progress)
      case .copy: try await folder.copyAsync("large", to: "name", progress: progress)
      case .backup: try await folder.backupAsync(to: copy, progress: progress)
      case .restore: try await other.folder().restoreAsync(from: copy, progress: progress)
      case .rotate: _ = try await folder.rotateAsync(progress: progress)
      case .verify: _ = try await folder.verifyAsync(progress: progress)
      }
    }
    #expect(code == .cancelled)
    #expect(try folder.read(named: "large") == value && folder.read(named: "name") == Data([1]))
    #expect(place.blobs.count == 1 && place.pending.filter { $0 != "upkeep.lock" } == [])
    let isThere = FileManager.default.fileExists(atPath: copy.path)
    #expect(isThere == (work == .restore))
    #expect(!FileManager.default.fileExists(atPath: other.path + "/index.vault"))
    #expect(try folder.verify().isSound)
  }

  @Test func aSequenceOfChunksTellsHowFarItIs() async throws {
    let told = Lock<[Int]>([])
    try await place.folder().write(contentsOf: chunks(pattern(300_000), of: 100_000), named: "a") {
      done, total in
      #expect(total == nil)
      told.withLock { $0.append(done) }
    }
    #expect(told.withLock { $0 } == [100_000, 200_000, 300_000])
  }

  @Test func theUpkeepHasAsyncForms() async throws {
    let folder = place.folder()
    try await folder.writeAsync(pattern(50_000), named: "a")
    let copy = place.parent.appendingPathComponent("copy", isDirectory: true)
    try await folder.backupAsync(to: copy)
    #expect(try await folder.rotateAsync().resealedCount == 1)
    #expect(try await folder.reencryptAsync().resealedCount == 0)
    try await folder.compactAsync()
    try await folder.removeAsync("a")
    try await folder.restoreAsync(from: copy)
    let report = try await folder.verifyAsync()
    #expect(report.isSound && report.nameCount == 1)
    #expect(try await folder.inspectAsync() == [])
    #expect(try await folder.listingAsync().keys == ["a"])
    #expect(try await folder.repairAsync(accepting: report).removedNames == [])
  }

  @Test func theAsyncFormsDoWhatTheOthersDo() async throws {
    let folder = place.folder()
    try await folder.openAsync()
    try await folder.writeAsync(pattern(50_000), named: "a")
    #expect(try await folder.containsAsync("a"))
    #expect(try await folder.infoAsync(named: "a")?.size == 50_000)
    #expect(try await folder.renameAsync("a", to: "b"))
    #expect(try await folder.copyAsync("b", to: "c"))
    #expect(Set(try await folder.namesAsync()) == ["b", "c"])
    try await folder.updateAsync(named: "b") { $0?.append(1) }
    #expect(try await folder.readAsync(named: "b")?.count == 50_001)
    try await folder.transactionAsync { transaction in
      try transaction.remove("b")
      try transaction.remove("c")
    }
    try await folder.removeAsync("c")
    #expect(try await folder.namesAsync() == [])
    #expect(place.blobs == [])
  }
}
