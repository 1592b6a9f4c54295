import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import StorageFoundation
import TestSupport
import Testing

/// Plain values that change, or look different, while they are moved.
@Suite struct MigrationTests {
  /// Plain values in memory, behind the calls that a migration makes.
  private final class PlainDefaults: UserDefaults {
    var values: [String: Any] = [:]
    /// What another process does, as the next `synchronize()` shows it.
    var others: (PlainDefaults) -> Void = { _ in }

    override func object(forKey key: String) -> Any? { values[key] }
    override func removeObject(forKey key: String) { values[key] = nil }
    override func synchronize() -> Bool {
      others(self)
      others = { _ in }
      return true
    }
  }

  private let folder = TemporaryFolder()
  private let storage: UserDefaultsStorage
  private let plain: PlainDefaults

  init() throws {
    storage = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
    plain = try #require(PlainDefaults(suiteName: "unused"))
  }

  @Test func aPlainValueThatWasChangedSinceItWasReadIsNotRemoved() throws {
    plain.values = ["changed": "old", "same": "kept"]
    plain.others = { $0.values["changed"] = "new" }
    let result = try storage.migrate(from: plain, keys: ["changed", "same"])
    #expect(result.moved == ["same"])
    #expect(result.conflicting == ["changed"])
    #expect(plain.values.keys.sorted() == ["changed"])
    #expect(plain.values["changed"] as? String == "new")
    #expect(try storage.load(forKey: "changed") == "old")
  }

  @Test func aPlainValueThatSomebodyRemovedIsMoved() throws {
    plain.values = ["key": "value"]
    plain.others = { $0.values["key"] = nil }
    #expect(try storage.migrate(from: plain, keys: ["key"]).moved == ["key"])
    #expect(try storage.load(forKey: "key") == "value")
  }

  /// UserDefaults gives a Float as such until its file is read again, and then as a Double.
  @Test func aFloatThatComesBackAsADoubleIsNoChange() throws {
    plain.values = ["ratio": Float(0.1)]
    plain.others = { $0.values["ratio"] = Double(Float(0.1)) }
    #expect(try storage.migrate(from: plain, keys: ["ratio"]).moved == ["ratio"])
    #expect(plain.values.isEmpty)
    #expect(try storage.load(forKey: "ratio") == Float(0.1))
    plain.values = ["ratio": 0.1]
    #expect(try storage.migrate(from: plain, keys: ["ratio"]).conflicting == ["ratio"])
  }
  @Test func ofSeveralMigrationsAtOnceOneMovesEachKeyAndNoneSaysMore() throws {
    let name = "migrations-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    let keys = (0..<20).map { "key \($0)" }
    for key in keys { defaults.set("plain \(key)", forKey: key) }
    let folder = folder
    let reports = Lock<[DefaultsMigration]>([])
    let failures = Lock<[String]>([])
    Threads.run(6) { _ in
      do {
        // As two parts of a program would, each with objects of its own.
        let storage = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
        let own = UserDefaults(suiteName: name) ?? .standard
        let report = try storage.migrate(from: own, keys: keys)
        reports.withLock { $0.append(report) }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    let all = reports.withLock { $0 }
    #expect(all.flatMap(\.moved).sorted() == keys.sorted(), "each key by one")
    #expect(all.allSatisfy { $0.conflicting.isEmpty })
    #expect(all.allSatisfy { ($0.moved + $0.absent).sorted() == keys.sorted() })
    for key in keys {
      #expect(try storage.load(forKey: key) == "plain \(key)")
      #expect(defaults.object(forKey: key) == nil)
    }
  }

  @Test func aKeyThatIsGivenTwiceIsReportedOnce() throws {
    plain.values = ["key": "value"]
    let result = try storage.migrate(from: plain, keys: ["key", "none", "key", "none"])
    #expect(result.moved == ["key"] && result.absent == ["none"])
    #expect(result.conflicting.isEmpty)
  }
}
