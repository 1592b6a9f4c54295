import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import Testing

/// A suite that a program says has to be there is never made anew.
@Suite struct MustExistTests {
  private let folder = TemporaryFolder()

  private func storage(
    _ suite: String = "suite", durability: DefaultsDurability = .immediate
  ) -> UserDefaultsStorage {
    UserDefaultsStorage(
      DefaultsDelegate(folder: folder.path + "/deep", suiteName: suite, durability: durability),
      keySource: .key(sampleKey))
  }

  @Test func oneThatIsNotThereIsNotMade() throws {
    let storage = storage()
    #expect(code { try storage.open(.mustExist) } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    #expect(code { try storage.open() } == .unavailable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(arguments: [DefaultsDurability.immediate, .coalesced(within: .milliseconds(10))])
  func oneThatVanishesIsNotMadeAnew(_ durability: DefaultsDurability) throws {
    let storage = storage(durability: durability)
    try storage.save("value", forKey: "key")
    try storage.flush()
    try storage.open(.mustExist)
    let (deep, away) = (folder.path + "/deep", folder.path + "/away")
    try FileManager.default.moveItem(atPath: deep, toPath: away)
    usleep(10_000)
    #expect(code { try storage.save("lost", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    #expect(code { try self.storage().save("lost", forKey: "key") } == .unavailable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["away"])
    try FileManager.default.moveItem(atPath: away, toPath: deep)
    usleep(10_000)
    #expect(try storage.load(String.self, forKey: "key") == "value")
    try storage.save("newer", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "newer")
  }
}
