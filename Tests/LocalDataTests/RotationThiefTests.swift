import Foundation
import LocalData
import TestSupport
import Testing

/// A thief with the old key, old copies and write access, while a rotation goes on or was
/// interrupted.
@Suite struct RotationThiefTests {
  private typealias Application = RotatedApplication
  private let application = RotatedApplication()
  private var folder: TestFolder { application.folder }
  private let child = HelperProgram("LocalDataTestChild")

  private func plantFiles() throws {
    for (_, file) in application.plainFiles where !file.hasPrefix("groups") {
      try application.copy(file, from: application.stolen, to: folder)
    }
  }

  @Test(arguments: Depth.cases([5, 11, 12, 14, 19, 20, 21], day: 2), [false, true])
  func anOldLedgerIsNoticed(_ step: Int, _ hasKeychain: Bool) async throws {
    try await application.fillAfterTheft("before")
    #expect(try child.run("rotate", folder.path, "\(step)", "").isEmpty)
    let present = TestFolder()
    try application.copy("", from: folder, to: present)
    try application.copy(Application.ledger, from: application.stolen, to: folder)
    if hasKeychain {
      try application.copy(
        "data/com.example.app/keychain.vault", from: application.stolen, to: folder)
    }
    try plantFiles()
    // In another process: this one would notice that a vault went back in time.
    #expect(try child.run("rotate", folder.path, "0", "") == ["error wrongKey"])
    // The present ledger is put back.
    try application.copy("", from: present, to: folder)
    #expect(try child.run("rotate", folder.path, "0", "").count == 1)
    try await application.requireValues("before", application.router(Application.new))
  }

  @Test(arguments: [5, 11, 12, 14, 19, 20, 21])
  func aLedgerThatIsRemovedMakesNoOldKeyThePresentOne(_ step: Int) async throws {
    try await application.fillAfterTheft("before")
    #expect(try child.run("rotate", folder.path, "\(step)", "").isEmpty)
    let isReplaced = (12...18).contains(step)
    application.remove(Application.ledger)
    try plantFiles()
    let owner = application.router(Application.new, Application.old)
    let refused = await code { _ = try await owner.rotate(openedBy: Application.new) }
    #expect(refused == .unavailable || refused == .keyUnavailable)
    guard isReplaced else { return }
    for (key, file) in application.plainFiles where !file.hasPrefix("groups") {
      #expect(await code { _ = try await owner.get(key) } == .keyUnavailable, "\(key.domain)")
      #expect(await code { try await owner.set("x", for: key) } == .keyUnavailable)
    }
  }

  @Test func anOldKeyOfTheGroupThatIsPutBackMeanwhileIsNoticed() async throws {
    for wanted in 1...5 {
      let application = RotatedApplication()
      try await application.fillAfterTheft("before")
      let (replaced, after) = (Lock(0), Lock(0))
      let owner = application.router(Application.old)
      var isComplete = false
      do throws(StorageError) {
        let report = try await owner.runRotation(openedBy: Application.new) { step in
          if step == .replacedKey { replaced.withLock { $0 += 1 } }
          guard replaced.withLock({ $0 }) == 2 else { return }
          let count = after.withLock { count in
            count += 1
            return count
          }
          guard count == wanted else { return }
          try? application.copy(
            "groups/group.test", from: application.stolen, to: application.folder)
        }
        isComplete = report.isComplete
      } catch {
        #expect(error.code == .wrongKey, "\(wanted): \(error)")
      }
      // At the last steps all is done.
      #expect(!isComplete || wanted >= 5, "\(wanted)")
      for (key, file) in application.keys where file.hasPrefix("groups") {
        let router = application.router(Application.new, Application.old)
        #expect(await code { _ = try await router.get(key) } == .wrongKey, "\(wanted)")
        #expect(await code { try await router.set("x", for: key) } == .wrongKey, "\(wanted)")
      }
    }
  }

  @Test func filesThatAskForMillionsOfIterationsAreNotDerived() async throws {
    let owner = application.router(Application.old)
    try await application.fill("before", owner)
    let documents = folder.url.appendingPathComponent("groups/group.test/Documents")
    var bytes = try Data(contentsOf: documents.appendingPathComponent("report"))
    bytes[8] = 2
    bytes.replaceSubrange(9..<13, with: [0, 0x98, 0x96, 0x80])
    for name in ["a", "b", "c"] {
      try bytes.write(to: documents.appendingPathComponent(name))
    }
    let report = try await owner.rotate(openedBy: Application.new)
    #expect(report.left.map(\.error.code) == [.damaged, .damaged, .damaged], "\(report)")
    #expect(report.left.allSatisfy { $0.error.message.contains("iterations") }, "\(report)")
    for name in ["a", "b", "c"] {
      try FileManager.default.removeItem(at: documents.appendingPathComponent(name))
    }
    #expect(try await owner.rotate(openedBy: Application.new).isComplete)
    try await application.requireValues("before", application.router(Application.new))
  }
}
