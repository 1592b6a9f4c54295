internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import Synchronization

/// The write-ahead log: copied into the file now and then, and emptied when old content must be
/// wiped.
extension VaultEngine {
  /// The log is copied into the file when it has this many frames, of one page each.
  private static let copyThreshold: UInt32 = 1000
  /// How long to wait for readers before giving up on emptying the log.
  static let scrubPatience: Duration = .seconds(1)

  /// Copies the log into the file now and then; the queue's leader calls it.
  func tidyUp(_ opened: OpenedVault) {
    guard case .index(let index) = opened.watch, index.state.frames >= Self.copyThreshold
    else { return }
    // Does not wait for other writers: the next commit tries again.
    opened.main.wait(until: .now)
    // Frames that can't be copied now, because of a reader or a full disk, are copied later.
    do throws(StorageError) { try opened.log?.copy() } catch {}
  }

  /// Empties the log, which has pages from before this change; the queue's leader calls it.
  func scrub() {
    residue.note(.own)
    emptyLog(waiting: Self.scrubPatience)
  }

  /// Empties the log, if possible; the queue's leader calls it.
  func emptyLog(waiting patience: Duration) {
    guard let opened = gate.withLock({ $0 }), let log = opened.log else { return }
    let end = ContinuousClock.now + patience
    // Read first: this emptying need not cover what other processes leave meanwhile.
    let known = residue.take()
    var pause: useconds_t = 0
    while true {
      // In short tries, since other writers wait meanwhile.
      opened.main.wait(until: end, atMost: .milliseconds(20))
      do throws(StorageError) {
        if try log.empty(after: pause) { return }
      } catch {
        // The change is durable, so this error does not make it fail. The replaced content stays in
        // the log until the next commit.
        guard error.code == .busy else {
          residue.note(.reported)
          if known != .reported { StorageDiagnostics.report(Self.unscrubbed(error)) }
          return
        }
      }
      guard ContinuousClock.now < end else { return residue.note(known) }
      usleep(1000)  // lets other writers in; nothing signals the last reader's end
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
