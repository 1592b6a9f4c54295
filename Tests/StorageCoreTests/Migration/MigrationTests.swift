import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

@Suite struct MigrationTests {
  private struct User: Codable, Equatable { var name: String }

  private let from = OpenDelegate()
  private let to = OpenDelegate()
  private let source: DelegatedStorage
  private let destination: DelegatedStorage

  init() {
    source = .quiet(from, .key(.fresh))
    destination = .quiet(to, .key(.fresh), algorithm: .chaCha20Poly1305)
  }

  private func fill(_ storage: DelegatedStorage, count: Int) throws {
    for number in 0..<count { try storage.save(number, forKey: "k\(number)") }
  }

  /// Whether each of the numbers is in at least one of the two, and no other value is.
  private func areAllThere(_ count: Int) throws -> Bool {
    try (0..<count).allSatisfy { number in
      let values = try [source, destination].map { try $0.load(Int.self, forKey: "k\(number)") }
      return values == [number, nil] || values == [nil, number] || values == [number, number]
    }
  }

  // MARK: - What arrives

  @Test func valuesOfAllTypesArriveAndLeave() throws {
    let coding = CodableCoding.custom(
      "reversed", encode: { Data(try JSONEncoder().encode($0).reversed()) },
      decode: { try JSONDecoder().decode($0, from: Data($1.reversed())) })
    let date = Date(timeIntervalSinceReferenceDate: 0.1)
    try source.saveAll([
      "int8": Int8(-3), "text": "x\u{301}", "date": date, "list": [1, 2], "nan": Double.nan,
      "any": [1, "two", [3.0]] as [Any], "user": User(name: "u"),
    ])
    try source.save(encodable: User(name: "c"), forKey: "custom", coding: coding)
    try source.save(NSArray(array: ["archived"]), forKey: "object")
    try source.save(Data(repeating: 7, count: 3 << 20), forKey: "large")
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.copied == 10 && report.removed == 10)
    #expect(report.alreadyThere == 0 && report.unreadable == 0 && report.conflicts.isEmpty)
    #expect(try destination.load(Int8.self, forKey: "int8") == -3)
    #expect(try destination.load(String.self, forKey: "text").map { Array($0.utf8).count } == 3)
    #expect(try destination.load(Date.self, forKey: "date") == date)
    #expect(try destination.load([Int].self, forKey: "list") == [1, 2])
    #expect(try destination.load(Double.self, forKey: "nan")?.isNaN == true)
    #expect((destination.value(forKey: "any") as [Any]?)?.count == 3)
    #expect(try destination.load(User.self, forKey: "user") == User(name: "u"))
    #expect(
      try destination.load(decodable: User.self, forKey: "custom", coding: coding)
        == User(name: "c"))
    #expect(try destination.load(NSArray.self, forKey: "object") == ["archived"])
    #expect(try destination.load(Data.self, forKey: "large")?.count == 3 << 20)
    #expect(try from.records().isEmpty)
  }

  @Test func copyingLeavesTheSourceAsItWas() throws {
    try fill(source, count: 10)
    let before = try from.records()
    let report = try SecureStorage.migrate(
      from: source, to: destination, removingFromSource: false)
    #expect(report.copied == 10 && report.removed == 0)
    #expect(try from.records() == before)
    #expect(try destination.keys().count == 10)
  }

  @Test func thousandsOfValuesGoInFewCommits() throws {
    try fill(source, count: 3_000)
    let before = from.commits
    var told: [Int] = []
    let report = try SecureStorage.migrate(from: source, to: destination) { done, total in
      #expect(total == 3_000)
      told.append(done)
    }
    #expect(report.copied == 3_000 && report.removed == 3_000)
    #expect(to.commits < 20 && from.commits - before < 20)
    #expect(told == told.sorted() && told.count > 5 && told.last == 3_000)
    #expect(try areAllThere(3_000))
  }

  @Test func anEmptySourceMakesNothing() throws {
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report == MigrationReport())
    #expect(to.headerChanges == 0 && from.headerChanges == 0)
  }

  // MARK: - What is there already

  @Test func anEqualValueIsNotWrittenAgainAndLeavesTheSource() throws {
    try source.save("same", forKey: "k")
    try destination.save("same", forKey: "k")
    let before = try to.records()
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.alreadyThere == 1 && report.copied == 0 && report.removed == 1)
    #expect(try to.records() == before)
    #expect(try from.records().isEmpty)
  }

  @Test func anotherValueStaysAndSoDoesTheSources() throws {
    try source.saveAll(["k": "ours", "type": 1, "free": 1])
    try destination.saveAll(["k": "theirs", "type": Int8(1)])
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.conflicts.sorted() == ["k", "type"])
    #expect(report.copied == 1 && report.removed == 1)
    #expect(try source.load(forKey: "k") == "ours")
    #expect(try destination.load(forKey: "k") == "theirs")
  }

  @Test func anotherValueIsReplacedWhenThatIsAskedFor() throws {
    try source.save("ours", forKey: "k")
    try destination.save("theirs", forKey: "k")
    let report = try SecureStorage.migrate(from: source, to: destination, onConflict: .replace)
    #expect(report.copied == 1 && report.conflicts.isEmpty && report.removed == 1)
    #expect(try destination.load(forKey: "k") == "ours")
  }

  @Test(arguments: [MigrationConflictPolicy.keepBoth, .replace])
  func whatCantBeOpenedInTheDestinationIsNeverReplaced(_ policy: MigrationConflictPolicy) throws {
    try source.save("ours", forKey: "k")
    try destination.save("theirs", forKey: "k")
    let (name, record) = try to.onlyRecord()
    try to.replace(name, with: record.dropLast() + [record.last! ^ 1])
    let before = try to.records()
    let report = try SecureStorage.migrate(from: source, to: destination, onConflict: policy)
    #expect(report.conflicts == ["k"] && report.removed == 0)
    #expect(try to.records() == before)
    #expect(try source.load(forKey: "k") == "ours")
  }

  @Test func whatCantBeOpenedInTheSourceStaysAndIsCounted() throws {
    let key = SymmetricKey.fresh
    let source = DelegatedStorage.quiet(from, .key(key))
    try source.saveAll(["a": 1, "b": 2, "c": 3])
    try from.replace(try #require(try from.records().keys.first), with: [1, 2, 3])
    try DelegatedStorage.quiet(from, .key(key), tag: "other").save(4, forKey: "tagged")
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.unreadable == 2)
    #expect(report.copied == 2 && report.removed == 2)
    #expect(try from.records().count == 2)
  }

  // MARK: - What is refused

  @Test func aStoreIsNotMigratedOntoItself() throws {
    let key = SymmetricKey.fresh
    let one = DelegatedStorage.quiet(from, .key(key))
    try one.save("kept", forKey: "k")
    for other in [
      one, DelegatedStorage.quiet(from, .key(key)),
      DelegatedStorage.quiet(from, .key(key), tag: "other"),
    ] {
      for policy in [MigrationConflictPolicy.keepBoth, .replace] {
        #expect(
          code { try SecureStorage.migrate(from: one, to: other, onConflict: policy) } == .invalid)
      }
    }
    #expect(try one.load(forKey: "k") == "kept")
  }

  @Test func aSourceThatCantListIsRefused() throws {
    let plain = DelegatedStorage.quiet(PlainDelegate(), .key(.fresh))
    try plain.save(1, forKey: "k")
    #expect(code { try SecureStorage.migrate(from: plain, to: destination) } == .unsupported)
    #expect(to.headerChanges == 0)
  }

  @Test func aSourceThatCantCompareIsCopiedAndNotEmptied() throws {
    let listing = DelegatedStorage.quiet(ListingDelegate(), .key(.fresh))
    try listing.save(1, forKey: "k")
    #expect(code { try SecureStorage.migrate(from: listing, to: destination) } == .unsupported)
    #expect(try destination.contains("k") == false)
    let report = try SecureStorage.migrate(
      from: listing, to: destination, removingFromSource: false)
    #expect(report.copied == 1)
    #expect(try listing.load(forKey: "k") == 1)
    #expect(try destination.load(forKey: "k") == 1)
  }

  @Test func aDestinationOfTheSimplestKindWillDo() throws {
    let plain = DelegatedStorage.quiet(PlainDelegate(), .key(.fresh))
    try source.saveAll(["new": 1, "same": 2, "other": 3])
    try plain.save(2, forKey: "same")
    try plain.save(4, forKey: "other")
    let report = try SecureStorage.migrate(from: source, to: plain)
    #expect(report.copied == 1 && report.alreadyThere == 1 && report.removed == 2)
    #expect(report.conflicts == ["other"])
    #expect(try plain.load(forKey: "other") == 4)
    let second = try SecureStorage.migrate(from: source, to: plain, onConflict: .replace)
    #expect(second.copied == 1 && second.removed == 1)
    #expect(try plain.load(forKey: "other") == 3)
  }

  // MARK: - Interruptions

  @Test func aMigrationThatStopsAnywhereLosesNothingAndIsFinishedByAnother() throws {
    let count = 600
    for (delegate, other) in [(to, from), (from, to)] {
      for commits in 0..<3 {
        try source.removeAll()
        try destination.removeAll()
        try fill(source, count: count)
        delegate.fail(afterCommits: commits)
        #expect(code { try SecureStorage.migrate(from: source, to: destination) } == .io)
        delegate.recover()
        other.recover()
        #expect(try areAllThere(count))
        let report = try SecureStorage.migrate(from: source, to: destination)
        #expect(report.conflicts.isEmpty && report.unreadable == 0)
        #expect(try from.records().isEmpty)
        #expect(try destination.keys().count == count)
        #expect(try areAllThere(count))
      }
    }
  }

  @Test func whatCantBeReadBackStaysInTheSource() throws {
    try source.save("kept", forKey: "k")
    let destination = FaultyStorage(errorClosure: { _ in })
    // The first read finds nothing; the second is the one that reads back.
    destination.faults.fail(.reads, with: .corruption, skipping: 1)
    let failure = error { try SecureStorage.migrate(from: source, to: destination) }
    #expect(failure?.code == .io && failure?.key == "k")
    #expect(try source.load(forKey: "k") == "kept")
    destination.faults.recover()
    #expect(try SecureStorage.migrate(from: source, to: destination).removed == 1)
    #expect(try destination.load(forKey: "k") == "kept")
  }

  @Test func aValueThatIsSavedInTheSourceMeanwhileStaysThere() throws {
    try fill(source, count: 10)
    let source = source
    // The first commit in the source is the one that removes.
    from.beforeNextCommit { try? source.save(99, forKey: "k3") }
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.copied == 10 && report.removed == 9)
    #expect(try source.keys() == ["k3"])
    #expect(try source.load(forKey: "k3") == 99)
    #expect(try SecureStorage.migrate(from: source, to: destination).conflicts == ["k3"])
  }

  @Test func aValueThatIsSavedInTheDestinationMeanwhileStaysThere() throws {
    try fill(source, count: 10)
    let destination = destination
    to.beforeNextCommit { try? destination.save(99, forKey: "k3") }
    let report = try SecureStorage.migrate(from: source, to: destination)
    #expect(report.conflicts == ["k3"] && report.copied == 9 && report.removed == 9)
    #expect(try destination.load(forKey: "k3") == 99)
    #expect(try source.load(forKey: "k3") == 3)
  }
}
