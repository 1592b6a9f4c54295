import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A server whose disk is full.
@Suite(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
struct DiskTests {
  /// A small file system that nobody else sees, for as long as it is there.
  private final class SmallDisk {
    private let holder: Child
    let folder: String
    /// What runs a program that sees it.
    var prefix: [String] { ["nsenter", "-t", "\(holder.processIdentifier)", "-m", "--"] }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      holder = try Child(
        Machine.inMountNamespace + [
          "sh", "-c",
          "mount -t tmpfs -o size=40m,mode=0700 tmpfs $0 && chown postgres $0 && echo made && exec cat",
          folder,
        ])
      #expect(holder.nextLine() == "made")
    }

    func makeRoom() throws {
      _ = try Child.run(prefix + ["mount", "-o", "remount,size=200m", folder])
    }

    deinit {
      holder.release()
      _ = try? holder.lines(mayFail: true)
      try? FileManager.default.removeItem(atPath: folder)
    }
  }

  /// Writes until one fails.
  ///
  /// - Returns: how many were acknowledged, and the code of the error of the next.
  private func fill(_ storage: PostgresStorage) -> (count: Int, code: StorageError.Code?) {
    let value = String(repeating: "x", count: 1_000_000)
    for index in 0..<100 {
      let begin = ContinuousClock.now
      if let code = code({ try storage.save(value, forKey: "large \(index)") }) {
        #expect(ContinuousClock.now - begin < .seconds(20), "it ends by its deadline")
        return (index, code)
      }
    }
    return (100, nil)
  }

  @Test func whereTheTablesHaveNoRoomWritesAreFullAndReadsGoOn() throws {
    let disk = try SmallDisk()
    let cluster = try PostgresCluster(prefix: disk.prefix)
    try cluster.sql("CREATE TABLESPACE small LOCATION '\(disk.folder)'")
    try cluster.sql("ALTER TABLE securestore.rows SET TABLESPACE small")
    let storage = cluster.storage(deadline: .seconds(10))
    try storage.create()
    try storage.save("kept", forKey: "k")
    let (count, failure) = fill(storage)
    #expect(failure == .full)
    #expect(count > 10)
    let exact = cluster.storage(reading: .linearizable)
    for reader in [storage, exact, cluster.storage(deadline: .seconds(59))] {
      #expect(try reader.load(String.self, forKey: "k") == "kept")
      #expect(try reader.keys().count == count + 1)
    }
    try disk.makeRoom()
    try storage.save("after", forKey: "large \(count)")
    #expect(try exact.load(String.self, forKey: "large \(count)") == "after")
    for index in 0..<count {
      #expect(try exact.load(String.self, forKey: "large \(index)")?.count == 1_000_000)
    }
  }

  @Test func whereTheLogHasNoRoomTheServerIsAwayAndNothingAcknowledgedIsLost() throws {
    let disk = try SmallDisk()
    let cluster = try PostgresCluster(prefix: disk.prefix)
    let storage = cluster.storage(deadline: .seconds(5))
    try storage.create()
    try storage.save("kept", forKey: "k")
    cluster.kill(0)
    try cluster.moveLog(to: disk.folder)
    try cluster.start(0)
    let (count, failure) = fill(storage)
    // The server ends itself during the write, and so knows nothing of it.
    #expect(failure == .outcomeUnknown || failure == .unavailable, "\(failure as Any)")
    #expect(count > 10)
    #expect(try storage.load(String.self, forKey: "k") == "kept")
    try disk.makeRoom()
    cluster.kill(0)
    try cluster.start(0)
    try storage.save("after", forKey: "k")
    let exact = cluster.storage(reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "k") == "after")
    for index in 0..<count {
      #expect(try exact.load(String.self, forKey: "large \(index)")?.count == 1_000_000)
    }
  }
}
