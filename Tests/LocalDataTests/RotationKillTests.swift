import Foundation
import LocalData
import TestSupport
import Testing

@Suite struct RotationKillTests {
  private typealias Application = RotatedApplication
  private let helper = HelperProgram("LocalDataTestChild")

  private func child(_ folder: TestFolder, _ step: Int) throws -> [String] {
    try helper.run("rotate", folder.path, "\(step)", "")
  }

  @Test func killedAfterAnyStepItGoesOn() async throws {
    for step in Depth.steps(1...80) {
      let application = RotatedApplication()
      try await application.fillAfterTheft("before")
      let said = try child(application.folder, step)
      let both = application.router(Application.new, Application.old)
      try await application.requireValues("before", both, "killed after \(step)")
      if said.isEmpty {
        let last = try child(application.folder, 0)
        #expect(last.count == 1 && last[0].hasPrefix("steps"), "\(step): \(last)")
      }
      try await application.requireValues("before", application.router(Application.new), "\(step)")
      for (key, file) in application.plainFiles {
        try application.copy(file, from: application.stolen, to: application.folder)
        let owner = application.router(Application.new)
        #expect(await code { _ = try await owner.get(key) } == .wrongKey)
      }
      #expect(!application.folder.files().contains { $0.hasSuffix(".group.rotation") })
      guard said.isEmpty else {
        #expect(step > 20, "steps went untested")
        return
      }
    }
    Issue.record("the rotation has more steps than were tested")
  }

  @Test func killedAtRandomItGoesOn() async throws {
    let application = RotatedApplication()
    try await application.fill("before", application.router(Application.old))
    let both = application.router(Application.new, Application.old)
    for _ in 0..<15 {
      let process = try helper.start(["rotate", application.folder.path, "0", ""])
      try await Task.sleep(for: .milliseconds(Int.random(in: 5...150)))
      process.kill()
      _ = try process.lines()
      try await application.requireValues("before", both)
    }
    #expect(try child(application.folder, 0).count == 1)
    try await application.requireValues("before", application.router(Application.new))
  }

  @Test func otherProcessesThatWriteMeanwhileLoseNothing() async throws {
    let application = RotatedApplication()
    try await application.fill("before", application.router(Application.old))
    let writers = try (0..<2).map { _ in
      try helper.start(["rotate", application.folder.path, "count", "40"])
    }
    let owner = application.router(Application.old)
    #expect(try await owner.rotate(openedBy: Application.new).isComplete)
    #expect(try await owner.rotate(names: true).isComplete)
    for writer in writers { #expect(try writer.lines() == ["done"]) }
    #expect(try await owner.rotate().isComplete)
    let group = StorageDomain.appGroupUserDefaults(identifier: "group.test")
    for domain in [.userDefaults, .fileSystem(directory: .documents), group] {
      let counter = key("count", domain, of: Int.self)
      #expect(try await application.router(Application.new).get(counter) == 80)
    }
  }

  /// Migrations that were killed: their journals know the values by what is stored.
  @Test func anInterruptedMigrationIsFinishedAfterwards() async throws {
    for step in Depth.steps(1...30) {
      let folder = TestFolder()
      let old = folder.router()
      let group = StorageDomain.appGroupFileSystem(id: "group.test", directory: .documents)
      try await old.set("dark", for: key("theme", .userDefaults, .none))
      try await old.set("7", for: key("id", .fileSystem(directory: .documents)))
      try await old.set("Ada", for: key("first", .userDefaults))
      try await old.set("Lovelace", for: key("last", .keychain(service: "old")))
      let said = try helper.run("migrate", folder.path, "keys", "\(step)")
      let report = try await folder.router().rotate()
      #expect(report.isComplete, "\(step): \(report)")
      #expect(try helper.run("migrate", folder.path, "keys", "0").count == 1, "\(step)")
      let new = folder.router()
      #expect(try await new.get(key("theme", .keychain(service: "new"))) == "dark")
      #expect(try await new.get(key("name", group)) == "Ada Lovelace", "\(step)")
      let id = try await new.get(key("id", .encryptedFileSystem(directory: .documents)))
      #expect(id?.hasPrefix("7/") == true, "\(step)")
      guard said.isEmpty else { return }
    }
    Issue.record("the migration has more steps than were tested")
  }
}
