internal import CryptoCore
internal import Glibc
public import Synchronization

/// What a hub knows of one live value: what has happened to its record and was not looked at yet.
///
/// The hub keeps the node and not the value, so a notice, which comes under the delegate's lock, can
/// never be what releases a value.
@usableFromInline
final class LiveNode: Sendable {
  /// What a notice says.
  enum Notice: Sendable {
    /// The record may be another one: read the store.
    case look
    /// The record is this one now.
    case change(RecordChange)
    /// The store can't be opened.
    case failed(StorageError)
  }

  private struct State {
    var notice = Notice.look
    /// How many notices there were; the first is that nothing was read yet.
    var noticed: UInt64 = 1
    /// The notice that the value is up to date with.
    var settled: UInt64 = 0
  }

  let name: RecordName
  let key: LiveHub.Key
  /// The live value while there is one.
  ///
  /// Set once, before anybody else knows of the node.
  nonisolated(unsafe) weak var target: (any LiveTarget)?
  /// The name's hash in the hub's index; read and written under the hub's lock alone.
  nonisolated(unsafe) var hash: NameHash?
  /// Whether it waits for the hub's queue; read and written under the hub's lock alone.
  nonisolated(unsafe) var isDirty = false
  /// Whether a reader has to look closer: there is a notice, or the value could not be read.
  @usableFromInline let attention = Atomic<Bool>(true)
  private let state = Lock(State())
  /// The thread that writes the value and brings it up to date afterwards; 0 for none.
  private let writer = Atomic<UInt>(0)

  init(_ name: RecordName, _ key: LiveHub.Key) {
    self.name = name
    self.key = key
  }

  /// Takes a notice; the latest is the one that counts.
  func note(_ notice: Notice) {
    state.withLock { state in
      state.notice = notice
      state.noticed += 1
      attention.store(true, ordering: .releasing)
    }
  }

  /// Runs `body`, which writes the value; notices that come on this thread meanwhile wake nobody.
  ///
  /// The caller brings the value up to date afterwards, whatever comes of it.
  func whileWriting<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    // Of several threads at once one is spared the waking of another.
    let (isFirst, _) = writer.compareExchange(
      expected: 0, desired: Self.thread, ordering: .relaxed)
    defer { if isFirst { writer.store(0, ordering: .relaxed) } }
    return try body()
  }

  /// Whether this thread is the one that writes.
  var isWrittenHere: Bool { writer.load(ordering: .relaxed) == Self.thread }

  private static var thread: UInt { UInt(pthread_self()) }

  /// The number of the latest notice.
  var noticed: UInt64 { state.withLock { $0.noticed } }

  /// The latest notice, unless the value is up to date with the one numbered `goal`.
  func unsettled(upTo goal: UInt64) -> (notice: Notice, number: UInt64)? {
    state.withLock { $0.settled >= goal ? nil : ($0.notice, $0.noticed) }
  }

  /// Runs `publish` unless the value is up to date with notice `number` or a later one.
  ///
  /// `publish` replaces the value in memory, and returns whether it could, and whether readers can take
  /// it without looking closer.
  ///
  /// - Returns: false when `publish` could not.
  func settle(_ number: UInt64, _ publish: () -> (isDone: Bool, isClean: Bool)) -> Bool {
    state.withLock { state in
      guard state.settled < number else { return true }
      let (isDone, isClean) = publish()
      guard isDone else { return false }
      state.settled = number
      if state.noticed == number {
        // The record is sealed, and need not be kept.
        state.notice = .look
        if isClean { attention.store(false, ordering: .releasing) }
      }
      return true
    }
  }
}

/// A live value, whatever its type.
protocol LiveTarget: AnyObject, Sendable {
  /// Brings the value up to date, and tells its observers if it has changed.
  func settle()
}
