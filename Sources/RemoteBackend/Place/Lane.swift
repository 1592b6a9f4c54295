internal import CryptoCore
internal import StorageCore

/// The name of a lane: 16 random bytes.
package struct LaneID: Hashable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]

  /// The id of 16 bytes; nil for another number.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// A new id.
  static func random() throws(StorageError) -> LaneID {
    let bytes = try cryptography { () throws(CryptoError) in try SecureRandom.publicBytes(count: 16)
    }
    return LaneID(bytes)!
  }
}

/// A row of one writer, by which it finds out what became of a commit whose answer was lost.
///
/// Each commit of the writer checks the row's version and puts its own number there. A lost answer
/// is settled by reading the row. Is the number there, the commit was made. Is it not, another
/// number is put there: a commit that is still on its way then fails its check, so it will never be
/// made.
///
/// A lane that somebody removes costs its writer one refused commit, and lets no late one in.
struct Lane: Sendable {
  let id: LaneID
  /// The version of the row; the row exists.
  var version: Mark
  /// The number of the last commit that was tried.
  var number: UInt64

  var key: RowKey { .lane(id) }

  /// The row's value.
  var value: [UInt8] { Self.value(number) }

  static func value(_ number: UInt64) -> [UInt8] {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe [UInt8]($0) }
  }
}

/// The lanes of one place.
///
/// Each commit in flight has one to itself.
final class LanePool: Sendable {
  private let free = Lock<[Lane]>([])
  private let last = Lock<Lane?>(nil)

  /// The lane of the latest commit; nil before the first.
  var latest: Lane? { last.withLock { $0 } }

  /// A lane for one commit; makes one when none is free.
  ///
  /// - Throws: `StorageError` when none can be made; nothing was then written but perhaps a lane
  ///   that nobody uses.
  func take(_ engine: any RemoteEngine, by deadline: Deadline) throws(StorageError) -> Lane {
    if let lane = free.withLock({ $0.popLast() }) { return lane }
    repeat {
      let id = try LaneID.random()
      let new = RemoteCommit(checks: [(.lane(id), 0)], writes: [(.lane(id), Lane.value(0))])
      do throws(StorageError) {
        guard let mark = try engine.commit(new, by: deadline) else {
          throw StorageError(.io, "a row with a new random name exists already", path: engine.title)
        }
        return Lane(id: id, version: mark, number: 0)
      } catch {
        // This lane may come to be. Nobody will use it.
        guard error.code == .outcomeUnknown else { throw error }
      }
    } while !deadline.isOver
    throw StorageError(
      .timedOut, "nothing was written, because the servers did not answer in time; try again",
      path: engine.title)
  }

  /// Gives a lane back, whose row has this version.
  func give(_ lane: Lane) {
    free.withLock { $0.append(lane) }
    last.withLock { last in
      if lane.version > last?.version ?? 0 { last = lane }
    }
  }
}
