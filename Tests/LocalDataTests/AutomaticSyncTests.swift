import Foundation
import LocalData
import Testing

/// A shared store that fails, or hangs, for as long as it is told to.
private final class RestlessTransport: SyncTransport {
  enum Mood: Sendable { case works, fails, hangs }
  let id = "restless"
  let inner = MemorySyncTransport()
  private let mood: Lock<Mood>

  init(_ mood: Mood) { self.mood = Lock(mood) }
  func become(_ new: Mood) { mood.withLock { $0 = new } }

  private func pass() async throws {
    struct Secret: Error, CustomStringConvertible { let description = "hunter2" }
    switch mood.withLock({ $0 }) {
    case .works: return
    case .fails: throw Secret()
    case .hangs: try await Task.sleep(for: .seconds(3_600))
    }
  }

  func read(_ name: String) async throws -> Data? {
    try await pass()
    return inner.read(name)
  }

  func replace(_ name: String, _ old: Data?, with new: Data) async throws -> Bool {
    try await pass()
    return inner.replace(name, old, with: new)
  }
}

@Suite struct AutomaticSyncTests {
  private let folder = TestFolder()
  private let shared = SymmetricKey(data: Data(repeating: 3, count: 32))

  private struct Keys {
    let note = StoredKey<String>(
      "note", in: .userDefaults, owner: "Tests", description: "A synced value.",
      syncPolicy: .automaticSmall)
  }
  private let key = Keys().note

  /// The events of a router that is connected.
  private func connect(
    _ router: StorageRouter, _ transport: any SyncTransport, deadline: Duration = .seconds(30)
  ) throws -> AsyncStream<SyncEvent>.AsyncIterator {
    let (events, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
    try router.connect(
      transport, key: shared, deadline: deadline, retryAfter: .milliseconds(20)
    ) { continuation.yield($0) }
    return events.makeAsyncIterator()
  }

  @Test func aSmallValueIsSentWithItsWrite() async throws {
    let router = folder.router()
    let transport = MemorySyncTransport()
    var events = try connect(router, transport)
    try await router.set("1", for: key)
    #expect(await events.next() == .agreed(key: "userDefaults/note", .sent))
    let other = TestFolder()
    let two = other.router()
    try two.connect(transport, key: shared)
    #expect(try await two.sync(key).kind == .received)
    #expect(try await two.get(key) == "1")
    // What was received is compared once more in the background, where the test's folder must still
    // be there.
    while !two.pendingSyncs.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func aLargeValueIsToldAndNotSent() async throws {
    let router = folder.router()
    await router.updateSyncConfiguration(SyncConfiguration(maxAutoSyncSize: 10))
    let transport = MemorySyncTransport()
    var events = try connect(router, transport)
    try await router.set(String(repeating: "x", count: 20), for: key)
    #expect(
      await events.next() == .tooLarge(key: "userDefaults/note", bytes: 22, limit: 10))
    #expect(transport.names.isEmpty)
    #expect(try await router.sync(key).kind == .sent)
  }

  @Test func aFailedSendIsToldAndTriedAgain() async throws {
    let router = folder.router()
    let transport = RestlessTransport(.fails)
    var events = try connect(router, transport)
    try await router.set("1", for: key)
    for _ in 0..<2 {
      guard case .failed(_, let error, let wait) = await events.next() else {
        Issue.record("no failure was told")
        return
      }
      #expect(error.code == .unavailable && wait != nil && error.key == "note")
      #expect(!"\(error)".contains("hunter2"))
    }
    #expect(router.pendingSyncs == ["userDefaults/note"])
    transport.become(.works)
    while let event = await events.next() {
      if event == .agreed(key: "userDefaults/note", .sent) { break }
    }
    #expect(transport.inner.names == ["localdata:userDefaults/note", "store:localdata"])
  }

  @Test func aHungStoreDelaysNoWrite() async throws {
    let router = folder.router()
    _ = try connect(router, RestlessTransport(.hangs), deadline: .seconds(600))
    let start = ContinuousClock.now
    for index in 0..<20 { try await router.set("\(index)", for: key) }
    #expect(start.duration(to: .now) < .seconds(300))
  }

  @Test func aHungStoreIsTimedOut() async throws {
    let router = folder.router()
    var events = try connect(router, RestlessTransport(.hangs), deadline: .milliseconds(100))
    try await router.set("1", for: key)
    guard case .failed(_, let error, _) = await events.next() else {
      Issue.record("no failure was told")
      return
    }
    #expect(error.code == .timedOut)
    router.disconnect()
    #expect(router.pendingSyncs.isEmpty)
  }

  @Test func whatAnEarlierProcessCouldNotSendIsSentByTheNext() async throws {
    try await folder.router().set("1", for: key)
    let router = folder.router()
    try router.registerKeys(Keys())
    var events = try connect(router, MemorySyncTransport())
    #expect(await events.next() == .agreed(key: "userDefaults/note", .sent))
  }
}
