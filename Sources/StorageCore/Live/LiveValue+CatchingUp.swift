internal import CryptoCore
internal import Synchronization

// How a value follows its record. Notices are numbered in the order in which changes take effect,
// and each says what the record is. Memory only moves on to a later number. Any thread may
// therefore update the value, no thread waits for another's decoding, and memory never goes back.

extension LiveValue: LiveTarget {
  private static var attempts: Int { 1000 }

  /// Brings the value up to date with every notice that arrived before the call.
  func catchUp() {
    if hub.isDoubtful.load(ordering: .acquiring) { hub.resolveDoubts() }
    let goal = node.noticed
    for _ in 0..<Self.attempts {
      guard let (notice, number) = node.unpublished(upTo: goal) else { return }
      if let finding = finding(of: notice) {
        publish(finding, number)
        continue
      }
      let finding = look()
      // A notice of a record that arrived meanwhile may be older or newer than this read, so use
      // the notice instead. A hint that arrived meanwhile leads to another read.
      if node.noticed == number || hub.store == nil { publish(finding, number) }
    }
    publish(
      .failed(StorageError(.busy, "others keep writing to the key; try again", key: key)),
      node.noticed)
  }

  /// The finding that a notice contains, or nil when the store must be read.
  private func finding(of notice: LiveNode.Notice) -> PropertyState<Value>? {
    switch notice {
    case .look: return nil
    case .failed(let error): return .failed(error.about(key))
    case .change(let change):
      do throws(StorageError) {
        return try source.state(after: change)
      } catch {
        return nil  // reading the store tells whether the error is real
      }
    }
  }

  /// Reads the store.
  private func look() -> PropertyState<Value> {
    do throws(StorageError) {
      try hub.bind(node)
      return try source.load().map { .value($0) } ?? .absent
    } catch {
      return .failed(error.about(key))
    }
  }
}
