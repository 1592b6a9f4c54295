import Dispatch
import Foundation
import StorageCore
import Testing

@Suite struct KeyFileRaceTests {
  @Test func storesThatMakeOneKeyFileAtOnceGetOneKey() throws {
    for _ in 0..<10 {
      let folder = try TemporaryFolder()
      let file = folder.file("store.key")
      let delegates = (0..<8).map { _ in OpenDelegate() }
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        #expect(throws: Never.self) {
          try DelegatedStorage.quiet(delegates[index], .file(file)).save(index, forKey: "k")
        }
      }
      #expect(
        try folder.contents() == ["store.key", "store.key.made"], "no file is left beside it")
      for (index, delegate) in delegates.enumerated() {
        #expect(try DelegatedStorage.quiet(delegate, .file(file)).load(forKey: "k") == index)
      }
    }
  }

  @Test func aFolderThatIsMissingIsMadePrivate() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("a/b/store.key")
    try DelegatedStorage.quiet(OpenDelegate(), .file(file)).save(1, forKey: "k")
    for name in ["a", "a/b"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test func aFileWhereTheFolderShouldBeIsAnErrorAndStays() throws {
    let folder = try TemporaryFolder()
    try folder.write("not a folder", to: "a")
    let storage = DelegatedStorage.quiet(OpenDelegate(), .file(folder.file("a/store.key")))
    #expect(code { try storage.save(1, forKey: "k") } == .unavailable)
    #expect(try folder.contents() == ["a"])
  }
}
