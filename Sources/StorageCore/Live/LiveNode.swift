internal import CryptoCore
internal import Glibc
public import Synchronization

/// What a hub knows of one live value: the changes of its record that were not handled yet.
///
/// The hub holds the node and not the value. A notice arrives under the delegate's lock, and so can
/// never release the last reference to a value.
@usableFromInline
final class LiveNode: Sendable {
  /// The content of a notice.
  enum Notice: Sendable {
    /// The record may have changed: read the store.
    case look
    /// The record is now this one.
    case change(RecordChange)
    /// The store can't be opened.
    case failed(StorageError)
  }

  private struct State {
    var notice = Notice.look
    /// Whether a record was stored since the value was last brought up to date.
    var hasNewRecord = false
    /// The number of notices.
    ///
    /// It starts at 1, because nothing was read yet.
    var noticed: UInt64 = 1
    /// The number of the notice that the value is up to date with.
    var published: UInt64 = 0
  }

  let name: RecordName
  let key: LiveHub.Key
  /// The live value, while it exists.
  ///
  /// Set once, before other threads know the node.
  nonisolated(unsafe) weak var target: (any LiveTarget)?
  /// The name's hash in the hub's index.
  ///
  /// Read and written only under the hub's lock.
  nonisolated(unsafe) var hash: NameHash?
  /// Whether the node waits for the hub's queue.
  ///
  /// Read and written only under the hub's lock.
  nonisolated(unsafe) var isDirty = false
  /// Whether a reader must take the slow path: a notice is waiting, or the value could not be read.
  @usableFromInline let attention = Atomic<Bool>(true)
  private let state = Lock(State())
  /// The thread that is writing the value and will bring it up to date; 0 for none.
  private let writer = Atomic<UInt>(0)

  init(_ name: RecordName, _ key: LiveHub.Key) {
    self.name = name
    self.key = key
  }

  /// Records a notice; it replaces an earlier one that was not handled yet.
  ///
  /// - Parameters:
  ///   - notice: the notice.
  ///   - isUrgent: whether the next reader handles the notice, if the queue has not.
  func note(_ notice: Notice, isUrgent: Bool = true) {
    state.withLock { state in
      state.notice = notice
      if case .change = notice { state.hasNewRecord = true }
      state.noticed += 1
      if isUrgent { attention.store(true, ordering: .releasing) }
    }
  }

  /// Runs `body`, which writes the value; notices on this thread meanwhile do not wake the hub's
  /// queue.
  ///
  /// The caller then brings the value up to date, whether `body` succeeds or not.
  func whileWriting<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    // If several threads write at once, only the first of them avoids waking the queue.
    let (isFirst, _) = writer.compareExchange(
      expected: 0, desired: Self.thread, ordering: .relaxed)
    defer { if isFirst { writer.store(0, ordering: .relaxed) } }
    return try body()
  }

  /// Whether the current thread is the writer.
  var isWrittenHere: Bool { writer.load(ordering: .relaxed) == Self.thread }

  private static var thread: UInt { UInt(pthread_self()) }

  /// The number of the latest notice.
  var noticed: UInt64 { state.withLock { $0.noticed } }

  /// The latest notice; nil when the value is up to date with the notice numbered `goal`.
  func unpublished(upTo goal: UInt64) -> (notice: Notice, number: UInt64)? {
    state.withLock { $0.published >= goal ? nil : ($0.notice, $0.noticed) }
  }

  /// Whether a record was stored since the value was last brought up to date.
  var hasNewRecord: Bool { state.withLock { $0.hasNewRecord } }

  /// Runs `remember` and makes each reader take the slow path until ``clean(ifSo:)``.
  func taint(_ remember: () -> Void) {
    state.withLock { _ in
      remember()
      attention.store(true, ordering: .releasing)
    }
  }

  /// Lets readers take the value without the slow path again, if `isClean` says so.
  func clean(ifSo isClean: () -> Bool) {
    state.withLock { state in
      guard state.published == state.noticed, isClean() else { return }
      attention.store(false, ordering: .releasing)
    }
  }

  /// Runs `publish` unless the value is up to date with notice `number` or a later one.
  ///
  /// `publish` replaces the value in memory. It returns whether it succeeded (`isDone`), and
  /// whether readers can take the value without the slow path (`isClean`).
  ///
  /// - Returns: false when `publish` did not succeed.
  func publish(_ number: UInt64, _ publish: () -> (isDone: Bool, isClean: Bool)) -> Bool {
    state.withLock { state in
      guard state.published < number else { return true }
      let (isDone, isClean) = publish()
      guard isDone else { return false }
      state.published = number
      if state.noticed == number {
        // The record is sealed and is not needed any more.
        state.notice = .look
        state.hasNewRecord = false
        if isClean { attention.store(false, ordering: .releasing) }
      }
      return true
    }
  }
}

/// A live value of any type.
protocol LiveTarget: AnyObject, Sendable {
  /// Brings the value up to date, and notifies its observers if it changed.
  func catchUp()
}
