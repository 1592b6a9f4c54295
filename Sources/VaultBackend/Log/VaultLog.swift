internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The write-ahead log: copied into the file now and then, and emptied when old content must be
/// wiped.
///
/// The leader of the queue of writers uses it, after its commit.
final class VaultLog: Sendable {
  /// The log is copied into the file when it has this many frames, of one page each.
  private static let copyThreshold: UInt32 = 1000
  /// How long to wait for readers before giving up on emptying the log.
  private static let scrubPatience: Duration = .seconds(1)

  private let gate: VaultGate
  private let residue = LogResidue()

  init(_ gate: VaultGate) { self.gate = gate }

  /// Notes that the log may still have content that another process's change was to remove.
  func noteOthersResidue() { residue.noteOthers() }

  /// Tidies up after a commit.
  ///
  /// - Parameters:
  ///   - opened: the file that was written to.
  ///   - isToBeScrubbed: whether the log contains content that must be wiped.
  func tend(_ opened: OpenedVault, isToBeScrubbed: Bool) {
    if isToBeScrubbed {
      scrub()
    } else if residue.isAny {
      // A reader may take long, so each commit only tries to empty the log, without waiting.
      empty(waiting: .zero)
    } else {
      copyNowAndThen(opened)
    }
  }

  private func copyNowAndThen(_ opened: OpenedVault) {
    guard case .index(let index) = opened.watch, index.state.frames >= Self.copyThreshold
    else { return }
    copy(of: opened)
  }

  /// Copies the log into the file as far as there is room, so that the next commit uses its space
  /// again.
  func copy() {
    if let opened = gate.current { copy(of: opened) }
  }

  private func copy(of opened: OpenedVault) {
    // Does not wait for other writers: the next commit tries again.
    opened.main.wait(until: .now)
    // Frames that can't be copied now, because of a reader or a full disk, are copied later.
    do throws(StorageError) { try opened.log?.copy() } catch {}
  }

  /// Empties the log, which has pages from before this change.
  func scrub() {
    residue.note(.own)
    empty(waiting: Self.scrubPatience)
  }

  /// Empties the log, if possible.
  private func empty(waiting patience: Duration) {
    guard let opened = gate.current, let log = opened.log else { return }
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
