internal import CryptoCore
internal import StorageCore

extension DelegatePromise {
  private static func promise(
    _ sentence: String,
    _ body: @escaping @Sendable (Subject, any RecordPlace, UInt64) throws -> Void
  ) -> DelegatePromise {
    DelegatePromise(sentence, by: (any RecordPlace.Type).self) { subject in
      let delegate = try subject.make(as: (any RecordPlace).self)
      let version = try delegate.updateHeader { header, _ in header = [1] }
      try delegate.set([1], for: Sample.name(1))
      try body(subject, delegate, version)
    }
  }

  /// Checks that fail when name 1 has the record [1] and name 2 has none.
  private static let failing: [RecordWrite] = [
    .check([2], for: Sample.name(1)), .check(nil, for: Sample.name(1)),
    .check([1], for: Sample.name(2)),
  ]

  static let checks: [DelegatePromise] = [
    promise("a commit with a check that does not hold writes nothing") {
      subject, delegate, version in
      for check in failing {
        for writes in [[check, RecordWrite([5], for: Sample.name(3))], [check]] {
          let outcome = try delegate.commit(writes, headerVersion: version)
          try subject.require(outcome == .conditionFailed, "it says \(outcome)")
        }
        let alone = try delegate.commit(check, headerVersion: version)
        try subject.require(alone == .conditionFailed, "for a single write it says \(alone)")
      }
      let records = try (1...3).map { try delegate.record(for: Sample.name($0)) }
      try subject.require(records == [[1], nil, nil], "it changed a record")
    },
    promise("checks that hold change nothing and allow the other writes") {
      subject, delegate, version in
      let checks = [
        RecordWrite.check([1], for: Sample.name(1)), .check(nil, for: Sample.name(2)),
      ]
      for writes in [checks, checks + [RecordWrite([5], for: Sample.name(3))]] {
        let outcome = try delegate.commit(writes, headerVersion: version)
        try subject.require(outcome == .committed, "it says \(outcome)")
      }
      for check in checks {
        let outcome = try delegate.commit(check, headerVersion: version)
        try subject.require(outcome == .committed, "for a single write it says \(outcome)")
      }
      let records = try (1...3).map { try delegate.record(for: Sample.name($0)) }
      try subject.require(records == [[1], nil, [5]], "the records are wrong")
      let names = Set(try delegate.names())
      try subject.require(names == [Sample.name(1), Sample.name(3)], "it lists \(names.count)")
    },
    promise("checks against another header are refused") { subject, delegate, version in
      _ = try delegate.updateHeader { header, _ in header = [2] }
      let outcome = try delegate.commit(
        [.check([1], for: Sample.name(1))], headerVersion: version)
      try subject.require(outcome == .headerChanged, "it says \(outcome)")
    },
    promise("no observer is notified of a check") { subject, delegate, version in
      let seen = Lock<[NameHash]>([])
      let observation = delegate.observe { change in seen.withLock { $0.append(change.name) } }
      let check = RecordWrite.check([1], for: Sample.name(1))
      _ = try delegate.commit(check, headerVersion: version)
      _ = try delegate.commit(
        [check, RecordWrite([5], for: Sample.name(3))], headerVersion: version)
      withExtendedLifetime(observation) {}
      let names = seen.withLock { $0 }
      try subject.require(names == [Sample.name(3)], "\(names.count) changes were reported")
    },
  ]
}
