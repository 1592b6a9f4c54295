import CryptoCore
import StorageCore
import Testing

/// Changes by another storage over the same delegate, the stand-in of another process.
struct ForeignChangesTests {
  private let delegate = OpenDelegate()

  private func property() -> Store<Int, DelegatedStorage> {
    Store(DelegatedStorage.quiet(delegate, .key(.repeating(1))), "k")
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
    _ = try theirs.storage.keyAdministration.rotateDataKey()
    try theirs.save(2)
    var seen: [PropertyState<Int>?] = []
    repeat { seen.append(await states.next()) } while seen.last != .value(2) && seen.count < 4
    #expect(seen.allSatisfy { $0 == .value(1) || $0 == .value(2) }, "\(seen)")
    #expect(seen.last == .value(2))
  }

  @Test func theFirstValueOfAStoreMadeAnewIsSeen() async throws {
    let (ours, theirs) = (property(), property())
    try ours.save(1)
    var states = ours.states.makeAsyncIterator()
    #expect(await states.next() == .value(1))
    try delegate.removeStore()
    // A storage that has never seen the old keys, as another process has not.
    let anew = property()
    try anew.storage.save(9, forKey: "other")
    try anew.save(2)
    #expect(await states.next() == .value(2))
    // The usual case again: what is not of the property is left out.
    try theirs.storage.save(8, forKey: "other")
    try anew.save(3)
    #expect(await states.next() == .value(3))
  }

  @Test func aRemovalFromAStoreThatIsGoneHidesNoValueOfTheOneInItsPlace() async throws {
    let ours = property()
    try ours.save(1)
    let (old, _) = try delegate.onlyRecord()
    var states = ours.states.makeAsyncIterator()
    #expect(await states.next() == .value(1))
    try delegate.removeStore()
    #expect(await states.next() == .absent)
    let anew = property()
    try anew.save(2)
    // As of a write that waited and was dropped when the store was found to be another.
    try delegate.replace(old, with: nil)
    #expect(await states.next() == .value(2))
    try anew.save(3)
    #expect(await states.next() == .value(3))
  }

  @Test func aStoreMadeAnewUnderAnotherKeyIsOneFailureAndNotOneForEachChange() async throws {
    let ours = property()
    try ours.save(1)
    let seen = Lock<[PropertyState<Int>]>([])
    let states = ours.states
    let listener = Task {
      for await state in states { seen.withLock { $0.append(state) } }
    }
    while seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
    try delegate.removeStore()
    let others = DelegatedStorage.quiet(delegate, .key(.repeating(2)))
    for index in 0..<5 { try others.save(index, forKey: "k\(index)") }
    while seen.withLock({ $0.last?.error }) == nil { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(50))
    listener.cancel()
    let told = seen.withLock { $0 }
    #expect(told.first == .value(1) && told.filter { $0.error != nil }.count == 1, "\(told)")
    guard case .failed(let error) = told.last else { return }
    #expect(error.code == .wrongKey && error.key == "k")
  }
}
