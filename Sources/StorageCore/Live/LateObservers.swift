/// Which observers of old values are to be told, or told again.
///
/// Observers are known by the key path of the generation that they have read. Who reads it keeps it, until
/// the observer is told or given up: so a path that nobody else has needs no telling any more.
@safe
// Unchecked, since key paths are not Sendable: none is ever changed.
struct LateObservers<Value: Sendable & Equatable>: @unchecked Sendable {
  typealias Path = LiveSnapshot<Value>.Path

  static var shortestPause: Int { 20 }
  static var longestPause: Int { 1000 }

  /// What a thread tells for others, at most: they may change the value faster than it tells.
  private static var mostInTurn: Int { 16 }

  /// Whether a thread is telling, how many paths it told, and what it is to tell next.
  private var isTelling = false
  private var turns = 0
  private var waiting: [Path] = []

  /// Those of old values that somebody may have.
  private var old: [Path] = []
  private var limit = 64
  /// The pause in milliseconds that goes on, and which one it is.
  private(set) var pause = 0
  private(set) var round = 0

  // MARK: - Telling

  /// Where many wait, a path is left to the next pause.
  ///
  /// - Returns: whether nobody is telling, so that the caller is to.
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
  /// - Returns: the round of the shortest pause, if that is to begin.
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

  /// What is to be told at the end of the pause of a round; nothing when another one has begun.
  ///
  /// The next pause is twice as long, if there is one.
  mutating func take(_ round: Int) -> [Path] {
    guard round == self.round else { return [] }
    drop()
    pause = old.isEmpty ? 0 : min(2 * pause, Self.longestPause)
    return old
  }

  /// Drops what nobody else has.
  private mutating func drop() {
    for index in old.indices.reversed() where isKnownUniquelyReferenced(&old[index]) {
      old.swapAt(index, old.count - 1)
      old.removeLast()
    }
  }
}
