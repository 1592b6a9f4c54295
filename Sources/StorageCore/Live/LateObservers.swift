/// The observers of old values that must be notified, or notified again.
///
/// An observer is identified by the key path of the generation that it read. It keeps that path
/// until it is notified or gives up. A path with no other reference therefore needs no more
/// notices.
@safe
// Unchecked, because key paths are not Sendable. No key path is ever changed.
struct LateObservers<Value: Sendable & Equatable>: @unchecked Sendable {
  typealias Path = LiveSnapshot<Value>.Path

  static var shortestPause: Int { 20 }
  static var longestPause: Int { 1000 }

  /// How many notices one thread sends for other threads in one turn, at most.
  ///
  /// Other threads may change the value faster than one thread can notify.
  private static var mostInTurn: Int { 16 }

  /// Whether a thread is notifying, how many paths it has handled, and which paths come next.
  private var isTelling = false
  private var turns = 0
  private var waiting: [Path] = []

  /// Paths of old values that some observer may still hold.
  private var old: [Path] = []
  private var limit = 64
  /// The current pause in milliseconds, and its number.
  private(set) var pause = 0
  private(set) var round = 0

  // MARK: - Telling

  /// Starts a notice for a path, or queues it for the thread that is notifying.
  ///
  /// When many paths are queued, the path waits for the next pause instead.
  ///
  /// - Returns: true when no thread is notifying, so that the caller must notify.
  mutating func begin(_ path: Path) -> Bool {
    guard isTelling else {
      (isTelling, turns) = (true, 0)
      return true
    }
    if waiting.count < Self.mostInTurn { waiting.append(path) }
    return false
  }

  mutating func next() -> Path? {
    turns += 1
    if turns == Self.mostInTurn { waiting = [] }
    isTelling = !waiting.isEmpty
    return waiting.popLast()
  }

  // MARK: - Telling again

  /// Adds the path of a value that was replaced.
  ///
  /// - Returns: the number of a new shortest pause, or nil if one is already running.
  mutating func add(_ path: Path) -> Int? {
    old.append(path)
    if old.count > limit {
      drop()
      limit = max(64, 2 * old.count)
    }
    guard pause != Self.shortestPause else { return nil }
    pause = Self.shortestPause
    round += 1
    return round
  }

  /// The paths to notify at the end of a pause; empty when a newer pause has begun.
  ///
  /// The next pause, if any, is twice as long.
  mutating func take(_ round: Int) -> [Path] {
    guard round == self.round else { return [] }
    drop()
    pause = old.isEmpty ? 0 : min(2 * pause, Self.longestPause)
    return old
  }

  /// Drops the paths that nobody else references.
  private mutating func drop() {
    for index in old.indices.reversed() where isKnownUniquelyReferenced(&old[index]) {
      old.swapAt(index, old.count - 1)
      old.removeLast()
    }
  }
}
