internal import CryptoCore
internal import Dispatch
internal import Observation
internal import Synchronization

extension LiveValue {
  /// Replaces the value in memory with a finding, unless memory already reflects a later notice.
  ///
  /// Observers are told after the change, while no lock is held.
  func publish(_ finding: PropertyState<Value>, _ number: UInt64) {
    while true {
      let old = snapshot
      // Outside all locks: `==` is the program's.
      let new = old.after(finding, absent: absent, isNewRecord: node.hasNewRecord)
      var replaced: LiveMemory<Value>?
      let isDone = node.publish(number) {
        // Only here is memory written, under the node's lock.
        guard snapshot.version == old.version else { return (false, false) }
        if let new {
          // Before readers find the error, they must know to take the slow path.
          if new.error != nil { node.attention.store(true, ordering: .releasing) }
          replaced = memory.withLock { memory in
            defer { memory = new }
            return memory
          }
        }
        return (true, (new ?? old).error == nil && defaults.count == 0)
      }
      guard isDone else { continue }
      if let replaced, let new, old.generation > 0, new.generation != replaced.generation {
        tell(LiveNotices.observers(of: replaced.generation))
        if notices.withLock({ $0.noteChange() }) { tellLateObservers() }
      }
      return
    }
  }

  /// Tells observers of even or odd values that the value has changed.
  ///
  /// Only one thread at a time tells, also on behalf of the others. An observer must be told once,
  /// and two threads that tell at the same moment could both reach it.
  private func tell(_ observers: LiveNotices.Observers) {
    guard notices.withLock({ $0.begin(observers) }) else { return }
    while let observers = notices.withLock({ $0.next() }) {
      self.observers.tell(observers, of: self)
    }
  }

  /// Tells observers that read an old value and registered after it was replaced.
  ///
  /// `withObservationTracking` registers an observer only after its closure has returned. If the
  /// value changes on another thread while the closure runs, nobody is registered yet, and that
  /// change may be the last one. So observers are told once more after the last change.
  private func tellLateObservers() {
    hub.perform(after: .milliseconds(500)) { [weak self] in
      guard let self else { return }
      let (isMany, goesOn) = notices.withLock { $0.endPause() }
      if goesOn { tellLateObservers() }
      tell(isMany ? LiveNotices.all : LiveNotices.observers(of: snapshot.generation + 1))
    }
  }
}
