internal import StorageCore

extension DelegatePromise {
  /// A promise about a delegate with a record under name 1 and none under name 2.
  private static func promise(
    _ sentence: String,
    whileFailing body: @escaping @Sendable (Subject, any StorageDelegate) throws -> Void
  ) -> DelegatePromise {
    DelegatePromise(sentence, by: (any StorageDelegate.Type).self) { subject in
      let delegate = try subject.make()
      try delegate.set([1], for: Sample.name(1))
      try subject.whileFailing(delegate) { try body(subject, delegate) }
      let records = try (1...2).map { try delegate.record(for: Sample.name($0)) }
      try subject.require(
        records == [[1], nil], "once the place works again, it holds other records")
    }
  }

  static let failures: [DelegatePromise] = [
    promise("if the place fails, removing throws, and the record remains") {
      subject, delegate in
      try throwsAnError(subject) { try delegate.remove(Sample.name(1)) }
    },
    promise("if the place fails, setting throws, and the old record remains") {
      subject, delegate in
      try throwsAnError(subject) { try delegate.set([2], for: Sample.name(1)) }
      try throwsAnError(subject) { try delegate.set([2], for: Sample.name(2)) }
    },
    promise("if the place fails, setting if absent throws, and nothing is set") {
      subject, delegate in
      try throwsAnError(subject) { _ = try delegate.setIfAbsent([2], for: Sample.name(2)) }
    },
    promise("if the place fails, a record is not reported as absent") { subject, delegate in
      let record: [UInt8]?
      do throws(StorageError) {
        record = try delegate.record(for: Sample.name(1))
      } catch {
        return
      }
      try subject.require(record == [1], "it is read as \(record.map { "\($0)" } ?? "nil")")
    },
  ]

  private static func throwsAnError(_ subject: Subject, _ body: () throws -> Void) throws {
    do { try body() } catch is StorageError { return }
    try subject.require(false, "no error was thrown")
  }
}
