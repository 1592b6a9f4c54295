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
    let reader = try #require(try await folder.async { try $0.reader(named: "name") })
    for try await chunk in reader { read += chunk }
    #expect(read == value)
    #expect(try await reader.async { try $0.read(100..<200) } == value[100..<200])
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

  @Test(arguments: Depth.cases(Work.allCases, day: 3))
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
        try await folder.async {
          try $0.write(contentsOf: source, named: "name", progress: progress)
        }
      case .chunks:
        let chunks = chunks(value, of: 100_000)
        try await folder.write(contentsOf: chunks, named: "name", progress: progress)
      case .copy:
        try await folder.async { _ = try $0.copy("large", to: "name", progress: progress) }
      case .backup:
        try await folder.async { _ = try $0.backup(to: copy, progress: progress) }
      case .restore:
        try await other.folder().async { _ = try $0.restore(from: copy, progress: progress) }
      case .rotate: try await folder.async { _ = try $0.rotate(progress: progress) }
      case .verify: try await folder.async { _ = try $0.verify(progress: progress) }
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
}
