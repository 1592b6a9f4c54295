package import CryptoCore
package import StorageCore

/// Keeps sealed records at a ``KeychainProvider``, each under its hashed name in hexadecimal.
///
/// The key `SecurePropertyStorage.header` holds the header, and `SecurePropertyStorage.names` a
/// list of the names. The provider sees no clear name and no clear value. A read makes two calls of
/// the provider, a write three to five. A provider has no atomic step. This delegate therefore lets
/// one thread of the process in at a time, and only one process at a time may write.
package final class ProviderDelegate: RecordPlace, WaitingPlace {
  private static let headerKey = "SecurePropertyStorage.header"
  private static let namesKey = "SecurePropertyStorage.names"

  private let place: ProviderPlace
  package let deadline: Duration
  private let polling: Duration?

  /// Creates the delegate of a provider; see ``ProviderStorage``.
  package init(_ provider: any KeychainProvider, deadline: Duration, polling: Duration?) {
    place = .of(provider, isPlain: false)
    self.deadline = deadline
    self.polling = polling
  }

  package var identity: DelegateIdentity? { DelegateIdentity(of: place) }
  package var asksOthers: Bool { true }
  package var commitLimit: Int { 1 }

  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try read { [place] () throws(StorageError) in
      let header = place.data(Self.headerKey)
      return (header, place.note(header: header))
    }
  }

  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try read { [place] () throws(StorageError) in try Self.lookup(name, place) }
  }

  package func names() throws(StorageError) -> [NameHash] {
    try read { [place] () throws(StorageError) in try Self.names(place) }
  }

  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
      try place.headerTurn.withLock { (_) throws(StorageError) in
        let (old, version) = try header()
        let names = try names()
        let held = HeldRecords(isEmpty: names.isEmpty) { (each) throws(StorageError) in
          for name in names {
            if let record = try self.lookup(name).record { each(name, record) }
          }
        }
        var new = old
        try body(&new, held)
        guard new != old else { return version }
        return try replace(old, by: new)
      }
    }
  }

  private func replace(_ old: [UInt8]?, by new: [UInt8]?) throws(StorageError) -> UInt64 {
    try write { [place] () throws(StorageError) in
      guard place.data(Self.headerKey) == old else {
        throw StorageError(
          .busy, "another program changed the store's keys at the same time; try again")
      }
      if let new {
        try place.set(new, Self.headerKey)
      } else {
        try place.delete(Self.headerKey)
      }
      // Only this header can open the records that are sealed next.
      guard place.data(Self.headerKey) == new else {
        throw StorageError(
          .outcomeUnknown,
          "the provider returns another header than it was given; check the provider")
      }
      return place.note(header: new)
    }
  }

  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    guard writes.count(where: { !$0.isCheck }) <= commitLimit else {
      throw StorageError(
        .unsupported, "a provider has no transactions: write one key at a time, or use a vault")
    }
    // Also after an error, since the provider may have done a part.
    defer {
      for write in writes where !write.isCheck {
        place.lookElsewhere(write.name, within: deadline)
      }
    }
    return try write { [place] () throws(StorageError) in
      var change: (write: RecordWrite, old: [UInt8]?)?
      for write in writes {
        let (old, version) = try Self.lookup(write.name, place)
        guard version == headerVersion else { return .headerChanged }
        guard write.isAllowed(over: old) else { return .conditionFailed }
        if !write.isCheck { change = (write, old) }
      }
      guard let (write, old) = change else { return .committed }
      do throws(StorageError) {
        try Self.make(write, over: old, place)
      } catch {
        throw Self.truth(of: error, write.name, old, place)
      }
      try place.follow(write.name, write.record, isOwn: true, version: headerVersion) {
        write.record
      }
      return .committed
    }
  }

  /// Removes the listed records, then the list, then the header, whatever they contain.
  ///
  /// In this order, a process that is killed leaves the old store with fewer records, or none.
  package func discard() throws(StorageError) {
    try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
      try place.headerTurn.withLock { (_) throws(StorageError) in
        let names = try read { [place] () throws(StorageError) in
          // A list that was cut still names some.
          Self.names(in: place.data(Self.namesKey) ?? [])
        }
        for name in names {
          try write { [place] () throws(StorageError) in
            try place.delete(name.hexadecimal)
            try place.follow(name, nil, isOwn: true, version: nil) { nil }
          }
        }
        for key in [Self.namesKey, Self.headerKey] {
          try write { [place] () throws(StorageError) in try place.delete(key) }
        }
        try write { [place] () throws(StorageError) in
          _ = place.note(header: nil)
          if !place.observers.isEmpty { place.observers.notify(.unknown) }
        }
      }
    }
    place.lookElsewhere(RecordChange.unknown.name, within: deadline)
  }

  package func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
  {
    place.add(observer, every: polling) { [weak place] name in
      guard let place else { return }
      // An observer can't receive an error; a reader of the key gets it.
      do throws(StorageError) { _ = try Self.lookup(name, place) } catch {}
    }
  }

  // MARK: - On the queue

  private static func lookup(
    _ name: NameHash, _ place: ProviderPlace
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    let version = place.note(header: place.data(headerKey))
    let record = place.data(name.hexadecimal)
    try place.follow(name, record, version: version) { record }
    return (record, version)
  }

  /// The names in the list.
  ///
  /// A listed name may have no record, if a process died between the two writes.
  private static func names(_ place: ProviderPlace) throws(StorageError) -> [NameHash] {
    guard let list = place.data(namesKey) else { return [] }
    guard list.count.isMultiple(of: NameHash.byteCount) else {
      throw StorageError(
        .damaged, "the provider's list of names is incomplete; restore its data from a backup")
    }
    return names(in: list)
  }

  /// The whole names in the bytes of a list.
  private static func names(in list: [UInt8]) -> [NameHash] {
    stride(from: 0, to: list.count - list.count % NameHash.byteCount, by: NameHash.byteCount)
      .compactMap { NameHash(list[$0..<$0 + NameHash.byteCount]) }
  }

  private static func make(
    _ write: RecordWrite, over old: [UInt8]?, _ place: ProviderPlace
  ) throws(StorageError) {
    if let record = write.record {
      // The name first: a change of keys would miss a record that is not in the list. A record that
      // is known may be missing there, if the list was withheld when another name was added.
      var isListed = old != nil
      if case .equals = write.condition { isListed = false }
      if !isListed {
        let names = try names(place)
        if !names.contains(write.name) { try set(names + [write.name], place) }
      }
      try place.set(record, write.name.hexadecimal)
    } else {
      if old != nil { try place.delete(write.name.hexadecimal) }
      // Also after an earlier removal that failed before the list was updated.
      let names = try names(place)
      if names.contains(write.name) { try set(names.filter { $0 != write.name }, place) }
    }
  }

  /// The error to throw after a write that the provider may have done in part.
  ///
  /// Observers are notified of the record that the provider now has.
  private static func truth(
    of error: StorageError, _ name: NameHash, _ old: [UInt8]?, _ place: ProviderPlace
  ) -> StorageError {
    do throws(StorageError) {
      guard try lookup(name, place).record != old else { return error }
    } catch {
      return StorageError(
        .outcomeUnknown, "a write failed, and so did reading the result; read the value again later"
      )
    }
    return StorageError(
      .outcomeUnknown,
      "the provider did only a part of the write, and the old data is gone; write again")
  }

  private static func set(_ names: [NameHash], _ place: ProviderPlace) throws(StorageError) {
    try place.set(names.flatMap(\.bytes), namesKey)
  }

  // MARK: -

  private func read<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try perform(.timedOut, body)
  }

  private func write<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try perform(.outcomeUnknown, body)
  }

  private func perform<Result: Sendable>(
    _ late: StorageError.Code, _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let identity = DelegateIdentity(of: place)
    return try place.calls.perform(within: deadline, late: late) { () throws(StorageError) in
      try Reentry.serving(identity, body)
    }
  }
}
