internal import CryptoCore
internal import StorageCore

/// Makes commits, and settles those whose answer was lost.
struct RemoteWriter: Sendable {
  let engine: any RemoteEngine
  let lanes = LanePool()
  /// Waits before the next attempt of a number; a simulation does not wait.
  let pause: @Sendable (Int) -> Void

  /// What became of a commit.
  enum Outcome: Sendable {
    /// It was made, at this mark.
    case committed(Mark)
    /// A check failed, and nothing was done. Who reads the rows again reads the lane's row, too,
    /// and gives the lane back with ``RemoteWriter/giveBack(_:_:)``; nil for a commit without one.
    case refused(Lane?)
  }

  /// What is known of a commit whose answer was lost.
  private enum Settled {
    case made(Mark)
    case neverMade
    /// The lane's row is gone, or another wrote it, so it can't tell.
    case untold
    /// Somebody wrote in between; ask again.
    case unclear
  }

  /// Makes a commit, or nothing of it.
  ///
  /// A commit that was settled as never made is made again: that can't make it twice.
  ///
  /// - Throws: `StorageError`: `outcomeUnknown` only if the outcome can't be found out within the
  ///   deadline, `timedOut` if it was not made and never will be.
  func commit(_ commit: RemoteCommit, by deadline: Deadline) throws(StorageError) -> Outcome {
    var attempt = 0
    repeat {
      pause(attempt)
      var lane = try lanes.take(engine, by: deadline)
      try lane.takeTickets()
      var whole = commit
      whole.checks.append((lane.key, lane.version))
      whole.writes.append((lane.key, lane.ticket))
      do throws(StorageError) {
        guard let mark = try engine.commit(whole, by: deadline) else { return .refused(lane) }
        lane.version = mark
        lanes.give(lane)
        return .committed(mark)
      } catch {
        if error.code == .full {
          // It is over, but an engine says so of commits that it made, too.
          if let mark = try made(&lane, after: error, by: deadline) { return .committed(mark) }
          return try remove(commit, after: error, by: deadline)
        }
        guard error.code == .outcomeUnknown else {
          lanes.give(lane)  // nothing was done, so the row still has its version
          throw error
        }
        let mark = try settle(&lane, after: error, by: deadline)
        lanes.give(lane)
        if let mark { return .committed(mark) }
      }
      attempt += 1
    } while !deadline.isOver
    throw StorageError(
      .timedOut, "the write was not made, because the servers did not answer in time; try again",
      path: engine.title)
  }

  /// Makes a commit that an engine without room refused, if it only removes: without the lane's row,
  /// which needs room, too.
  ///
  /// - Throws: `failure` where it writes; `outcomeUnknown` when the answer is lost, since nothing else
  ///   tells what became of it.
  private func remove(
    _ commit: RemoteCommit, after failure: StorageError, by deadline: Deadline
  ) throws(StorageError) -> Outcome {
    guard !commit.writes.isEmpty, commit.writes.allSatisfy({ $0.value == nil }) else {
      throw failure
    }
    return try engine.commit(commit, by: deadline).map { .committed($0) } ?? .refused(nil)
  }

  /// Gives the lane of a refused commit back, if its row is still there.
  func giveBack(_ lane: Lane, _ row: Row) {
    guard row.value != nil else { return }
    var lane = lane
    lane.version = row.version
    lanes.give(lane)
  }

  /// Finds out whether the last commit of a lane was made, and makes sure that it never will be
  /// otherwise.
  ///
  /// - Returns: the mark of the commit; nil when it was not made.
  /// - Throws: `outcomeUnknown` when that can't be found out in time.
  private func settle(
    _ lane: inout Lane, after failure: StorageError, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    var attempt = 0
    repeat {
      pause(attempt)
      var settled = Settled.unclear
      // Whoever does not answer now may answer later.
      do throws(StorageError) { settled = try look(at: &lane, by: deadline) } catch {}
      switch settled {
      case .made(let mark): return mark
      case .neverMade: return nil
      case .untold:
        throw StorageError(
          .outcomeUnknown,
          "the answer to the write was lost, and the row that tells what became of it is gone or was "
            + "written by another, such as a copy of this machine; read the value back",
          path: engine.title)
      case .unclear: attempt += 1
      }
    } while !deadline.isOver
    throw StorageError(
      .outcomeUnknown,
      "the answer to the write was lost, and its servers can't be asked now: \(failure.message). Read the "
        + "value back later", path: engine.title, number: failure.number)
  }

  /// Whether the last commit of a lane was made, where no attempt of it is on its way any more.
  ///
  /// - Returns: the mark of the commit; nil when it was not made. The lane is given back.
  /// - Throws: `outcomeUnknown` when that can't be found out in time.
  private func made(
    _ lane: inout Lane, after failure: StorageError, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    do throws(StorageError) {
      let row = try engine.read([lane.key], by: deadline).rows[0]
      if row.value != nil, row.version >= lane.version,
        row.value == lane.ticket || row.version == lane.version
      {
        let isMade = row.value == lane.ticket
        lane.version = row.version
        lanes.give(lane)
        return isMade ? row.version : nil
      }
    } catch {}  // nobody can be asked now
    throw StorageError(
      .outcomeUnknown,
      "the write may have been made or not: \(failure.message). Read the value back later",
      path: engine.title, number: failure.number)
  }

  private func look(
    at lane: inout Lane, by deadline: Deadline
  ) throws(StorageError) -> Settled {
    // A row that is older than the lane's last commit is one of an engine that went back.
    let row = try engine.read([lane.key], by: deadline).rows[0]
    guard row.value != nil, row.version >= lane.version else { return .untold }
    if row.value == lane.ticket {
      lane.version = row.version
      return .made(row.version)
    }
    if row.value == lane.refusal {
      lane.version = row.version
      return .neverMade
    }
    guard row.version == lane.version else { return .untold }
    let refusal = RemoteCommit(
      checks: [(lane.key, row.version)], writes: [(lane.key, lane.refusal)])
    guard let mark = try engine.commit(refusal, by: deadline) else { return .unclear }
    lane.version = mark
    return .neverMade
  }
}
