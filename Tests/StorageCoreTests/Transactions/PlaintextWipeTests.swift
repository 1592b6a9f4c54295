import Foundation
import SingletonBackend
import StorageCore
import TestSupport
import Testing

/// What transactions and migrations keep in the clear is wiped when they end.
///
/// All of the writable memory is searched, in a process of its own.
@Suite struct PlaintextWipeTests {
  /// Bytes that are nowhere in one piece but in what is made of them.
  struct Marker {
    let left = (0..<200).map { _ in UInt8.random(in: 1...255) }
    let right = (0..<200).map { _ in UInt8.random(in: 0...255) }

    /// Lends the bytes, and wipes them.
    func lend(_ body: ([UInt8]) throws -> Void) rethrows {
      var bytes = zip(left, right).map { $0 ^ $1 }
      try body(bytes)
      for index in bytes.indices { bytes[index] = 0 }
    }

    /// How many copies of the last bytes there are; free(3) writes over the first.
    var copies: Int {
      ProcessMemory.addresses(of: left.suffix(64).map { $0 }, xor: right.suffix(64).map { $0 })
        .count
    }
  }

  @Test func whatATransactionKeepsIsGoneWhenItEnds() async {
    await #expect(processExitsWith: .success) {
      struct OwnError: Error {}
      for ending in 0..<3 {
        let marker = Marker()
        let storage = SingletonStorage()
        try storage.save(0, forKey: "read")
        var runs = 0
        _ = try? storage.transaction { transaction in
          runs += 1
          _ = try transaction.load(Int.self, forKey: "read")
          try marker.lend { try transaction.save($0, forKey: "k") }
          #expect(marker.copies >= 1, "the search works")
          if ending == 1 { throw OwnError() }
          if ending == 2, runs == 1 { try elsewhere { try storage.save(1, forKey: "read") } }
        }
        #expect(runs == (ending == 2 ? 2 : 1))
        #expect(marker.copies == 0, "ending \(ending)")
      }
    }
  }

  @Test func whatIsReadInATransactionIsGoneWhenItIsRead() async {
    await #expect(processExitsWith: .success) {
      let marker = Marker()
      let storage = SingletonStorage()
      try marker.lend { try storage.save($0, forKey: "k") }
      try storage.transaction { transaction in
        let isThere = try transaction.contains("k")
        // Opened, and of another type.
        #expect(throws: StorageError.self) { _ = try transaction.load(Int.self, forKey: "k") }
        #expect(isThere && marker.copies == 0)
      }
    }
  }

  @Test func whatAMigrationCopiesIsGoneWhenItIsDone() async {
    await #expect(processExitsWith: .success) {
      let marker = Marker()
      let (source, destination) = (SingletonStorage(), SingletonStorage())
      try marker.lend { try source.save($0, forKey: "k") }
      #expect(marker.copies == 0)
      #expect(try SecureStorage.migrate(from: source, to: destination).removed == 1)
      #expect(try destination.contains("k"))
      #expect(marker.copies == 0)
    }
  }
}
