internal import CryptoCore
internal import Synchronization

// How a value follows its record. Notices are numbered in the order in which changes take effect,
// and each says what the record is. Memory only moves on to a later number. Any thread may
// therefore update the value, no thread waits for another's decoding, and memory never goes back.

extension LiveValue: LiveTarget {
  private static var attempts: Int { 1000 }

  /// Brings the value up to date with every notice that arrived before the call.
  func settle() {
    if hub.isDoubtful.load(ordering: .acquiring) { hub.settleDoubts() }
    let goal = node.noticed
    for _ in 0..<Self.attempts {
      guard let (notice, number) = node.unsettled(upTo: goal) else { return }
      if let finding = finding(of: notice) {
        publish(finding, number)
        continue
      }
      let finding = look()
      // A notice that arrived meanwhile may be older or newer than this read, so use the notice
      // instead.
      if node.noticed == number { publish(finding, number) }
    }
    publish(
      .failed(StorageError(.busy, "others keep writing to the key; try again", key: key)),
      node.noticed)
  }

  /// The finding that a notice contains, or nil when the store must be read.
  private func finding(of notice: LiveNode.Notice) -> Finding? {
    switch notice {
    case .look: return nil
    case .failed(let error): return .failed(error.about(key))
    case .change(let change):
      do throws(StorageError) {
        return try opened(change)
      } catch {
        return nil  // reading the store tells whether the error is real
      }
    }
  }

  /// Opens a changed record with the current keys only.
  ///
  /// - Returns: nil when it is not the record of this name under the current keys.
  /// - Throws: `StorageError` when the current keys don't open the record.
  private func opened(_ change: RecordChange) throws(StorageError) -> Finding? {
    let store = hub.store
    var keys = store.keys.current
    if keys == nil || keys?.headerVersion != change.headerVersion {
      keys = try store.keys.refresh()
    }
    guard let keys else { return nil }
    let context = try node.name.context(in: keys)
    guard context.name == change.name else { return nil }
    guard let record = change.record else {
      store.failedReads.forget(key)
      return .absent
    }
    var value: Value?
    try store.open(SealedStore.Sealed(record: record, keys: keys, context: context), key) {
      (payload) throws(StorageError) in value = try coder.decode(payload)
    }
    store.failedReads.forget(key)
    return value.map { .value($0) }
  }

  /// Reads the store.
  private func look() -> Finding {
    do throws(StorageError) {
      try hub.bind(node)
      return try hub.store.read(node.name, coder).map { .value($0) } ?? .absent
    } catch {
      return .failed(error.about(key))
    }
  }
}
