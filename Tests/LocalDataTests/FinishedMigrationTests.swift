import DefaultsBackend
import Foundation
import LocalData
import TestSupport
import Testing

/// What a thief who can write to a plain place gets from a migration that is over.
@Suite struct FinishedMigrationTests {
  private let folder = TestFolder()
  private let old = key("role", .fileSystem(directory: .documents), .none)
  private let new = key("role", .keychain(service: "s"))
  private var file: URL {
    folder.url.appendingPathComponent("data/com.example.app/Documents/role")
  }

  private struct Role: StorageKey {
    typealias Value = String
    let name = "role"
    let domain: StorageDomain = .keychain(service: "s")
    let owner = "Tests"
    let description = "A role that was in a plain file."
    var migration: StorageMigration? {
      .move(from: key("role", .fileSystem(directory: .documents), .none), to: self)
    }
  }
  private struct Keys { let role = Role() }

  private func plant(_ value: String, _ file: URL? = nil) throws {
    let file = file ?? self.file
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data("\"\(value)\"".utf8).write(to: file)
  }

  @Test func aSourceThatWasCombinedIsNotReadByAnotherMigration() async throws {
    let (other, both) = (key("other", .userDefaults, .none), key("both", .keychain(service: "s")))
    try await folder.router().set("user", for: old)
    let old = old
    let combined = StorageMigration.combine([.key(old), .key(other)], into: both) {
      try $0.value(of: old) ?? $0.value(of: other)
    }
    try await folder.router().migrate(combined)
    try await folder.router().remove(both)
    try plant("admin")
    let move = StorageMigration.move(from: old, to: both)
    #expect(await code { try await folder.router().migrate(move) } == .conflict)
    #expect(try await folder.router().get(both) == nil)
  }

  private enum Way: CaseIterable { case moved, absent, alreadyThere, preferred }

