import CryptoCore
import DefaultsBackend
import Foundation
import Observation
import StorageCore
import TestSupport
import Testing

/// Live properties of a suite that others write to as well.
struct LiveTests {
  private let folder = TemporaryFolder()

  private func storage() -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
  }

  @Test func changesByAnotherProcessArrive() async throws {
    let live = Live(wrappedValue: "none", storage(), "key")
    #expect(live.wrappedValue == "none")
    var values = Observations { live.wrappedValue }.makeAsyncIterator()
    for index in 0..<10 {
      #expect(try helper.run("save", folder.path, "key", "value \(index)") == ["saved"])
      while live.wrappedValue != "value \(index)" { _ = await values.next() }
    }
    // A file in the place of the suite's, as of a backup that is put back.
    let old = try #require(folder.bytes)
    #expect(try helper.run("save", folder.path, "key", "later") == ["saved"])
    while live.wrappedValue != "later" { _ = await values.next() }
    try folder.put(old)
    while live.wrappedValue != "value 9" { _ = await values.next() }
  }

  @Test func aDamagedFileIsTold() async throws {
    let storage = storage()
    let live = Live<String?, UserDefaultsStorage>(storage, "key")
    let absent = Live<String?, UserDefaultsStorage>(storage, "absent")
    live.wrappedValue = "first"
    #expect(live.wrappedValue == "first")
    #expect(absent.state == .absent)
    let good = try #require(folder.bytes)
    for _ in 0..<3 {
      var states = Observations { live.state }.makeAsyncIterator()
      var others = Observations { absent.state }.makeAsyncIterator()
      #expect(await states.next() == .value("first"))
      #expect(await others.next() == .absent)
      try folder.put(Array(good.prefix(100)))
      while case .value = await states.next() {}
      while await others.next() == .absent {}
      #expect(throws: StorageError.self) { try absent.load() }
      try folder.put(good)
      while await states.next() != .value("first") {}
      while await others.next() != .absent {}
    }
  }
}
