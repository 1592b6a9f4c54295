import Dispatch
import Foundation
import TestSupport
import Testing
import VaultBackend

@Suite struct ChangeNoticeTests {
  private let vault = TemporaryVault()

  /// Waits for each of another process's changes.
  ///
  /// - Returns: from each one's acknowledgement to its arrival, in milliseconds.
  private func follow(_ count: Int) async throws -> [Double] {
    let vault = TemporaryVault()
    let storage = vault.storage()
    let property = Vault<Int>(storage, "count")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    let child = try vault.serve()
    var times: [Double] = []
    for round in 1...count {
      let said = try #require(try child.ask("save-timed count \(round)"))
      let acknowledged = try #require(Double(said))
      // At least the latest is told, and here each is the latest until it has arrived.
      let value = await values.next()
      try #require(value == .some(.some(round)))
      times.append((Double(DispatchTime.now().uptimeNanoseconds) - acknowledged) / 1e6)
    }
    return times
  }

  @Test func eachOfAnotherProcesssChangesArrives() async throws {
    _ = try await follow(300)
  }

  @Test(.enabled(if: Soak.isOn)) func anotherProcesssChangesArriveSoonSoak() async throws {
    let times = try await follow(3_000).sorted()
    print(
      "change notices: median \(times[times.count / 2]) ms, 99 % \(times[times.count * 99 / 100]) ms,",
      "slowest \(times.last ?? 0) ms")
    #expect(times[times.count * 99 / 100] < 50)
    // Each of 300 in a row arrives within 50 ms on an idle machine, which this one need not be all
    // the time: of a few rows, one has to be without a slow change.
    for _ in 1...5 {
      let slowest = try await follow(300).max() ?? 0
      print("change notices: slowest of 300 in a row \(slowest) ms")
      if slowest < 50 { return }
    }
    Issue.record("in none of five rows of 300 did each change arrive within 50 ms")
  }

  @Test func whoRemovesWhatTheNoticesComeByHidesNoChange() async throws {
    let storage = vault.storage()
    try storage.save("ours", forKey: "key")
    var values = Vault<String>(storage, "key").projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some("ours"))
    let child = try vault.serve()
    try FileManager.default.removeItem(at: vault.file("test.vault-notice"))
    #expect(try child.ask("save key again") == "saved")
    #expect(await values.next() == .some("again"))
  }

  /// The record under the old hash of the name is gone then, and that is no news of the value.
  @Test func aValueIsNotGoneWhenNamesAreHashedAnew() async throws {
    let storage = vault.storage()
    try storage.save("first", forKey: "key")
    let before = vault.file("before.vault")
    try storage.backup(to: before)
    let property = Vault<String>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some("first"))
    let child = try vault.serve()
    #expect(try child.ask("rotate same names") == "rotated")
    #expect(await values.next() == .some("first"))
    #expect(try child.ask("save key second") == "saved")
    #expect(await values.next() == .some("second"))

    _ = try await storage.async { try $0.keyAdministration.rotate(names: true) }
    #expect(await values.next() == .some("second"))
    try storage.save("third", forKey: "key")
    #expect(await values.next() == .some("third"))
    try storage.save("fourth", forKey: "key")
    #expect(await values.next() == .some("fourth"))

    try storage.restore(from: before)
    #expect(await values.next() == .some("first"))
    try storage.save("fifth", forKey: "key")
    #expect(await values.next() == .some("fifth"))
    try storage.delete(forKey: "key")
    #expect(await values.next() == .some(nil))
    #expect(try child.ask("rotate same names") == "rotated")
    #expect(try child.ask("save key sixth") == "saved")
    #expect(await values.next() == .some("sixth"))
  }

  @Test func aValueThatGoesWhenNamesAreHashedAnewIsGone() async throws {
    let storage = vault.storage()
    try storage.save("other", forKey: "other")
    let before = vault.file("before.vault")
    try storage.backup(to: before)
    _ = try storage.keyAdministration.rotate(names: true)
    try storage.save("value", forKey: "key")
    let property = Vault<String>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some("value"))
    try storage.restore(from: before)
    #expect(await values.next() == .some(nil))
    try storage.save("again", forKey: "key")
    #expect(await values.next() == .some("again"))
  }
}
