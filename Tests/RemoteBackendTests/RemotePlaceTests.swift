import CryptoCore
import Foundation
import RemoteBackend
import RemoteTesting
import StorageCore
import StorageTesting
import Testing

/// A place over an engine in memory that never fails.
@Suite struct RemotePlaceTests {
  private let cluster = MemoryCluster()

  private func storage(
    _ cluster: MemoryCluster, _ change: (inout RemotePlace.Options) -> Void = { _ in }
  ) -> (storage: DelegatedStorage, place: RemotePlace) {
    var options = RemotePlace.Options()
    options.follows = false
    change(&options)
    let place = RemotePlace(MemoryEngine(cluster), options)
    return (DelegatedStorage(place, keySource: .key(TestKey.one)), place)
  }

  @Test(arguments: DelegatePromise.all(of: RemotePlace.self))
  func itKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { RemotePlace(MemoryEngine(MemoryCluster())) }
  }

  @Test func aProcessReadsItsOwnWritesAndThoseItIsTold() throws {
    let (one, _) = storage(cluster)
    let (other, place) = storage(cluster)
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    try one.save("a", forKey: "k")
    #expect(try one.load(String.self, forKey: "k") == "a")
    #expect(try other.load(String.self, forKey: "k") == "a")
    try other.delete(forKey: "k")
    #expect(try one.load(String.self, forKey: "k") == "a", "nobody told it")
    try one.save("b", forKey: "k")
    #expect(try other.load(String.self, forKey: "k") == "b")
  }

  @Test func aPlaceFollowsAndComesBackAfterACut() async throws {
    let (one, _) = storage(cluster)
    let (other, _) = storage(cluster) { $0.follows = true }
    try one.save("a", forKey: "k")
    #expect(try other.load(String.self, forKey: "k") == "a")
    for (round, value) in ["b", "c", "d"].enumerated() {
      if round > 0 { cluster.cutWatches() }
      try one.save(value, forKey: "k")
      while try other.load(String.self, forKey: "k") != value {
        try await Task.sleep(for: .milliseconds(2))
      }
    }
  }

  @Test func memoryThatIsBehindNeverDecides() throws {
    let (one, _) = storage(cluster)
    let (other, _) = storage(cluster)
    try one.save(1, forKey: "n")
    #expect(try other.load(Int.self, forKey: "n") == 1)
    try one.save(5, forKey: "n")
    try other.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
    #expect(try other.load(Int.self, forKey: "n") == 6)
    try one.delete(forKey: "n")
    #expect(try other.saveIfAbsent(7, forKey: "n"))
    #expect(try !one.saveIfAbsent(8, forKey: "n"))
    #expect(try one.load(Int.self, forKey: "n") == 7)
  }

  @Test func rowsThatWereMovedOrChangedAreErrors() throws {
    let (one, place) = storage(cluster)
    for (key, value) in [("a", "1"), ("b", "2")] { try one.save(value, forKey: key) }
    let records = cluster.rows.filter {
      if case .record = $0.key { return true }
      return false
    }.map { ($0.key, $0.value) }
    try #require(records.count == 2)
    cluster.tamper([(records[0].0, records[1].1), (records[1].0, records[0].1)])
    try place.repair()
    for storage in [one, storage(cluster).storage] {
      for key in ["a", "b"] {
        #expect(code { _ = try storage.load(String.self, forKey: key) } == .damaged)
      }
    }
  }

  @Test(arguments: [nil, "2"])
  func anEngineThatWentBackOrIsAnotherIsAnError(_ history: String?) throws {
    let (one, place) = storage(cluster)
    try one.save("old", forKey: "k")
    let snapshot = cluster.snapshot()
    try one.save("new", forKey: "k")
    cluster.restore(snapshot, history: history)
    let error = #expect(throws: StorageError.self) { try place.repair() }
    #expect(error?.code == .damaged)
    #expect(throws: StorageError.self) { try one.load(String.self, forKey: "k") }
    #expect(throws: StorageError.self) { try one.save("x", forKey: "k") }
    // A program that starts now takes what is there.
    let (later, _) = storage(cluster)
    #expect(try later.load(String.self, forKey: "k") == "old")
  }

  @Test func aChangeThatTheWatchLostIsFoundByARepair() throws {
    let cluster = MemoryCluster(isPrompt: false)
    let (one, _) = storage(cluster)
    let (other, place) = storage(cluster)
    for key in ["kept", "gone"] { try one.save("1", forKey: key) }
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    #expect(try other.keys().count == 2)
    try one.delete(forKey: "gone")
    try one.save("2", forKey: "kept")
    cluster.deliver { _ in true }
    #expect(try other.load(String.self, forKey: "gone") == "1")
    try place.repair()
    #expect(try other.load(String.self, forKey: "gone") == nil)
    #expect(try other.load(String.self, forKey: "kept") == "2")
  }

  @Test func lanesOfProcessesThatAreGoneDoNotPileUp() throws {
    let (one, _) = storage(cluster)
    try one.save(1, forKey: "n")
    let old = { (rows: [RowKey: [UInt8]]) in
      rows.keys.count {
        if case .lane = $0 { return true }
        return false
      }
    }
    for number in 0..<600 {
      let id = LaneID(Array("lane \(1_000 + number)".utf8) + [UInt8](repeating: 0, count: 7))!
      cluster.tamper([(.lane(id), [0])])
    }
    #expect(old(cluster.rows) == 601)
    // Each that starts removes some, also the lane of the first, which has not been used since.
    for _ in 0..<3 { #expect(try storage(cluster).storage.load(Int.self, forKey: "n") == 1) }
    #expect(old(cluster.rows) <= 512)
    try one.save(2, forKey: "n")
    #expect(try storage(cluster).storage.load(Int.self, forKey: "n") == 2)
    let before = old(cluster.rows)
    _ = try storage(cluster).storage.load(Int.self, forKey: "n")
    #expect(old(cluster.rows) == before, "few lanes stay")
  }

  @Test func aReadOnlyPlaceWritesNothing() throws {
    try storage(cluster).storage.save("1", forKey: "k")
    let before = cluster.rows
    let (reader, _) = storage(cluster) { $0.access = .readOnly }
    #expect(try reader.load(String.self, forKey: "k") == "1")
    #expect(throws: StorageError.self) { try reader.save("2", forKey: "k") }
    #expect(throws: StorageError.self) { try reader.delete(forKey: "k") }
    #expect(cluster.rows == before)
  }
}

enum TestKey {
  static let one = SymmetricKey(data: Data(repeating: 7, count: 32))
}
