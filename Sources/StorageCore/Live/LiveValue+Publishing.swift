internal import CryptoCore
internal import Dispatch
internal import Observation
internal import Synchronization

extension LiveValue {
  /// Replaces the value in memory with a finding, unless memory already reflects a later notice.
  ///
  /// Observers are notified before the change, while no lock is held. The observers of the old
  /// value are notified again after the change, because one that read in between registered too
  /// late for the first notice.
  func publish(_ finding: PropertyState<Value>, _ number: UInt64) {
    while true {
      let old = snapshot
      let new = snapshot(of: finding, after: old)
      let isNews = old.generation > 0 && new != nil && new?.generation != old.generation
      if isNews, let path = old.pathIfRead { tell(path) }
      var isReplaced = false
      let isDone = node.settle(number) {
        guard current.isTo(old) else { return (false, false) }
        if let new {
          // Before readers find the error, they must know to take the slow path.
          if new.error != nil { node.attention.store(true, ordering: .releasing) }
          let replaced = current.replace(by: new)
          retired.withLock { $0.append(replaced) }
          isReplaced = true
        }
        return (true, (new ?? old).error == nil && defaults.count == 0)
      }
      guard isDone else { continue }
      let isPassed = releaseRetired()
      // A reader that still borrows the old snapshot may be about to create its path, so create it
      // here.
      if isNews, isReplaced, let path = isPassed ? old.pathIfRead : old.path {
        registrar.didSet(self, keyPath: path)
        tell(path)
        if let round = late.withLock({ $0.add(path) }) { tellLateObservers(round) }
      }
      return
    }
  }

  /// The snapshot to put in memory, or nil when memory already holds it.
  ///
  /// An equal value may still be a different one, so it replaces the old value. It stays in the
  /// same generation, and observers are not notified.
  private func snapshot(
    of finding: PropertyState<Value>, after old: LiveSnapshot<Value>
  ) -> LiveSnapshot<Value>? {
    let isRead = old.generation > 0
    let generation = old.generation + 1
    switch finding {
    case .value(let value):
      guard isRead, old.error == nil, !old.isAbsent, old.value == value else {
        return LiveSnapshot(value, isAbsent: false, isOfStore: true, generation: generation)
      }
      return LiveSnapshot(
        value, isAbsent: false, isOfStore: true, generation: old.generation, path: old.path)
    case .absent:
      if isRead, old.isAbsent { return nil }
      return LiveSnapshot(absent, isAbsent: true, generation: generation)
    case .failed(let error):
      // The same error of another record is reported again.
      if isRead, old.error == error, !node.hasNewRecord { return nil }
      // The last value stays until there is another one.
      return LiveSnapshot(
        old.isOfStore ? old.value : absent, isAbsent: false, error: error,
        isOfStore: old.isOfStore, generation: generation)
    }
  }

  /// Releases replaced snapshots if no reader borrows them; otherwise leaves them to the next
  /// change.
  ///
  /// - Returns: true when no reader borrows a snapshot that was replaced before the call.
  @discardableResult
  private func releaseRetired() -> Bool {
    let old = retired.withLock { retired in
      defer { retired = [] }
      return retired
    }
    if gate.isPassed() { return true }
    retired.withLock { $0 += old }
    return false
  }

  // MARK: - Telling

  /// Notifies the observers that have read the generation of a path.
  ///
  /// Only one thread at a time notifies, also on behalf of the others. An observer must be notified
  /// once, and two threads that notify at the same moment could both reach it.
  private func tell(_ path: LiveSnapshot<Value>.Path) {
    guard late.withLock({ $0.begin(path) }) else { return }
    var next: LiveSnapshot<Value>.Path? = path
    while let path = next {
      registrar.willSet(self, keyPath: path)
      next = late.withLock { $0.next() }
    }
  }

  /// Notifies observers that read an old value and registered after it was replaced.
  ///
  /// `withObservationTracking` registers an observer only after its closure has returned. If the
  /// value changes on another thread while the closure runs, nobody is registered yet, and that
  /// change may be the last one. The observers of an old value are therefore notified again, in
  /// pauses that double up to one second, until nobody holds its key path. A closure that has read
  /// the path holds it until its observer is notified.
  private func tellLateObservers(_ round: Int) {
    let pause = late.withLock { $0.pause }
    hub.perform(after: .milliseconds(pause)) { [weak self] in
      guard let self else { return }
      releaseRetired()
      let paths = late.withLock { $0.take(round) }
      for path in paths { tell(path) }
      if !paths.isEmpty { tellLateObservers(round) }
    }
  }
}
