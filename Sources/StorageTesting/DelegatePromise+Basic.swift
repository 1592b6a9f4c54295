internal import CryptoCore
internal import Dispatch
internal import StorageCore

extension DelegatePromise {
  private static func promise(
    _ sentence: String, _ body: @escaping @Sendable (Subject, any StorageDelegate) throws -> Void
  ) -> DelegatePromise {
    DelegatePromise(sentence, by: (any StorageDelegate.Type).self) { subject in
      try body(subject, try subject.make())
    }
  }

  /// Enough rounds to hit a gap of a few instructions between the look-up and the write.
  private static let raceRounds = 500

  static let basic: [DelegatePromise] = [
    promise("a name without a record is nil and not an error") { subject, delegate in
      try subject.require(try delegate.record(for: Sample.name(1)) == nil, "it is not nil")
    },
    promise("a record that was set is read back, byte for byte") { subject, delegate in
      for (index, record) in Sample.records.enumerated() {
        try delegate.set(record, for: Sample.name(index))
      }
      for (index, record) in Sample.records.enumerated() {
        let back = try delegate.record(for: Sample.name(index))
        try subject.require(back == record, "\(record.count) bytes came back changed")
      }
    },
    promise("setting again replaces") { subject, delegate in
      try delegate.set([1], for: Sample.name(1))
      try delegate.set([2, 3], for: Sample.name(1))
      try subject.require(try delegate.record(for: Sample.name(1)) == [2, 3], "the old one stayed")
    },
    promise("setting if absent keeps the first and says so") { subject, delegate in
      let (first, second) = (
        try delegate.setIfAbsent([1], for: Sample.name(1)),
        try delegate.setIfAbsent([2], for: Sample.name(1))
      )
      try subject.require(first && !second, "it answered \(first), \(second)")
      try subject.require(try delegate.record(for: Sample.name(1)) == [1], "the first was replaced")
    },
    promise("removing removes that name and no other") { subject, delegate in
      try delegate.set([1], for: Sample.name(1))
      try delegate.set([2], for: Sample.name(2))
      try delegate.remove(Sample.name(1))
      try subject.require(try delegate.record(for: Sample.name(1)) == nil, "it is still there")
      try subject.require(
        try delegate.record(for: Sample.name(2)) == [2], "another record was removed")
    },
    promise("removing an absent record does nothing") { _, delegate in
      try delegate.remove(Sample.name(1))
    },
    promise("names that differ in one bit are different names") { subject, delegate in
      try delegate.set([1], for: Sample.name(1))
      for bit in [0, 7, 255, 511] {
        let back = try delegate.record(for: Sample.name(1, flipping: bit))
        try subject.require(back == nil, "a name that differs in bit \(bit) has the record")
      }
    },
    promise("if two threads set if absent at the same moment, exactly one succeeds") {
      subject, delegate in
      let winners = Lock<[UInt8]>([])
      try Race.run(rounds: raceRounds) { round, thread in
        let own = UInt8(thread)
        if try delegate.setIfAbsent([own], for: Sample.name(round)) {
          winners.withLock { $0.append(own) }
        }
      } judge: { round in
        let winners = winners.withLock { winners in
          defer { winners = [] }
          return winners
        }
        try subject.require(winners.count == 1, "\(winners.count) succeeded in round \(round)")
        let kept = try delegate.record(for: Sample.name(round))
        try subject.require(kept == winners, "the thread that failed replaced the record")
        // Of places that write all records at each change, no round takes longer than the first.
        try delegate.remove(Sample.name(round))
      }
    },
    promise("many threads write different names and none is lost") { subject, delegate in
      let failures = Lock<[any Error]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        do {
          for index in 0..<25 {
            try delegate.set([UInt8(thread)], for: Sample.name(thread * 25 + index))
          }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
      if let error = failures.withLock({ $0.first }) { throw error }
      for index in 0..<200 {
        let back = try delegate.record(for: Sample.name(index))
        try subject.require(back == [UInt8(index / 25)], "record \(index) is lost or mixed up")
      }
    },
  ]

  static let enumerable: [DelegatePromise] = [
    DelegatePromise(
      "the listed names are exactly those that have a record",
      by: (any StorageDelegate.Type).self
    ) { subject in
      let delegate = try subject.make(as: (any StorageDelegate).self)
      do throws(StorageError) {
        _ = try delegate.names()
      } catch {
        // A delegate need not be able to list, unless it is a place.
        guard error.code == .unsupported, !(delegate is any RecordPlace) else { throw error }
        return
      }
      try subject.require(try delegate.names().isEmpty, "an empty delegate lists names")
      for index in 0..<10 { try delegate.set([1], for: Sample.name(index)) }
      try delegate.set([2], for: Sample.name(3))
      try delegate.remove(Sample.name(4))
      let names = try delegate.names()
      let expected = Set((0..<10).filter { $0 != 4 }.map { Sample.name($0) })
      try subject.require(
        names.count == expected.count && Set(names) == expected, "it lists \(names.count) names")
    }
  ]

  static let observable: [DelegatePromise] = [
    DelegatePromise(
      "observers are notified of every change, in the order in which it took effect",
      by: (any ObservableDelegate.Type).self
    ) { subject in
      let delegate = try subject.make(as: (any ObservableDelegate).self)
      let seen = Lock<[[UInt8]?]>([])
      let observation = delegate.observe { change in
        if change.name == Sample.name(1) { seen.withLock { $0.append(change.record) } }
      }
      let failures = Lock<[any Error]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        do {
          for index in 0..<25 {
            try delegate.set([UInt8(thread), UInt8(index)], for: Sample.name(1))
          }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
      if let error = failures.withLock({ $0.first }) { throw error }
      let last = try delegate.record(for: Sample.name(1))
      try delegate.remove(Sample.name(1))
      withExtendedLifetime(observation) {}
      let changes = seen.withLock { $0 }
      // Where others answer, a change may be replaced by a later one before its own answer is here.
      try subject.require(
        changes.count == 101 || delegate.asksOthers && (2..<101).contains(changes.count),
        "\(changes.count) of 101 changes were reported")
      try subject.require(
        changes.suffix(2) == [last, nil], "the last changes are not those that were made last")
      for thread in 0..<4 {
        let own = changes.compactMap { $0 }.filter { $0[0] == UInt8(thread) }.map { $0[1] }
        try subject.require(
          own == (0..<25).map { UInt8($0) } || changes.count < 101 && own == Set(own).sorted(),
          "a thread's changes are out of order")
      }
    },
    DelegatePromise(
      "a change has the header version that was current with it, or none",
      by: (any RecordPlace.Type).self
    ) { subject in
      let delegate = try subject.make(as: (any RecordPlace).self)
      let seen = Lock<[UInt64?]>([])
      let observation = delegate.observe { change in
        seen.withLock { $0.append(change.headerVersion) }
      }
      var versions: [UInt64] = []
      for byte in 1...3 as ClosedRange<UInt8> {
        versions.append(try delegate.updateHeader { header, _ in header = [byte] })
        try delegate.set([byte], for: Sample.name(1))
      }
      withExtendedLifetime(observation) {}
      let said = seen.withLock { $0 }
      let agree = zip(said, versions).allSatisfy { $0 == nil || $0 == $1 }
      try subject.require(said.count == 3 && agree, "it says \(said) for \(versions)")
    },
    DelegatePromise(
      "a released observation is notified of nothing more",
      by: (any ObservableDelegate.Type).self
    ) { subject in
      let delegate = try subject.make(as: (any ObservableDelegate).self)
      let count = Lock(0)
      var observation: ChangeObservation? = delegate.observe { _ in count.withLock { $0 += 1 } }
      try delegate.set([1], for: Sample.name(1))
      _ = observation
      observation = nil
      try delegate.set([2], for: Sample.name(1))
      let heard = count.withLock { $0 }
      try subject.require(heard == 1, "it was notified of \(heard) changes")
    },
  ]
}

/// Names and records to try.
enum Sample {
  static func name(_ index: Int, flipping bit: Int? = nil) -> NameHash {
    var bytes = (0..<64).map { UInt8(truncatingIfNeeded: index &* 31 &+ $0 &* 7) }
    bytes[0] = UInt8(truncatingIfNeeded: index)
    bytes[1] = UInt8(truncatingIfNeeded: index >> 8)
    if let bit { bytes[bit / 8] ^= 1 << UInt8(bit % 8) }
    return NameHash(bytes)!
  }

  static let records: [[UInt8]] = [
    [0], [0, 0, 0], Array(0...255), Array(repeating: 0xFF, count: 4096),
    Array("not UTF-8: ".utf8) + [0xC3, 0x28, 0xFE], Array(repeating: 7, count: 1 << 20),
  ]
}