  @Test(arguments: Way.allCases)
  private func aSourceThatComesBackIsAConflictAndNeverTheValue(_ way: Way) async throws {
    let router = folder.router()
    try router.registerKeys(Keys())
    if way == .moved || way == .preferred { try await folder.router().set("user", for: old) }
    if way == .alreadyThere || way == .preferred { try await router.set("user2", for: Role()) }
    let migration = StorageMigration.move(from: old, to: Role())
    if way == .preferred {
      try await router.migrate(migration.preferring(.destination))
    } else {
      try await router.migrate(for: Role())
    }
    let value = try await router.get(Role())
    // The value may be gone, too: a removed one is not replaced by a planted one.
    for isRemoved in [false, true] {
      if isRemoved { try await router.remove(Role()) }
      try plant("admin")
      let next = folder.router()
      try next.registerKeys(Keys())
      for isDry in [true, false] {
        let error = try #require(
          await error { try await next.migrate(for: Role(), dryRun: isDry) })
        #expect(error.code == .conflict && error.message.contains("reopenMigration"))
        #expect(!"\(error)".contains("admin"))
      }
      #expect(
        await code { try await next.migrate(migration.preferring(.source)) } == .conflict)
      let report = await next.migrateAll()
      #expect(report.failed.first?.error?.code == .conflict && !report.isComplete)
      #expect(try await next.get(Role()) == (isRemoved ? nil : value))
      #expect(try Data(contentsOf: file) == Data("\"admin\"".utf8))
    }
    // The program may say that the value is its own.
    try await router.reopenMigration(for: Role())
    #expect(try await router.migrate(for: Role()).moved.count == 1)
    #expect(try await router.get(Role()) == "admin")
    try plant("admin2")
    #expect(await code { try await router.migrate(for: Role()) } == .conflict)
  }

  @Test func aMigrationThatACombineOrATransformFinishedIsOver() async throws {
    let (first, last) = (key("first", .userDefaults, .none), key("last", .userDefaults, .none))
    let combine = StorageMigration.combine([.key(first), .key(last)], into: new) { values in
      "\(try values.value(of: first) ?? "") \(try values.value(of: last) ?? "")"
    }
    let router = folder.router()
    try await router.set("Ada", for: first)
    #expect(try await router.migrate(combine).moved.count == 1)
    try await router.set("Lovelace", for: last)
    #expect(await code { try await router.migrate(combine) } == .conflict)
    #expect(try await router.get(new) == "Ada ")
    let other = key("other", .keychain(service: "s"))
    let transform = StorageMigration.transform(from: old, to: other) { $0 + "!" }
    try plant("user")
    #expect(try await router.migrate(transform).moved.count == 1)
    try plant("admin")
    #expect(await code { try await router.migrate(transform) } == .conflict)
    #expect(try await router.get(other) == "user!")
  }

  @Test func whatWasNotTriedIsNotFinished() async throws {
    let router = folder.router()
    let move = StorageMigration.move(from: old, to: new)
    // A condition, a dry run, a transformation that gives nothing, and a failure.
    #expect(try await router.migrate(move.when { false }).entries(.absent).count == 1)
    #expect(try await router.migrate(move, dryRun: true).entries(.absent).count == 1)
    try plant("user")
    #expect(try await router.migrate(move.when { false }).entries(.skipped).count == 1)
    let none = StorageMigration.transform(from: old, to: new) { _ in nil }
    #expect(try await router.migrate(none).entries(.skipped).count == 1)
    struct Failure: Error {}
    let failing = StorageMigration.transform(from: old, to: new) { _ in throw Failure() }
    #expect(await code { try await router.migrate(failing) } == .invalid)
    #expect(try await router.migrate(move).moved.count == 1)
    #expect(try await router.get(new) == "user")
  }

  @Test func aValueThatIsPlantedInThePlaceOfASealedOneIsNotSealed() async throws {
    let plain = key("role", .fileSystem(directory: .documents), .none)
    let sealed = key("role", .fileSystem(directory: .documents))
    let move = StorageMigration.move(from: plain, to: sealed)
    let router = folder.router()
    // Nothing was ever there.
    #expect(try await router.migrate(move).entries(.absent).count == 1)
    try plant("admin")
    #expect(await code { try await router.migrate(move) } == .conflict)
    #expect(await code { _ = try await router.get(sealed) } == .damaged)
    // Something is there, and sealed.
    try await router.reopenMigration(move)
    #expect(try await router.migrate(move).moved.count == 1)
    try plant("admin2")
    #expect(try await folder.router().migrate(move).alreadyThere.count == 1)
    #expect(await code { _ = try await folder.router().get(sealed) } == .damaged)
    #expect(try Data(contentsOf: file) == Data("\"admin2\"".utf8))
  }

  @Test func aFormerConfigurationIsReadOnce() async throws {
    struct Plain { let file = key("role", .fileSystem(directory: .documents), .none) }
    let former = FormerConfiguration(files: FileStorageConfiguration())
    let router = folder.router()
    await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    try router.registerKeys(Plain())
    #expect(await router.migrateAll(from: former).entries(.absent).count == 1)
    try plant("admin")
    #expect(await router.migrateAll(from: former).failed.first?.error?.code == .conflict)
    #expect(try await router.get(Plain().file) == nil)
    try await router.reopenMigration(for: Plain().file, from: former)
    #expect(await router.migrateAll(from: former).moved.count == 1)
    #expect(try await router.get(Plain().file) == "admin")
  }

  @Test func aConfigurationMayChangeBackAndForth() async throws {
    let (flat, sub) = (FileStorageConfiguration(), FileStorageConfiguration(subDirectory: "Sub"))
    let file = key("role", .fileSystem(directory: .documents))
    try await folder.router().set("user", for: file)
    for (former, now) in [(flat, sub), (sub, flat), (flat, sub), (sub, flat)] {
      let router = folder.router()
      await router.updateFileStorageConfiguration(now)
      let report = try await router.migrate(for: file, from: FormerConfiguration(files: former))
      #expect(report.moved.count == 1)
      #expect(try await router.get(file) == "user")
    }
  }

  @Test func killedAtAnyStepItAcceptsNothingAfterTheRunThatFinishes() async throws {
    let helper = HelperProgram("LocalDataTestChild")
    for step in 1...40 {
      let folder = TestFolder()
      let theme = key("theme", .userDefaults, .none)
      try await folder.router().set("dark", for: theme)
      let said = try helper.run("migrate", folder.path, "keys", "\(step)")
      if said.isEmpty { _ = try helper.run("migrate", folder.path, "keys", "0") }
      try await folder.router().set("planted", for: theme)
      let last = try helper.run("migrate", folder.path, "keys", "0")
      #expect(last.contains { $0.hasPrefix("failed") && $0.contains("conflict") }, "step \(step)")
      let moved = key("theme", .keychain(service: "new"))
      #expect(try await folder.router().get(moved) == "dark", "step \(step)")
      guard said.isEmpty else { return }
    }
    Issue.record("the migration has more steps than were tested")
  }
}
