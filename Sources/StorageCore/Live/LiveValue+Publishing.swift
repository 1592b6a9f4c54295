internal import CryptoCore
internal import Dispatch
internal import Observation
internal import Synchronization

extension LiveValue {
  /// What a look at the store has found.
  enum Finding {
    case value(Value)
    case absent
    case failed(StorageError)
  }

  /// Puts what was found in the place of what is in memory, unless that is of a later notice.
  ///
  /// Observers are told before, while no lock is held, and those of the old value again after it: one that
  /// read between the two has registered too late for the first.
  func publish(_ finding: Finding, _ number: UInt64) {
    while true {
      let old = snapshot
      let new = snapshot(of: finding, after: old)
      let isNews = old.generation > 0 && new != nil && new?.generation != old.generation
      if isNews, let path = old.pathIfRead { tell(path) }
      var isReplaced = false
      let isDone = node.settle(number) {
        guard current.isTo(old) else { return (false, false) }
        if let new {
          let replaced = current.replace(by: new)
          retired.withLock { $0.append(replaced) }
          isReplaced = true
        }
        return (true, (new ?? old).error == nil)
      }
      guard isDone else { continue }
      let isPassed = releaseRetired()
      // Where somebody may borrow the old value yet, they may be about to make its path.
      if isNews, isReplaced, let path = isPassed ? old.pathIfRead : old.path {
        registrar.didSet(self, keyPath: path)
        tell(path)
        if let round = late.withLock({ $0.add(path) }) { tellLateObservers(round) }
      }
      return
    }
  }

  /// What is to be in memory, or nil when that is what is.
  ///
  /// An equal value may be another one all the same: it is of the same generation, and nobody is told.
  private func snapshot(
    of finding: Finding, after old: LiveSnapshot<Value>
  ) -> LiveSnapshot<Value>? {
    let isRead = old.generation > 0
    let generation = old.generation + 1
    switch finding {
    case .value(let value):
      guard isRead, old.error == nil, !old.isAbsent, old.value == value else {
        return LiveSnapshot(value, isAbsent: false, generation: generation)
      }
      return LiveSnapshot(value, isAbsent: false, generation: old.generation, path: old.path)
    case .absent:
      if isRead, old.isAbsent { return nil }
      return LiveSnapshot(absent, isAbsent: true, generation: generation)
    case .failed(let error):
      if isRead, old.error == error { return nil }
      return LiveSnapshot(absent, isAbsent: false, error: error, generation: generation)
    }
  }

  /// Releases what was replaced, if nobody borrows it any more; else that is for the next change.
  ///
  /// - Returns: whether nobody borrows what was replaced before the call.
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

  /// Tells those who have read the generation of a path that it changes.
  ///
  /// One thread at a time does, also for the others: an observer is told once, and two that tell it at the
  /// same moment would both reach it.
  private func tell(_ path: LiveSnapshot<Value>.Path) {
    guard late.withLock({ $0.begin(path) }) else { return }
    var next: LiveSnapshot<Value>.Path? = path
    while let path = next {
      registrar.willSet(self, keyPath: path)
      next = late.withLock { $0.next() }
    }
  }

  /// Has those told who read an old value and are registered only now.
  ///
  /// `withObservationTracking` registers after its closure has returned. A value that changes while the
  /// closure runs on another thread has changed before anybody was registered, and it may have been the
  /// last time. So the observers of an old value are told again, in pauses that double up to a second, until
  /// nobody has its key path any more: a closure that has read it has it until its observer is told.
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
