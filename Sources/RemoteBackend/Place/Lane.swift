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
/// Each commit of the writer checks the row's version and puts a random ticket there. A lost answer
/// is settled by reading the row. Is the ticket there, the commit was made. Is the row as it was, a
/// second ticket is put there: a commit that is still on its way then fails its check, so it will
/// never be made. Anything else was written by another, such as a copy of this virtual machine, and
/// tells nothing.
///
/// A lane that somebody removes costs its writer one refused commit, and lets no late one in.
struct Lane: Sendable {
  let id: LaneID
  /// The version of the row, as this writer left it or has read it since; the row exists.
  var version: Mark
  /// What the last commit puts into the row; empty before the first.
  private(set) var ticket: [UInt8] = []
  /// What makes sure that the last commit will never be made; empty before the first.
  private(set) var refusal: [UInt8] = []

  /// A lane without a commit so far.
  init(_ id: LaneID, version: Mark) { (self.id, self.version) = (id, version) }

  var key: RowKey { .lane(id) }

  /// Prepares the next commit.
  mutating func takeTickets() throws(StorageError) {
    (ticket, refusal) = (try Self.newTicket(), try Self.newTicket())
  }

  /// 16 random bytes; copies of a machine don't draw the same ones.
  fileprivate static func newTicket() throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in try SecureRandom.publicBytes(count: 16) }
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
      let new = RemoteCommit(checks: [(.lane(id), 0)], writes: [(.lane(id), try Lane.newTicket())])
      do throws(StorageError) {
        guard let mark = try engine.commit(new, by: deadline) else {
          throw StorageError(.io, "a row with a new random name exists already", path: engine.title)
        }
        return Lane(id, version: mark)
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
