import Foundation
import LocalData
import Testing
import VaultBackend

@Suite struct RotationTests {
  private typealias Application = RotatedApplication
  private let application = RotatedApplication()
  private var folder: TestFolder { application.folder }

  private func rotated() async throws -> StorageRouter {
    try await application.fillAfterTheft("before")
    let owner = application.router(Application.old)
    let report = try await owner.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    #expect(report.keys.count == 2)
    try await application.requireValues("before", owner)
    return owner
  }

  @Test func aRouterThatKnewTheOldKeysFollows() async throws {
    try await application.fillAfterTheft("before")
    let other = application.router(Application.new, Application.old)
    try await application.requireValues("before", other)
    _ = try await application.router(Application.old).rotate(openedBy: Application.new)
    try await application.requireValues("before", other)
    for (key, file) in application.plainFiles {
      try application.copy(file, from: application.stolen, to: folder)
      #expect(await code { _ = try await other.get(key) } == .wrongKey, "\(key.domain)")
    }
    try await application.fill("after", other)
    try await application.requireValues("after", application.router(Application.new))
  }

  @Test func withItsOwnKeySourceTheMasterKeyAndTheNamesAreReplacedToo() async throws {
    try await application.fillAfterTheft("before")
    let report = try await application.router(Application.old).rotate(names: true)
    #expect(report.isComplete && report.keys.count == 2, "\(report)")
    try await application.requireValues("before", application.router(Application.old))
    for (key, file) in application.plainFiles {
      try application.copy(file, from: application.stolen, to: folder)
      #expect(
        await code { _ = try await application.router(Application.old).get(key) } == .wrongKey)
    }
  }

  /// The case of vaults that were rotated one by one.
  @Test func storesThatTheNewKeyOpensAlreadyGetNewRootKeys() async throws {
    try await application.fill("before", application.router(Application.old))
    for name in ["localdata.vault", "keychain.vault"] {
      let vault = VaultFiles.vault(folder.path + "/data/com.example.app/" + name, Application.old)
      _ = try vault.keyAdministration.rotate(openedBy: Application.new, names: true)
    }
    let owner = application.router(Application.new, Application.old)
    #expect(try await owner.rotate(openedBy: Application.new).isComplete)
    try await application.requireValues("before", application.router(Application.new))
  }

  // MARK: - While it runs

  @Test func aValueThatIsPlantedMeanwhileIsNeitherReadNorSealedAgain() async throws {
    try await application.fillAfterTheft("before")
    let (replaced, seen) = (Lock(0), Lock<[StorageError.Code?]>([]))
    let (application, other) = (application, application.router(Application.new, Application.old))
    let report = try await application.router(Application.old).runRotation(
      openedBy: Application.new
    ) { step in
      guard step == .replacedKey else { return }
      // The master key is replaced first, and the group's key after the values of the first are
      // sealed.
      let isOfGroup = replaced.withLock { count in
        count += 1
        return count == 2
      }
      for (key, file) in application.plainFiles where file.hasPrefix("groups") == isOfGroup {
        try? application.copy(file, from: application.stolen, to: application.folder)
        let property = Stored(key, router: other)
        do throws(StorageError) {
          let value = try property.load()
          Issue.record("\(key.domain) \(String(describing: value))")
        } catch {
          seen.withLock { $0.append(error.code) }
        }
      }
    }
    #expect(seen.withLock { $0 } == [.wrongKey, .wrongKey, .wrongKey, .wrongKey, .wrongKey])
    #expect(report.left.count == 5 && report.left.allSatisfy { $0.error.code == .wrongKey })
    let owner = application.router(Application.new)
    for (key, _) in application.plainFiles {
      #expect(await code { _ = try await owner.get(key) } == .wrongKey, "\(key.domain)")
      try await owner.set("mine", for: key)
      #expect(try await owner.get(key) == "mine")
    }
  }

  @Test func everyValueIsReadAndWrittenAtEveryStep() async throws {
    try await application.fill("before", application.router(Application.old))
    let other = application.router(Application.new, Application.old)
    let (application, written) = (application, Lock<[String: String]>([:]))
    let report = try await application.router(Application.old).runRotation(
      openedBy: Application.new
    ) { step in
      for (index, (key, _)) in application.keys.enumerated() {
        let property = Stored(key, router: other)
        do {
          let expected = written.withLock { $0[key.name] } ?? "before"
          #expect(try property.load() == expected, "\(key.domain) \(step)")
          guard index % 3 == 0 else { continue }
          try property.save("at \(step)")
          written.withLock { $0[key.name] = "at \(step)" }
        } catch {
          Issue.record("\(key.domain) \(step): \(error)")
        }
      }
    }
    #expect(report.isComplete, "\(report)")
    let owner = application.router(Application.new)
    for (key, _) in application.keys {
      #expect(try await owner.get(key) == written.withLock { $0[key.name] } ?? "before")
    }
  }

  // MARK: - What can't be sealed again

  @Test func aStoreThatDoesNotOpenIsRefusedBeforeAnythingChanges() async throws {
    try await application.fill("before", application.router(Application.old))
    let index = folder.path + "/data/com.example.app/Documents/.sealed/index.vault"
    try VaultFiles.vault(index, Application.old).keyAdministration.change(
      to: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    let owner = application.router(Application.old)
    #expect(await code { _ = try await owner.rotate(openedBy: Application.new) } == .wrongKey)
    for (key, _) in application.keys where key.name != "sealed" {
      #expect(try await application.router(Application.old).get(key) == "before")
    }
  }

  @Test func valuesOfKeysThatNoCatalogDeclaresAreSealedAgain() async throws {
    try await application.fill("before", application.router(Application.old))
    struct Keys {
      let document = key("document", .fileSystem(directory: .documents))
    }
    let owner = application.router(Application.old)
    try owner.registerKeys(Keys())
    #expect(try await owner.rotate(openedBy: Application.new).isComplete)
    try await application.requireValues("before", application.router(Application.new))
  }

  @Test func valuesOfOtherProgramsOfAGroupAreSealedAgain() async throws {
    let other = folder.router("com.example.other")
    let theirs = key("theirs", .appGroupFileSystem(id: "group.test", directory: .caches))
    let entry = key("CACHEDIR.TAG", .appGroupUserDefaults(identifier: "group.test"))
    await other.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    for key in [theirs, entry] { try await other.set("before", for: key) }
    _ = try await rotated()
    for key in [theirs, entry] {
      #expect(try await other.get(key) == "before")
      try await other.set("after", for: key)
      #expect(try await other.get(key) == "after")
    }
  }

  @Test func aProvidersValuesFollowItsMaterial() async throws {
    let source = KeyMaterialSource(id: "hardware")
    let secret = key(
      "external", .fileSystem(directory: .documents), .encrypted(.external(source: source)))
    let provider = RotatingProvider()
    let owner = application.router(Application.old)
    await owner.registerKeyMaterialProvider(provider, for: source)
    try await owner.set("1", for: secret)
    provider.rotate()
    #expect(try await owner.rotate(openedBy: Application.new).resealed == 1)
    provider.forget()
    #expect(try await owner.get(secret) == "1")
    let report = try await application.router(Application.new).rotate()
    #expect(report.external == ["fileSystem(documents)/external"])
  }

  @Test func nothingStoredIsNothingToRotate() async throws {
    let report = try await application.router(Application.old).rotate(openedBy: Application.new)
    #expect(report == (try await application.router(Application.old).rotate()))
    #expect(report.stores.isEmpty && report.keys.isEmpty && report.isComplete)
    #expect(!folder.files().contains { $0.hasSuffix(".vault") })
  }

  @Test func aNewStoreIsMadeWithTheNewKey() async throws {
    let document = key("document", .fileSystem(directory: .documents))
    let owner = application.router(Application.old)
    try await owner.set("1", for: document)
    _ = try await owner.rotate(openedBy: Application.new)
    try await application.fill("after", owner)
    try await application.requireValues("after", application.router(Application.new))
  }
}

/// A provider whose material is replaced.
private final class RotatingProvider: KeyMaterialProviding {
  private let keys = Lock<[Data]>([Data(repeating: 1, count: 32)])

  func rotate() { keys.withLock { $0.insert(Data(repeating: 2, count: 32), at: 0) } }
  func forget() { keys.withLock { $0.removeLast($0.count - 1) } }

  func keyMaterial(for name: String) async throws -> Data { keys.withLock { $0[0] } }
  func formerKeyMaterial(for name: String) async throws -> [Data] {
    keys.withLock { Array($0.dropFirst()) }
  }
}
