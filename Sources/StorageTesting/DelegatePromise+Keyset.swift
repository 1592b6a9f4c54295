internal import CryptoCore
internal import Dispatch
internal import StorageCore

extension DelegatePromise {
  private static func promise(
    _ sentence: String,
    _ body: @escaping @Sendable (Subject, any RecordPlace) throws -> Void
  ) -> DelegatePromise {
    DelegatePromise(sentence, by: (any RecordPlace.Type).self) { subject in
      try body(subject, try subject.make(as: (any RecordPlace).self))
    }
  }

  static let keyset: [DelegatePromise] = [
    promise("a new store has no header") { subject, delegate in
      try subject.require(try delegate.header().header == nil, "it has one")
    },
    promise("a header is kept, and its version changes only when the header changes") {
      subject, delegate in
      let before = try delegate.header().version
      let first = try delegate.updateHeader { header, _ in header = [1, 2, 3] }
      let (header, version) = try delegate.header()
      try subject.require(header == [1, 2, 3], "the header is not the one that was written")
      try subject.require(version == first && first != before, "the version did not change")
      let same = try delegate.updateHeader { _, _ in }
      try subject.require(same == first, "an unchanged header has a new version")
      try delegate.set([1], for: Sample.name(1))
      try subject.require(try delegate.header().version == first, "a record changed the version")
      let looked = try delegate.lookup(Sample.name(1)).headerVersion
      try subject.require(looked == first, "a look-up gives another version")
    },
    promise("a failed change of the header leaves it as it was") { subject, delegate in
      _ = try delegate.updateHeader { header, _ in header = [1] }
      do {
        _ = try delegate.updateHeader { (header, _) throws(StorageError) in
          header = [2]
          throw StorageError(.busy, "on purpose")
        }
        try subject.require(false, "the error did not come through")
      } catch let error as StorageError {
        try subject.require(error.code == .busy, "another error came: \(error)")
      }
      try subject.require(try delegate.header().header == [1], "it was changed")
    },
    promise("a change of the header sees the records") { subject, delegate in
      var wasEmpty = false
      _ = try delegate.updateHeader { _, records in wasEmpty = records.isEmpty }
      try subject.require(wasEmpty, "an empty store is said to hold records")
      try delegate.set([1, 2], for: Sample.name(1))
      var seen: [NameHash: [UInt8]] = [:]
      var isEmpty = true
      _ = try delegate.updateHeader { (_, records) throws(StorageError) in
        isEmpty = records.isEmpty
        try records.visit { seen[$0] = $1 }
      }
      try subject.require(
        !isEmpty && seen == [Sample.name(1): [1, 2]], "it sees \(seen.count) records")
    },
    promise("a commit against another header writes nothing") { subject, delegate in
      let old = try delegate.updateHeader { header, _ in header = [1] }
      _ = try delegate.updateHeader { header, _ in header = [2] }
      let outcome = try delegate.commit(
        RecordWrite([1], for: Sample.name(1)), headerVersion: old)
      try subject.require(outcome == .headerChanged, "it says \(outcome)")
      try subject.require(try delegate.record(for: Sample.name(1)) == nil, "it wrote")
    },
    promise("a commit is all or nothing, by its conditions") { subject, delegate in
      let version = try delegate.updateHeader { header, _ in header = [1] }
      try delegate.set([1], for: Sample.name(1))
      guard delegate.commitLimit > 1 else { return try refusesMany(subject, delegate, version) }
      let failed = try delegate.commit(
        [
          RecordWrite([5], for: Sample.name(2)),
          RecordWrite([6], for: Sample.name(1), if: .absent),
        ], headerVersion: version)
      try subject.require(failed == .conditionFailed, "a failed condition says \(failed)")
      try subject.require(try delegate.record(for: Sample.name(2)) == nil, "half was written")
      let done = try delegate.commit(
        [
          RecordWrite([5], for: Sample.name(2), if: .absent),
          RecordWrite(nil, for: Sample.name(1), if: .equals([1])),
        ], headerVersion: version)
      try subject.require(done == .committed, "conditions that hold say \(done)")
      let records = (
        try delegate.record(for: Sample.name(1)), try delegate.record(for: Sample.name(2))
      )
      try subject.require(records == (nil, [5]), "not all was written")
      let stale = try delegate.commit(
        RecordWrite([7], for: Sample.name(2), if: .equals([4])), headerVersion: version)
      try subject.require(stale == .conditionFailed, "a stale comparison says \(stale)")
    },
    promise("threads that compare and replace lose no update") { subject, delegate in
      let version = try delegate.updateHeader { header, _ in header = [1] }
      try delegate.set([0, 0], for: Sample.name(1))
      let failures = Lock<[any Error]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          for _ in 0..<20 { try increment(delegate, version) }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
      if let error = failures.withLock({ $0.first }) { throw error }
      let end = try delegate.record(for: Sample.name(1))
      try subject.require(end == [80, 0], "80 updates ended at \(end ?? [])")
    },
  ]

  /// The checks that remain of "all or nothing" when a commit takes only one write.
  private static func refusesMany(
    _ subject: Subject, _ delegate: any RecordPlace, _ version: UInt64
  ) throws {
    let both = [
      RecordWrite([5], for: Sample.name(2)), RecordWrite([6], for: Sample.name(1)),
    ]
    do {
      let outcome = try delegate.commit(both, headerVersion: version)
      try subject.require(false, "two writes, with a limit of one, say \(outcome)")
    } catch let error as StorageError {
      try subject.require(error.code == .unsupported, "two writes are the error \(error)")
    }
    let records = (
      try delegate.record(for: Sample.name(1)), try delegate.record(for: Sample.name(2))
    )
    try subject.require(records == ([1], nil), "a refused commit wrote")
    let stale = try delegate.commit(
      [RecordWrite([5], for: Sample.name(2)), .check([4], for: Sample.name(1))],
      headerVersion: version)
    try subject.require(stale == .conditionFailed, "a check that fails says \(stale)")
    let done = try delegate.commit(
      [RecordWrite([5], for: Sample.name(2)), .check([1], for: Sample.name(1))],
      headerVersion: version)
    try subject.require(done == .committed, "a check that holds says \(done)")
    try subject.require(try delegate.record(for: Sample.name(2)) == [5], "it was not written")
  }

  private static func increment(_ delegate: any RecordPlace, _ version: UInt64) throws {
    while true {
      let old = try delegate.record(for: Sample.name(1)) ?? []
      let write = RecordWrite(
        [old[0] + 1, 0], for: Sample.name(1), if: .equals(old))
      if try delegate.commit(write, headerVersion: version) == .committed { return }
    }
  }
}
