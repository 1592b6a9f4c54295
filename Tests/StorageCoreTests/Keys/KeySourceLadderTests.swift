import CryptoCore
import StorageCore
import StorageTesting
import Testing

@Suite struct KeySourceLadderTests {
  /// A source that counts how often it is asked.
  private final class Counted: KeyProvider {
    let identifier: String
    private let answer: Result<KeyMaterial?, StorageError>
    private let count = Lock(0)

    init(_ identifier: String, _ answer: Result<KeyMaterial?, StorageError>) {
      self.identifier = identifier
      self.answer = answer
    }

    var asked: Int { count.withLock { $0 } }

    func material() throws(StorageError) -> KeyMaterial? {
      count.withLock { $0 += 1 }
      return try answer.get()
    }
  }

  private static func holding(_ byte: UInt8) -> Result<KeyMaterial?, StorageError> {
    .success(.key(.repeating(byte)))
  }

  @Test func aNewStoreTakesTheFirstSourceThatIsThere() throws {
    let delegate = OpenDelegate()
    let (absent, present, next) = (
      Counted("a", .success(nil)), Counted("b", Self.holding(2)), Counted("c", Self.holding(3))
    )
    let ladder = KeySource.firstAvailable([.provider(absent), .provider(present), .provider(next)])
    let storage = DelegatedStorage.quiet(delegate, ladder)
    try storage.save(1, forKey: "k")
    #expect(absent.asked > 0 && present.asked > 0 && next.asked == 0)
    let slots = try storage.keyAdministration.slots()
    #expect(slots.map(\.identifier) == ["b"])
    #expect(slots.map(\.kind) == ["provider"])
  }

  @Test(arguments: [
    StorageError.Code.locked, .denied, .damaged, .timedOut, .unavailable, .io, .busy,
  ])
  func onlyAbsenceMovesOnToTheNextSource(_ reason: StorageError.Code) throws {
    let delegate = OpenDelegate()
    let broken = Counted("a", .failure(StorageError(reason, "on cue")))
    let next = Counted("b", Self.holding(2))
    let ladder = KeySource.firstAvailable([.provider(broken), .provider(next)])
    let storage = DelegatedStorage.quiet(delegate, ladder)
    #expect(code { try storage.save(1, forKey: "k") } == reason)
    #expect(next.asked == 0)
    #expect(try delegate.header().header == nil)
  }

  @Test(arguments: [StorageError.Code.locked, .denied, .damaged, .timedOut])
  func aBrokenSourceStopsTheOpeningOfAStoreThatKnowsIt(_ reason: StorageError.Code) throws {
    let delegate = OpenDelegate()
    let maker = DelegatedStorage.quiet(delegate, .provider(Counted("a", Self.holding(1))))
    try maker.save(1, forKey: "k")
    try maker.keyAdministration.add(.provider(Counted("b", Self.holding(2))))
    let broken = Counted("a", .failure(StorageError(reason, "on cue")))
    let next = Counted("b", Self.holding(2))
    let storage = DelegatedStorage.quiet(
      delegate, .firstAvailable([.provider(broken), .provider(next)]))
    #expect(code { _ = try storage.load(Int.self, forKey: "k") } == reason)
    #expect(next.asked == 0)
  }

  @Test func aStoreIsOpenedByTheSourceItWasMadeWithThoughAnotherIsListedFirst() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let file = folder.file("store.key")
    try DelegatedStorage.quiet(delegate, .file(file)).save("kept", forKey: "k")
    let other = Counted("other", Self.holding(9))
    let storage = DelegatedStorage.quiet(
      delegate,
      .firstAvailable([.provider(other), .key(.fresh), .passphrase("x"), .file(file)]))
    #expect(try storage.load(forKey: "k") == "kept")
    #expect(other.asked == 0, "a source without a slot is not asked")
    #expect(try storage.keyAdministration.slots().map(\.kind) == ["file"])
  }

  @Test func aSourceOfTheSameKindAndAnotherNameIsNotAsked() throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .provider(Counted("mine", Self.holding(1))))
      .save(1, forKey: "k")
    let other = Counted("other", Self.holding(1))
    let storage = DelegatedStorage.quiet(delegate, .provider(other))
    let failure = error { _ = try storage.load(Int.self, forKey: "k") }
    #expect(failure?.code == .keyUnavailable)
    #expect(failure?.message.contains("provider mine") == true, "it says what would open it")
    #expect(other.asked == 0)
  }

  @Test func aStoreWhoseSourceIsNotListedStaysShut() throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .key(.repeating(1))).save(1, forKey: "k")
    let header = try delegate.headerBytes()
    for source in [
      KeySource.passphrase("x"), .provider(Counted("a", Self.holding(1))), .firstAvailable([]),
    ] {
      let storage = DelegatedStorage.quiet(delegate, source)
      #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .keyUnavailable)
      #expect(code { try storage.save(2, forKey: "k") } == .keyUnavailable)
    }
    #expect(try delegate.headerBytes() == header)
  }

  @Test func aLostSourceIsSkippedWhereAnotherSlotOpens() throws {
    let delegate = OpenDelegate()
    let maker = DelegatedStorage.quiet(delegate, .provider(Counted("a", Self.holding(1))))
    try maker.save(1, forKey: "k")
    try maker.keyAdministration.add(.provider(Counted("b", Self.holding(2))))
    let storage = DelegatedStorage.quiet(
      delegate,
      .firstAvailable([
        .provider(Counted("a", .success(nil))), .provider(Counted("b", Self.holding(2))),
      ]))
    #expect(try storage.load(forKey: "k") == 1)
  }

  @Test func aSourceIsAskedOnceHoweverManyThreadsOpenTheStore() async throws {
    let delegate = OpenDelegate()
    let source = Counted("a", Self.holding(1))
    try DelegatedStorage.quiet(delegate, .provider(Counted("a", Self.holding(1))))
      .save(1, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, .provider(source))
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<20 { group.addTask { try storage.load(forKey: "k") } }
      for try await value in group { #expect(value == 1) }
    }
    #expect(source.asked == 1)
  }

  @Test func readingAndRemovingInANewStoreAskForNoKeyAndMakeNone() throws {
    let delegate = OpenDelegate()
    let source = Counted("a", Self.holding(1))
    let storage = DelegatedStorage.quiet(delegate, .provider(source))
    #expect(try storage.load(Int.self, forKey: "k") == nil)
    #expect(try storage.keys().isEmpty)
    try storage.delete(forKey: "k")
    #expect(source.asked == 0)
    #expect(try delegate.header().header == nil)
  }
}
