internal import CryptoCore
internal import StorageCore

/// The key source of a router's stores; a rotation adds a new source, and then drops the old one.
final class RouterKeySource: Sendable {
  private struct Sources {
    var present: KeySource
    /// The source that a rotation gives to the stores.
    var new: KeySource?
  }
  private let sources: Lock<Sources>

  init(_ source: KeySource) { sources = Lock(Sources(present: source)) }

  /// The source for a store; it follows a rotation.
  var present: KeySource {
    var source = KeySource(current: { [self] in asked })
    source.isAutomatic = sources.withLock { ($0.new ?? $0.present).isAutomatic }
    source.owner = sources.withLock { $0.present.owner }
    return source
  }

  /// The new source before the old one, since stores may be opened by either.
  private var asked: KeySource {
    let (present, new) = sources.withLock { ($0.present, $0.new) }
    return new.map { .firstAvailable([$0, present]) } ?? present
  }

  /// Also opens stores with a new source, and creates new stores with it.
  func add(_ source: KeySource) { sources.withLock { $0.new = source } }

  /// Forgets a new source that no store has.
  func withdraw() { sources.withLock { $0.new = nil } }

  /// Accepts only the new source from now on.
  func dropOld() {
    sources.withLock { sources in
      if let new = sources.new { sources = Sources(present: new) }
    }
  }
}
