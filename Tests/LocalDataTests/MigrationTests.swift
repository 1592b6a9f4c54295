import Foundation
import LocalData
import TestSupport
import Testing

@Suite struct MigrationTests {
  private let folder = TestFolder()
  private let old = key("old", .userDefaults)
  private let new = key("new", .keychain(service: "s"))

  private struct Modern: StorageKey {
    typealias Value = Int
    let name = "count"
    let domain: StorageDomain = .fileSystem(directory: .documents)
    let owner = "Tests"
    let description = "A number that was a text."
    var migration: StorageMigration? {
      .transform(from: key("count", .userDefaults), to: self) { Int($0) }
    }
  }

  @Test func aKeyNamesWhereItsValueWas() async throws {
    let router = folder.router()
    try await router.set("42", for: key("count", .userDefaults))
    #expect(try await router.migrate(for: Modern(), dryRun: true).moved.count == 1)
    #expect(try await router.get(Modern()) == nil)
    #expect(try await router.migrate(for: Modern()).moved.count == 1)
    #expect(try await router.get(Modern()) == 42)
    #expect(try await router.get(key("count", .userDefaults)) == nil)
    #expect(try await router.migrate(for: Modern()).alreadyThere.count == 1)
  }

  @Test func differentValuesAreAConflictThatNamesBothAndLosesNone() async throws {
    let router = folder.router()
    try await router.set("one-secret", for: old)
    try await router.set("two-secret", for: new)
    for isDry in [true, false] {
      let error = try #require(
        await error { try await router.migrate(.move(from: old, to: new), dryRun: isDry) })
      #expect(error.code == .conflict)
      #expect(error.message.contains("userDefaults/old") && error.message.contains("(s)/new"))
      #expect(!"\(error)".contains("secret"))
    }
    #expect(try await router.get(old) == "one-secret")
    #expect(try await router.get(new) == "two-secret")
    try await router.migrate(.move(from: old, to: new).preferring(.destination))
    #expect(try await router.get(old) == nil)
    #expect(try await router.get(new) == "two-secret")
    try await router.set("three", for: old)
    try await router.reopenMigration(.move(from: old, to: new))
    try await router.migrate(.move(from: old, to: new).preferring(.source))
    #expect(try await router.get(old) == nil)
    #expect(try await router.get(new) == "three")
  }

  @Test func theSameValueOnBothSidesStaysOnce() async throws {
    let router = folder.router()
    try await router.set("same", for: old)
    try await router.set("same", for: new)
    #expect(try await router.migrate(.move(from: old, to: new)).alreadyThere.count == 1)
    #expect(try await router.get(old) == nil)
    #expect(try await router.get(new) == "same")
  }

  @Test func whatCannotBeMovedIsLeft() async throws {
    struct Secret: Error, CustomStringConvertible { let description = "hunter2" }
    let router = folder.router()
    try await router.set("1", for: old)
    let failing = StorageMigration.transform(from: old, to: new) { _ in throw Secret() }
    let error = try #require(await error { try await router.migrate(failing) })
    #expect(error.code == .invalid && !"\(error)".contains("hunter2"))
    let refusing = StorageMigration.move(from: old, to: new).when { throw Secret() }
    #expect(await code { try await router.migrate(refusing) } == .invalid)
    let never = StorageMigration.move(from: old, to: new).when { false }
    #expect(try await router.migrate(never).entries(.skipped).count == 1)
    let plain = key("new", .keychain(service: "s"), .none)
    #expect(
      await code { try await router.migrate(.move(from: old, to: plain)) } == .unsupported)
    #expect(await code { try await router.migrate(.move(from: old, to: old)) } == .invalid)
    #expect(
      await code { try await router.migrate(.combine([], into: new) { _ in "x" }) } == .invalid)
    let twice = StorageMigration.combine([.key(old), .key(old)], into: new) { _ in "x" }
    #expect(await code { try await router.migrate(twice) } == .duplicate)
    #expect(try await router.get(old) == "1")
    #expect(try await router.get(new) == nil)
  }

  @Test func aDamagedSourceIsNamedAndLeft() async throws {
    let file = key("file", .fileSystem(directory: .documents))
    let router = folder.router()
    try await router.set("1", for: file)
    let url = folder.url.appendingPathComponent("data/com.example.app/Documents/file")
    var bytes = try Data(contentsOf: url)
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: url)
    let migration = StorageMigration.move(from: file, to: new)
    let error = try #require(await error { try await router.migrate(migration) })
    #expect(error.code == .damaged && error.key == "file")
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try await router.get(new) == nil)
  }

  @Test func anUnregisteredDestinationIsRefused() async throws {
    struct Keys { let other = key("other", .userDefaults) }
    let router = folder.router()
    try await router.set("1", for: old)
    try router.registerKeys(Keys())
    #expect(
      await code { try await router.migrate(.move(from: old, to: new)) } == .unregisteredKey)
  }

  @Test func manyKeysOfAllDomainsMoveInOneRunWithProgress() async throws {
    let router = folder.router()
    let domains = Combination.plainDomains + Combination.sealingDomains
    let count = Depth.count(1_000, day: 200)
    var migrations: [StorageMigration] = []
    for index in 0..<count {
      let source = key("k\(index)", domains[index % domains.count])
      try await router.set("\(index)", for: source)
      migrations.append(
        .move(from: source, to: key("m\(index)", domains[(index + 1) % domains.count])))
    }
    let last = Lock<[Int]>([])
    let report = await router.migrateAll(migrations) { progress in
      last.withLock { $0 = [progress.done, progress.total] }
    }
    #expect(report.moved.count == count && report.isComplete)
    #expect(last.withLock { $0 } == [count, count])
    for index in 0..<count {
      let moved = key("m\(index)", domains[(index + 1) % domains.count])
      #expect(try await router.get(moved) == "\(index)")
      #expect(try await router.get(key("k\(index)", domains[index % domains.count])) == nil)
    }
  }

  @Test func aCancelledRunStartsNoOtherMigration() async throws {
    let router = folder.router()
    var migrations: [StorageMigration] = []
    for index in 0..<5 {
      try await router.set("\(index)", for: key("k\(index)", .userDefaults))
      migrations.append(
        .move(from: key("k\(index)", .userDefaults), to: key("m\(index)", .userDefaults)))
    }
    let planned = migrations
    let running = Lock<Task<StorageMigrationReport, Never>?>(nil)
    let task = Task {
      while running.withLock({ $0 == nil }) { await Task.yield() }
      return await router.migrateAll(planned) { _ in running.withLock { $0?.cancel() } }
    }
    running.withLock { $0 = task }
    let report = await task.value
    #expect(report.moved.count == 1 && report.entries(.notStarted).count == 4)
    #expect(await router.migrateAll(migrations).isComplete)
  }

  @Test func aFormerConfigurationIsMovedFrom() async throws {
    struct Keys {
      let file = key("file", .fileSystem(directory: .documents))
      let secret = key("secret", .keychain(service: nil), .keychain(accessibility: .always))
    }
    try await folder.router().set("1", for: Keys().file)
    try await folder.router().set("2", for: Keys().secret)
    let router = folder.router(
      configuration: StorageConfiguration(defaultKeychainService: "other", keychain: .vault))
    await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    try router.registerKeys(Keys())
    #expect(await code { _ = try await router.get(Keys().file) } == .configurationConflict)
    let wrong = FormerConfiguration(files: FileStorageConfiguration(subDirectory: "Never"))
    #expect(
      await code { try await router.migrate(for: Keys().file, from: wrong) }
        == .configurationConflict)
    let former = FormerConfiguration(
      storage: StorageConfiguration(keychain: .vault), files: FileStorageConfiguration())
    #expect(await router.migrateAll(from: former, dryRun: true).moved.count == 2)
    #expect(await code { _ = try await router.get(Keys().file) } == .configurationConflict)
    #expect(await router.migrateAll(from: former).moved.count == 2)
    #expect(try await router.get(Keys().file) == "1")
    #expect(try await router.get(Keys().secret) == "2")
    #expect(await router.migrateAll(from: former).alreadyThere.count == 2)
  }

  @Test func aDestinationThatIsNoValueIsNotPreferredToTheSource() async throws {
    let file = key("letter", .fileSystem(directory: .documents), .none)
    let router = folder.router()
    try await router.set("1", for: old)
    try await router.set("2", for: file)
    let url = folder.url.appendingPathComponent("data/com.example.app/Documents/letter")
    try Data("{nonsense".utf8).write(to: url)
    let migration = StorageMigration.move(from: old, to: file).preferring(.destination)
    for isDry in [true, false] {
      let found = await code { try await router.migrate(migration, dryRun: isDry) }
      #expect([.damaged, .typeMismatch].contains(found))
    }
    #expect(try await router.get(old) == "1")
    #expect(try Data(contentsOf: url) == Data("{nonsense".utf8))
  }

  @Test(
    arguments: Depth.cases([true, false], day: 1),
    [["wrong", "right"], ["right", "right", "wrong"]])
  func aFailedReadBackKeepsTheSource(_ isInPlace: Bool, _ answers: [String]) async throws {
    let source =
      isInPlace ? key("new", .keychain(service: "s"), .keychain(accessibility: .always)) : old
    let destination = key(
      "new", .keychain(service: "s"),
      .keychain(accessibility: .afterFirstUnlock, accessControl: .devicePasscode))
    let script = Lock(["right"])
    let router = folder.router()
    await router.registerPasscode {
      try SecureBytes(Array(script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.utf8))
    }
    try await router.set("1", for: source)
    script.withLock { $0 = answers }
    let migration = StorageMigration.move(from: source, to: destination)
    #expect(await code { try await router.migrate(migration) } == .wrongKey)
    script.withLock { $0 = ["right"] }
    let isReplaced = isInPlace && answers.count == 3
    // What was replaced in its place had been opened before, and is finished by the next run.
    if !isReplaced { #expect(try await folder.router().get(source) == "1") }
    #expect(try await router.migrate(migration).moved.count == 1)
    #expect(try await router.get(destination) == "1")
    if !isInPlace { #expect(try await router.get(source) == nil) }
  }
}
