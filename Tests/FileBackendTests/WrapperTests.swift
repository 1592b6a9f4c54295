import CryptoCore
import FileBackend
import Foundation
import TestSupport
import Testing

@Suite struct WrapperTests {
  struct User: Codable, Equatable, Sendable {
    var name: String
  }

  private let place = TemporarySealedFolder()

  private func damage() throws {
    let file = try place.onlyBlob()
    var bytes = try Data(contentsOf: file)
    bytes[100] ^= 1
    try bytes.write(to: file)
    #expect(unsafe chmod(file.path, 0o600) == 0)
  }

  @Test func aPropertyIsTheFile() throws {
    let folder = place.folder()
    let avatar = SealedFile<Data>("avatar", in: folder)
    #expect(avatar.wrappedValue == nil)
    avatar.wrappedValue = pattern(100_000)
    #expect(try folder.read(named: "avatar") == pattern(100_000))
    try folder.write(pattern(10), named: "avatar")
    #expect(avatar.wrappedValue == pattern(10))
    try avatar.update { $0?.append(1) }
    #expect(try avatar.load()?.count == 11)
    avatar.wrappedValue = nil
    #expect(try !folder.contains("avatar"))
    #expect(avatar.state == .absent)
  }

  @Test func propertiesHaveTheFormsOfTheFamily() throws {
    let folder = place.folder()
    @SealedFile("text", in: folder) var text: String?
    @SealedFile("initial", in: folder) var initial = Data("first".utf8)
    @CodableSealedFile("user", in: folder) var user: User?
    @UnwrappedSealedFile("notes", in: folder) var notes = "none"
    @UnwrappedCodableSealedFile("guest", in: folder) var guest = User(name: "guest")
    text = "é"
    user = User(name: "Ada")
    #expect(notes == "none" && guest.name == "guest" && initial == Data("first".utf8))
    notes += "!"
    guest.name = "Bob"
    #expect(try folder.read(named: "text") == Data("é".utf8))
    #expect(try folder.read(named: "user") == Data(#"{"name":"Ada"}"#.utf8))
    #expect(try folder.read(named: "notes") == Data("none!".utf8))
    #expect(try $guest.load() == User(name: "Bob"))
    #expect(try folder.read(named: "initial") == Data("first".utf8))
    #expect("\($text) \($user) \($notes) \($guest)".contains("Ada") == false)
  }

  @Test func anInitialValueReplacesNothing() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "name")
    let property = SealedFile(wrappedValue: Data([1]), "name", in: folder)
    #expect(property.wrappedValue == pattern(100_000))
    try damage()
    folder.errorClosure = { _ in }
    _ = SealedFile(wrappedValue: Data([1]), "name", in: folder)
    #expect(property.wrappedValue == nil)
    #expect(code { _ = try property.load() } == .damaged)
  }

  enum Replacement: CaseIterable {
    case write, file, update, transaction, rename, copy, remove
  }

  @Test(arguments: Replacement.allCases)
  func assigningIsAllowedAfterTheFileWasReplacedByAnyCall(_ replacement: Replacement) throws {
    let folder = place.folder()
    folder.errorClosure = { _ in }
    try folder.write(pattern(100_000), named: "name")
    try damage()
    try folder.write(Data([7]), named: "other")
    try Data([7]).write(to: place.file("source"))
    let property = SealedFile<Data>("name", in: folder)
    #expect(property.wrappedValue == nil)
    property.wrappedValue = Data([1])
    #expect(code { _ = try folder.read(named: "name") } == .damaged)
    switch replacement {
    case .write: try folder.write(Data([7]), named: "name")
    case .file: try folder.write(contentsOf: place.file("source"), named: "name")
    case .update:
      try folder.remove("name")
      #expect(property.wrappedValue == nil)
      try folder.update(named: "name") { $0 = Data([7]) }
    case .transaction:
      try folder.transaction { try $0.write(Data([7]), named: "name") }
    case .rename: try folder.rename("other", to: "name")
    case .copy: try folder.copy("other", to: "name")
    case .remove: try folder.remove("name")
    }
    // No read of the property before.
    property.wrappedValue = Data([2])
    #expect(try folder.read(named: "name") == Data([2]))
  }

  @Test func aReadThatWasCancelledRefusesWhatWasMadeOfItAndNothingElse() async throws {
    let folder = place.folder()
    folder.errorClosure = { _ in }
    try folder.write(pattern(100_000), named: "name")
    let property = UnwrappedSealedFile(wrappedValue: Data(), "name", in: folder)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      // A default, and a byte more.
      property.wrappedValue.append(1)
      return code { _ = try property.load() }
    }
    #expect(await task.value == .cancelled)
    #expect(try folder.read(named: "name") == pattern(100_000))
    property.wrappedValue = Data([2])
    #expect(try folder.read(named: "name") == Data([2]))
  }

  @Test(arguments: ["save", "remove", "update", "folder", "rename"])
  func aWriteOfTheFileInsideItsUpdateIsRefusedAtOnce(_ call: String) throws {
    let folder = place.folder()
    let property = UnwrappedSealedFile(wrappedValue: "", "name", in: folder)
    try property.save("1")
    var runs = 0
    let refusal = code {
      try property.update { value in
        runs += 1
        try folder.write(Data([7]), named: "other")
        switch call {
        case "save": try property.save("5")
        case "remove": try property.remove()
        case "update": try property.update { $0 += "!" }
        case "rename": try folder.rename("other", to: "name")
        default: try folder.write(Data([5]), named: "name")
        }
        value += "?"
      }
    }
    #expect(refusal == .invalid && runs == 1)
    #expect(try property.load() == "1")
    try property.update { $0 += "!" }
    #expect(try property.load() == "1!")
  }

  @Test func bytesThatAreNotOfThePropertysTypeAreAMismatch() throws {
    let folder = place.folder()
    try folder.write(Data([0xFF, 0xFE]), named: "name")
    #expect(code { _ = try SealedFile<String>("name", in: folder).load() } == .typeMismatch)
    #expect(code { _ = try CodableSealedFile<User>("name", in: folder).load() } == .typeMismatch)
    #expect(try SealedFile<Data>("name", in: folder).load() == Data([0xFF, 0xFE]))
  }

  @Test func changesAreTold() async throws {
    let folder = place.folder()
    let property = SealedFile<Data>("name", in: folder)
    var states = property.states.makeAsyncIterator()
    #expect(await states.next() == .absent)
    try property.save(pattern(100_000))
    #expect(await states.next() == .value(try #require(try folder.info(named: "name"))))
    try folder.write(Data([1]), named: "other")
    try folder.rename("other", to: "name")
    guard case .value(let info) = await states.next() else {
      Issue.record("no value")
      return
    }
    #expect(info.size == 1)
    try await property.removeAsync()
    #expect(await states.next() == .absent)
  }
}
