import CryptoCore
import StorageCore
import TestSupport
import Testing

/// A forked child doesn't use the seals that its parent has set aside.
///
/// Each test runs in a process of its own.
@Suite struct ForkedSealTests {
  @Test func aChildSetsItsOwnSealsAsideAndItsParentKeepsItsOwn() async {
    await #expect(processExitsWith: .success) {
      let delegate = OpenDelegate()
      let storage = DelegatedStorage.quiet(delegate, .key(.fresh))
      // What a child uses has to be there before it.
      for value in 0..<3 { try storage.save(value, forKey: "k") }
      #expect(try storage.load(forKey: "k") == 2)
      ForkedChild.prepare()
      let before = delegate.headerChanges
      let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
        // One reservation for all of its seals.
        let own = ForkedSealTests.reservations(delegate, storage)
        guard own == 1 else { return Int32(clamping: 10 + own) }
        let (grandchild, _) = ForkedChild.run(deadline: 120) { _ in
          Int32(clamping: ForkedSealTests.reservations(delegate, storage))
        }
        return grandchild == .exited(1) ? 0 : 2
      }
      #expect(outcome == .exited(0))
      for value in 0..<3 { try storage.save(value, forKey: "k") }
      #expect(delegate.headerChanges == before, "the parent has seals left")
      #expect(try storage.load(forKey: "k") == 2)
    }
  }

  /// How often seals are set aside while three values are saved.
  ///
  /// - Returns: negative when a value doesn't come back.
  private static func reservations(_ delegate: OpenDelegate, _ storage: DelegatedStorage) -> Int {
    let before = delegate.headerChanges
    do {
      for value in 10..<13 {
        try storage.save(value, forKey: "k")
        guard try storage.load(forKey: "k") == value else { return -1 }
      }
      return delegate.headerChanges - before
    } catch {
      return -2
    }
  }
}
