import Foundation
import Testing

/// The guide "Limits": each row has a test that tries it at both sides, and the numbers of that test.
@Suite struct LimitPageTests {
  /// How a row begins, the numbers that follow, and the test that tries them.
  private static let rows: [(row: String, numbers: [Int], test: String)] = [
    ("key of a value", [8, 1, 1_024], "theLimitIsInBytesAndNotInCharacters"),
    ("name of a suite", [1, 200], "aSuiteNameThatCantBeIsInvalidAtEveryUse"),
    ("application id", [1, 128], "anApplicationIDThatCantNameAFileIsInvalid"),
    ("name of a key that", [1, 1_024], "aNamedKeyIsTheSameInEveryRunAndItsSourceIsNeverReplaced"),
    ("identifier of a", [1_024], "theIdentifierOfASourceHasAtMost1024Bytes"),
    ("name of an application's own", [0, 255], "aCustomCodingHasAShortName"),
    ("a value as it is encoded", [256], "moreThanTheLimitIsInvalidAndLeavesTheOldValue"),
    ("the same in the keyring", [1, 64], "aValueOfAMebibyteIsKeptAndAMuchLongerOneIsInvalid"),
    ("nesting of", [32], "whatIsNestedTooDeepIsRefusedWhenItIsWritten"),
    ("authentication tag", [], "anAuthenticationTagOfAMebibyteBindsWithItsLastByte"),
    ("values in a store", [], ""),
    ("file of a suite", [1], ""),
    ("vault", [], "onAFullDiskReadsGoOnAndWritesDoWhenThereIsSpaceAgain"),
    ("key slots", [32], "aStoreHasAtMost32Slots"),
    ("data keys", [2, 31, 256, 1_024, 1_000], "aStoreHasAtMost1024DataKeys"),
    ("writes in one transaction", [1], ""),
    ("key of an application", [256, 256], ""),
    ("passphrase", [8, 1], "aShortPassphraseOpensNothingNewWhereverItIsFrom"),
    ("key file, credential", [1, 4_096], "whatIsNoSecretIsRefusedByName"),
    ("scrypt: cost, a", [2, 17, 8, 1, 2, 20, 32, 16], "aSlotIsNotMadeBelowTheLeast"),
    ("scrypt: cost times", [2, 23], "scryptRefusesParametersThatTogetherAskForTooMuch"),
    ("PBKDF2", [2, 256, 512, 600_000, 210_000, 10_000_000], "aSlotIsNotMadeBelowTheLeast"),
    ("Argon2id", [2, 19_456, 2, 1, 2, 20, 16, 16], "argon2idRefusesParametersOutOfRange"),
    ("a suite or a vault waits", [5], ""),
    ("a transaction is made again", [30], ""),
  ]

  @Test func eachRowHasItsNumbersAndItsTest() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let page = tests.deletingLastPathComponent().appending(
      path: "Sources/StorageCore/StorageCore.docc/Limits.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| What") }
    var sources = ""
    for case let file as URL in FileManager.default.enumerator(
      at: tests, includingPropertiesForKeys: nil)! where file.pathExtension == "swift"
    {
      sources += try String(contentsOf: file, encoding: .utf8)
    }
    #expect(rows.count == Self.rows.count)
    for (line, expected) in zip(rows, Self.rows) {
      let text = line.replacing(#/``[^`]*``|`[^`]*`/#, with: "")
      #expect(line.hasPrefix("| \(expected.row)"), "\(line)")
      let numbers = text.matches(of: #/[0-9][0-9,]*/#).compactMap {
        Int($0.output.replacing(",", with: ""))
      }
      #expect(numbers == expected.numbers, "\(line)")
      #expect(expected.test.isEmpty || sources.contains("func \(expected.test)("), "\(line)")
    }
  }
}
