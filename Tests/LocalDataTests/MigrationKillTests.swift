import Foundation
import LocalData
import TestSupport
import Testing

@Suite struct MigrationKillTests {
  private let helper = HelperProgram("LocalDataTestChild")
  private let group = StorageDomain.appGroupFileSystem(id: "group.test", directory: .documents)

  private func child(_ folder: TestFolder, _ what: String, _ step: Int) throws -> [String] {
    try helper.run("migrate", folder.path, what, "\(step)")
  }

  private func fill(_ folder: TestFolder) async throws {
    let router = folder.router()
    try await router.set("dark", for: key("theme", .userDefaults, .none))
    try await router.set("1", for: key("id", .fileSystem(directory: .documents)))
    try await router.set("Ada", for: key("first", .userDefaults))
    try await router.set("Lovelace", for: key("last", .keychain(service: "old")))
  }

  /// That each value is at its source or at its destination, and what is there is whole.
  private func requireNothingLost(_ folder: TestFolder) async throws {
    let router = folder.router()
    let theme = try await router.get(key("theme", .userDefaults, .none))
    let movedTheme = try await router.get(key("theme", .keychain(service: "new")))
    #expect(theme ?? movedTheme == "dark" && movedTheme ?? theme == "dark")
    let id = try await router.get(key("id", .fileSystem(directory: .documents)))
    let movedID = try await router.get(key("id", .encryptedFileSystem(directory: .documents)))
    #expect((id == "1" || id == nil) && (movedID ?? "1/").hasPrefix("1/"))
    #expect(id != nil || movedID != nil)
    let first = try await router.get(key("first", .userDefaults))
    let last = try await router.get(key("last", .keychain(service: "old")))
    let name = try await router.get(key("name", group))
    #expect(name == "Ada Lovelace" || (name == nil && first == "Ada" && last == "Lovelace"))
  }

  private func requireMoved(_ folder: TestFolder) async throws {
    let router = folder.router()
    #expect(try await router.get(key("theme", .keychain(service: "new"))) == "dark")
    let id = try await router.get(key("id", .encryptedFileSystem(directory: .documents)))
    #expect(id?.hasPrefix("1/") == true)
    #expect(try await router.get(key("name", group)) == "Ada Lovelace")
    #expect(try await router.get(key("theme", .userDefaults, .none)) == nil)
    #expect(try await router.get(key("id", .fileSystem(directory: .documents))) == nil)
    #expect(try await router.get(key("first", .userDefaults)) == nil)
    #expect(try await router.get(key("last", .keychain(service: "old"))) == nil)
  }

  @Test func killedAtEveryStepItFinishesTheNextTime() async throws {
    for step in Depth.steps(1...30) {
      let folder = TestFolder()
      try await fill(folder)
      let said = try child(folder, "keys", step)
      try await requireNothingLost(folder)
      if said.isEmpty { #expect(try child(folder, "keys", 0).first?.hasPrefix("steps") == true) }
      try await requireMoved(folder)
      guard said.isEmpty else {
        #expect(step > 20, "steps went untested")
        return
      }
    }
    Issue.record("the migration has more steps than were tested")
  }

  @Test func killedAtRandomItFinishesTheNextTime() async throws {
    let folder = TestFolder()
    try await fill(folder)
    for _ in 0..<15 {
      let process = try helper.start(["migrate", folder.path, "keys", "0"])
      try await Task.sleep(for: .milliseconds(Int.random(in: 5...120)))
      process.kill()
      _ = try process.lines()
      try await requireNothingLost(folder)
    }
    #expect(try child(folder, "keys", 0).count == 1)
    try await requireMoved(folder)
  }

  /// That each value is read under the former configuration or under the new one, and is absent in
  /// neither.
  private func requireReadable(_ folder: TestFolder) async throws {
    let documents = StorageDomain.fileSystem(directory: .documents)
    let new = folder.router()
    await new.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    await new.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyAccount: "New"))
    for (key, value) in [
      (key("file", documents), "1"), (key("setting", .userDefaults), "2"),
      (key("plain", documents, .none), "3"),
    ] {
      var found: [String?] = []
      for router in [folder.router(), new] {
        do throws(StorageError) {
          found.append(try await router.get(key))
        } catch {
          // In its place a value is under another key for the moment before that is recorded.
          #expect([.configurationConflict, .wrongKey].contains(error.code), "\(key.name) \(error)")
        }
      }
      #expect(found == [value] || found.isEmpty && key.name == "setting", "\(key.name) \(found)")
    }
  }

  @Test func aChangedConfigurationSurvivesAKillAtEveryStep() async throws {
    let documents = StorageDomain.fileSystem(directory: .documents)
    for step in Depth.steps(1...30) {
      let folder = TestFolder()
      let old = folder.router()
      try await old.set("1", for: key("file", documents))
      try await old.set("2", for: key("setting", .userDefaults))
      try await old.set("3", for: key("plain", documents, .none))
      let said = try child(folder, "configuration", step)
      try await requireReadable(folder)
      if said.isEmpty { #expect(try child(folder, "configuration", 0).count == 1) }
      let new = folder.router()
      await new.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
      await new.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyAccount: "New"))
      #expect(try await new.get(key("file", documents)) == "1")
      #expect(try await new.get(key("setting", .userDefaults)) == "2")
      #expect(try await new.get(key("plain", documents, .none)) == "3")
      let root = "data/com.example.app/Documents/"
      #expect(!folder.files().contains(root + "file") && !folder.files().contains(root + "plain"))
      guard said.isEmpty else { return }
    }
    Issue.record("the migration has more steps than were tested")
  }
}
