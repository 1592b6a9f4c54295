import CryptoCore
import Glibc
import StorageTesting
import TestSupport
import Testing

@testable import StorageCore

/// What the default handler writes of errors that come again and again.
@Suite struct RepeatedErrorTests {
  /// The lines that a process of tests wrote to standard error by this package.
  private static func lines(_ bytes: [UInt8]?) -> [Substring] {
    String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix("SecurePropertyStorage: ") }
  }

  @Test func aThousandReadsWithAWrongKeyAreTwoLines() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let delegate = OpenDelegate()
      try DelegatedStorage(delegate, symmetricKey: .repeating(1)).save(7, forKey: "launches")
      let storage = DelegatedStorage(delegate, symmetricKey: .repeating(2))
      let property = Store<Int, DelegatedStorage>(storage, "launches")
      for _ in 0..<1_000 { #expect(property.wrappedValue == nil) }
      exit(0)  // an exit test that returns is ended without what is to be done at the exit
    }
    let lines = Self.lines(result?.standardErrorContent)
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.contains("wrongKey key \"launches\"") == true)
    #expect(lines.last?.contains(" 999 more times in ") == true)
  }

  @Test func anotherErrorOfTheSameKeyIsSaidAndBeforeItWhatWasCounted() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let storage = FaultyStorage()
      for code in [StorageError.Code.locked, .io, .locked] {
        storage.faults.fail(.all, with: .failure(StorageError(code, "on cue")))
        for _ in 0..<3 { _ = storage.integer(forKey: "k") }
        storage.faults.recover()
      }
      exit(0)
    }
    let said = Self.lines(result?.standardErrorContent).map { $0.dropFirst(23) }
    #expect(
      said == [
        "locked key \"k\": on cue", "2 more times in 0 s: locked key \"k\", as above",
        "io key \"k\": on cue", "2 more times in 0 s: io key \"k\", as above",
        "3 more times in 0 s: locked key \"k\", as above",
      ])
  }

  @Test func aForkedChildSaysNothingOfWhatItsParentCounted() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      for _ in 0..<3 { StorageDiagnostics.report(StorageError(.io, "of the parent")) }
      _ = ForkedChild.run(deadline: 20) { _ in exit(0) }
      exit(0)
    }
    #expect(Self.lines(result?.standardErrorContent).count == 2)
  }

  // MARK: - The counting itself, which a test gives the time

  private let start = ContinuousClock.now

  private func lines(
    _ reports: inout RepeatedReports, _ error: StorageError, after seconds: Int
  ) -> [String] {
    reports.lines(for: error, at: start + .seconds(seconds))
  }

  @Test func aCountIsSaidOnceAMinuteWhileItGoesOn() {
    var reports = RepeatedReports()
    let error = StorageError(.locked, "unlock it", key: "k")
    let said = (0...150).flatMap { lines(&reports, error, after: $0) }
    #expect(
      said == [
        "\(error)", "60 more times in 60 s: \(error)", "60 more times in 60 s: \(error)",
      ])
    #expect(reports.rest() == ["30 more times in 30 s: locked key \"k\", as above"])
    #expect(reports.rest() == [])
  }

  @Test func anErrorOfAFileIsTheSameForEveryKey() {
    var reports = RepeatedReports()
    let errors = (0..<1_000).map { StorageError(.wrongKey, "no", key: "k\($0)", path: "/a") }
    #expect(errors.flatMap { lines(&reports, $0, after: 1) } == ["\(errors[0])"])
    #expect(reports.rest() == ["999 more times in 0 s: wrongKey /a, as above"])
  }

  /// Without HOME there is no path, and each property of a program has the same error.
  @Test func anErrorOfAStoreInNoKnownFileIsTheSameForEveryKey() {
    var reports = RepeatedReports()
    let errors = (0..<100).map { StorageError(.unavailable, "no HOME", key: "k\($0)") }
    #expect(errors.flatMap { lines(&reports, $0, after: 1) } == ["\(errors[0])"])
    #expect(reports.rest() == ["99 more times in 0 s: unavailable, as above"])
    // Errors about values have a line each.
    let values = (0..<3).map { StorageError(.typeMismatch, "no", key: "k\($0)") }
    #expect(values.flatMap { lines(&reports, $0, after: 2) } == values.map { "\($0)" })
  }

  @Test func whatIsCountedHasABoundAndNothingIsLost() {
    var reports = RepeatedReports()
    let errors = (0..<1_000).map { StorageError(.damaged, "no", key: "k\($0)") }
    #expect(errors.flatMap { lines(&reports, $0, after: 1) }.count == RepeatedReports.limit)
    let rest = reports.rest()
    #expect(rest.count == 1)
    #expect(rest.first?.hasPrefix("936 more times in 0 s: damaged: several other errors") == true)
    // What came long ago makes room.
    #expect(lines(&reports, errors[999], after: 100) == ["\(errors[999])"])
  }
}
