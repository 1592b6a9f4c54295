import CryptoCore
import StorageCore
import Testing

/// Changes by another storage over the same delegate, the stand-in of another process.
@Suite struct ForeignChangesTests {
  private let delegate = OpenDelegate()

  private func property() -> Store<Int, DelegatedStorage> {
    Store(DelegatedStorage.quiet(delegate, .key(.repeating(1))), "k")
  }

  @Test func aChangeByAnotherStorageIsSeen() async throws {
    let (ours, theirs) = (property(), property())
    try ours.save(1)
    var values = ours.values.makeAsyncIterator()
    #expect(await values.next() == .some(1))
    try theirs.save(2)
    #expect(await values.next() == .some(2))
  }

  @Test func theFirstValueOfAStoreThatAnotherMakesIsSeen() async throws {
    let (ours, theirs) = (property(), property())
    var states = ours.states.makeAsyncIterator()
    #expect(await states.next() == .absent)
    try theirs.storage.save(9, forKey: "other")
    try theirs.save(1)
    #expect(await states.next() == .value(1))
    try theirs.save(2)
    #expect(await states.next() == .value(2))
  }

  @Test func aChangeUnderAKeyThatAnotherMadeIsSeen() async throws {
    let (ours, theirs) = (property(), property())
    try ours.save(1)
    var states = ours.states.makeAsyncIterator()
    #expect(await states.next() == .value(1))
    try theirs.storage.keyAdministration.rotateDataKey()
    try theirs.save(2)
    var seen: [PropertyState<Int>?] = []
    repeat { seen.append(await states.next()) } while seen.last != .value(2) && seen.count < 4
    #expect(seen.allSatisfy { $0 == .value(1) || $0 == .value(2) }, "\(seen)")
    #expect(seen.last == .value(2))
  }

  @Test func aQueuedChangeIsReadableThoughItsKeyWasDropped() async throws {
    let ours = property()
    try ours.save(1)
    var states = ours.states.makeAsyncIterator()
    #expect(await states.next() == .value(1))
    try ours.save(2)
    try ours.storage.keyAdministration.rotateDataKey()
    try ours.save(3)
    #expect(await states.next() == .value(2))
    var last = await states.next()
    if last == .value(2) { last = await states.next() }  // sealed anew, it may come again
    #expect(last == .value(3))
  }
}
