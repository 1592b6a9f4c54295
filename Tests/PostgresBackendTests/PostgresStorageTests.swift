import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A storage over one real server.
struct PostgresStorageTests {
  @Test(arguments: DelegatePromise.all(of: RemoteDelegate.self))
  func itKeepsIts(_ promise: DelegatePromise) throws {
    let cluster = try SharedCluster.one()
    try promise.check {
      RemoteDelegate(PostgresConfiguration(cluster.connection(), store: "promise \(UUID())"))
    }
  }

  @Test func aStoreIsMadeOnceAndOnlyByCreate() throws {
    let cluster = try SharedCluster.one()
    let storage = cluster.storage("made")
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) { try storage.save("a", forKey: "k") }
      #expect(error?.code == .unavailable)
    }
    #expect(throws: StorageError.self) { try storage.open() }
    #expect(try cluster.sql("SELECT 1 FROM securestore.rows WHERE store = 'made'").isEmpty)
    try storage.create()
    try storage.save("a", forKey: "k")
    #expect(try storage.load(String.self, forKey: "k") == "a")
    let error = #expect(throws: StorageError.self) { try storage.create() }
    #expect(error?.code == .duplicate)
    #expect(storage.url == nil)
  }

  @Test func whatOneProgramWritesOthersSee() async throws {
    let cluster = try SharedCluster.one()
    let one = cluster.storage("seen")
    try one.create()
    let other = cluster.storage("seen", deadline: .seconds(59))
    try other.open(.mustExist)
    for value in 0..<20 {
      try one.save(value, forKey: "n")
      #expect(try other.load(Int.self, forKey: "m") == nil)
      while try other.load(Int.self, forKey: "n") != value {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    try one.delete(forKey: "n")
    while try other.load(Int.self, forKey: "n") != nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(try other.keys().isEmpty)
  }

  @Test func updatesOfManyThreadsCount() throws {
    let cluster = try SharedCluster.one()
    let storage = cluster.storage("count")
    try storage.create()
    let others = (0..<2).map { cluster.storage("count", deadline: .seconds(70 + $0)) }
    Threads.run(4) { index in
      for _ in 0..<50 {
        #expect(throws: Never.self) {
          try others[index % 2].update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
        }
      }
    }
    #expect(
      try cluster.storage("count", reading: .linearizable).load(Int.self, forKey: "n") == 200)
  }

  @Test func aLinearizableReadSeesWhatNoWatchHasTold() throws {
    let cluster = try SharedCluster.one()
    let one = cluster.storage("linear")
    try one.create()
    let other = cluster.storage("linear", deadline: .seconds(50), reading: .linearizable)
    for value in 0..<50 {
      try one.save(value, forKey: "n")
      #expect(try other.load(Int.self, forKey: "n") == value)
      #expect(try other.keys() == ["n"])
    }
  }
}
