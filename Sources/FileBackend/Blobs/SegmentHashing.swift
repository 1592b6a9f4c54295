internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Hashes sealed segments on another thread, while they are written and the next ones are sealed.
///
/// SHA-256 takes longer than sealing: on one thread, writing a long value would take half as long
/// again. A value that fits into one batch is hashed without another thread. For one thread at a
/// time.
final class SegmentHashing: @unchecked Sendable {
  /// How many batches there are: one is being sealed, one written, one hashed.
  private static let batches = 3

  // Blocks on `queue` use `digest` and `failure` one after another; the owner uses them after it
  // has waited for the last block. The owner alone uses the rest.
  private let digest: StreamDigest
  private var failure: CryptoError?
  private let size: Int
  private var ring: [PlainBuffer]
  /// The batch that the owner fills.
  private var current = 0
  /// How many batches may still be hashed on `queue`.
  private var running = 0
  private var queue: DispatchQueue?
  private let hashed = DispatchSemaphore(value: 0)

  /// Begins with no segment; a batch has `size` bytes.
  init(batch size: Int) throws(StorageError) {
    digest = try cryptography { () throws(CryptoError) in try StreamDigest() }
    self.size = size
    ring = [PlainBuffer(count: size, isSecret: false)]
  }

  /// The batch to fill with sealed segments.
  var batch: PlainBuffer { ring[current] }

  /// Hashes the first bytes of the batch, which must not change until ``next()``.
  ///
  /// - Parameters:
  ///   - count: how many bytes: whole sealed segments; the blob's last segment may be shorter.
  ///   - isLast: whether no batch follows.
  func hash(_ count: Int, isLast: Bool) {
    if isLast, running == 0 { return take(batch, count) }
    let queue = self.queue ?? DispatchQueue(label: "SecurePropertyStorage.FileBackend.hashing")
    self.queue = queue
    running += 1
    let lent = Lent(batch: batch)
    queue.async { [self] in
      take(lent.batch, count)
      hashed.signal()
    }
  }

  /// A batch that is only read until it was hashed.
  private struct Lent: @unchecked Sendable {
    // The owner writes to the batch again only after `hashed` was signalled for it.
    let batch: PlainBuffer
  }

  /// Moves on to a batch that is hashed already, or was not used before.
  func next() {
    if ring.count < Self.batches {
      ring.append(PlainBuffer(count: size, isSecret: false))
      current = ring.count - 1
    } else {
      // Batches are hashed in order, and this is the oldest one.
      current = (current + 1) % Self.batches
      wait()
    }
  }

  /// The hash of all bytes that were given.
  ///
  /// - Throws: `StorageError`: `io` for a failure of OpenSSL.
  func finish() throws(StorageError) -> [UInt8] {
    while running > 0 { wait() }
    return try cryptography { () throws(CryptoError) in
      if let failure { throw failure }
      return try digest.finish()
    }
  }

  private func wait() {
    hashed.wait()
    running -= 1
  }

  private func take(_ batch: PlainBuffer, _ count: Int) {
    guard failure == nil else { return }
    do throws(CryptoError) {
      for start in stride(from: 0, to: count, by: SegmentLayout.sealedSize) {
        _ = try batch.read(start..<min(start + SegmentLayout.sealedSize, count)) {
          (sealed) throws(CryptoError) in try digest.append(sealed)
        }
      }
    } catch {
      failure = error
    }
  }
}
