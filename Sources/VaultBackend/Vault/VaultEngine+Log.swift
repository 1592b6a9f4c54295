internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import Synchronization

/// The write-ahead log: copied into the file now and then, and emptied when it holds what must go.
extension VaultEngine {
  /// The log is copied into the file when it has this many frames of a page.
  private static let copyThreshold: UInt32 = 1000
  /// How long readers are waited for when the log is to be emptied.
  static let scrubPatience: Duration = .seconds(1)

  /// Copies the log into the file now and then; to be called by the queue's leader.
  func tidyUp(_ opened: OpenedVault) {
    guard case .index(let index) = opened.watch, index.state.frames >= Self.copyThreshold
    else { return }
    // Others write: whoever commits next tries again.
    opened.main.wait(until: .now)
    // What can't be copied now, for a reader or a full disk, is copied another time.
    do throws(StorageError) { try opened.log?.copy() } catch {}
  }

  /// Empties the log, which has pages as they were before this change; to be called by the queue's
  /// leader.
  func scrub() {
    residue.store(.own, ordering: .relaxed)
    emptyLog(waiting: Self.scrubPatience)
  }

  /// Empties the log, if it can; to be called by the queue's leader.
  func emptyLog(waiting patience: Duration) {
    guard let opened = gate.withLock({ $0 }), let log = opened.log else { return }
    let end = ContinuousClock.now + patience
    // Before, since what others leave meanwhile need not be gone with this.
    let known = residue.exchange(.none, ordering: .relaxed)
    var pause: useconds_t = 0
    while true {
      // In short goes, since other writers wait meanwhile.
      opened.main.wait(until: end, atMost: .milliseconds(20))
      do throws(StorageError) {
        if try log.empty(after: pause) { return }
      } catch {
        // The change is durable, so whatever this is, it is no error of the change. What that replaced
        // stays in the log until the next commit.
        guard error.code == .busy else {
          residue.store(.told, ordering: .relaxed)
          if known != .told { StorageDiagnostics.report(Self.unscrubbed(error)) }
          return
        }
      }
      guard ContinuousClock.now < end else { return residue.store(known, ordering: .relaxed) }
      usleep(1000)  // other writers' turn; there is no wait for the last reader to end
      pause = min(max(1000, pause * 2), 128_000)
    }
  }

  private static func unscrubbed(_ error: StorageError) -> StorageError {
    StorageError(
      error.code,
      "the vault's log could not be merged into its file, so old content, such as a replaced key slot, "
        + "may still be in the file or the log. Solve this problem, then compact the vault: "
        + error.message, key: nil, path: error.path, number: error.number)
  }
}
