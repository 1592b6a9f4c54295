import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// The example of the guide "Writing a delegate".
@Suite struct ExamplePlaceTests {
  /// What a test has made, removed with it.
  private final class Root: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "sps-test-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
  }
  private let root = Root()
  private let key = SymmetricKey(size: .bits256)

  private func freshFolder() throws -> URL {
    let folder = root.url.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test(arguments: DelegatePromise.all(of: ExamplePlace.self))
  func keepsIts(_ promise: DelegatePromise) throws {
    try promise.check { try ExamplePlace(try freshFolder().appending(path: "store")) }
  }

  @Test(arguments: DelegatePromise.whereThePlaceFails(of: ExamplePlace.self))
  func keepsItWhereTheFolderFails(_ promise: DelegatePromise) throws {
    let folder = try freshFolder()
    let aside = folder.appendingPathExtension("aside")
    try promise.check(
      making: { try ExamplePlace(folder.appending(path: "store")) },
      failing: { _ in
        // A file in the place of the folder. Its permissions alone would not keep root away.
        try FileManager.default.moveItem(at: folder, to: aside)
        try Data().write(to: folder)
        return {
          try FileManager.default.removeItem(at: folder)
          try FileManager.default.moveItem(at: aside, to: folder)
        }
      })
  }

  @Test(arguments: StorePromise.all)
  func aStoreKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { [self] in
      DelegatePlace(try ExamplePlace(try freshFolder().appending(path: "store")))
    }
  }

  private func code(_ body: () throws -> Void) -> StorageError.Code? {
    do { try body() } catch { return (error as? StorageError)?.code }
    return nil
  }

  @Test func theFileHasTheStoreWhenItIsOpenedAgain() throws {
    let file = try freshFolder().appending(path: "store")
    do {
      let storage = DelegatedStorage(try ExamplePlace(file), keySource: .key(key))
      try storage.save("abc", forKey: "a name with a /")
      #expect(code { _ = try ExamplePlace(file) } == .unavailable, "one object at a time")
    }
    let storage = DelegatedStorage(try ExamplePlace(file), keySource: .key(key))
    #expect(try storage.load(String.self, forKey: "a name with a /") == "abc")
    _ = try storage.keyAdministration.rotate()
    #expect(try storage.load(String.self, forKey: "a name with a /") == "abc")
  }

  @Test func whatCantBeReadIsNoNewStore() throws {
    let folder = try freshFolder()
    let file = folder.appending(path: "store")
    try Data("no property list".utf8).write(to: file)
    #expect(code { _ = try ExamplePlace(file) } == .damaged)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(code { _ = try ExamplePlace(file) } == .io)
    #expect(code { _ = try ExamplePlace(folder.appending(path: "absent/store")) } == .unavailable)
  }

  @Test func whatTheGuideShowsIsWhatIsCompiledHere() throws {
    let guide = try GuideCode("StorageCore/WritingADelegate")
    let example = try guide.blocks(missingIn: #filePath)
    #expect(guide.blocks.count == 3 && example.count == 1)
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let file = folder.appending(path: "ExamplePlace.swift")
    #expect(try guide.blocks(missingIn: file.path).count == 2)
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.split(separator: "\n").count < 80 && example.first?.hasPrefix("import") == true)
  }
}
