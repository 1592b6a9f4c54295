import CryptoCore
import StorageCore
import Testing

@Suite struct RecoveryKeyTests {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  /// A store and its recovery key, whose other source is lost.
  private func lostStore() throws -> (OpenDelegate, RecoveryKey) {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(.fresh))
    try storage.save("kept", forKey: "k")
    return (delegate, try storage.keyAdministration.exportRecoveryKey())
  }

  private func text(of key: RecoveryKey) throws -> String {
    try key.withText { (text) throws(StorageError) in text }
  }

  @Test func aRecoveryKeyOpensTheStoreAndANewSourceCanBeSet() throws {
    let (delegate, key) = try lostStore()
    let rescued = DelegatedStorage.quiet(delegate, .recovery(key))
    #expect(try rescued.load(forKey: "k") == "kept")
    try rescued.keyAdministration.change(to: .key(.repeating(2)))
    #expect(try DelegatedStorage.quiet(delegate, .key(.repeating(2))).load(forKey: "k") == "kept")
    #expect(try DelegatedStorage.quiet(delegate, .recovery(key)).load(forKey: "k") == "kept")
  }

  @Test func theRecoveryKeyOfAnotherStoreIsTheWrongKey() throws {
    let (delegate, _) = try lostStore()
    let (_, other) = try lostStore()
    let storage = DelegatedStorage.quiet(delegate, .recovery(other))
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .wrongKey)
  }

  @Test func theTextIsSevenGroupsOfEightAndReadsBack() throws {
    for _ in 0..<50 {
      let key = RecoveryKey(.fresh)
      let text = try text(of: key)
      let groups = text.split(separator: "-", omittingEmptySubsequences: false)
      #expect(groups.count == 7 && groups.allSatisfy { $0.count == 8 })
      #expect(try RecoveryKey(text: text) == key)
    }
  }

  @Test func caseSpacesAndHyphensDoNotMatter() throws {
    let key = RecoveryKey(.fresh)
    let text = try text(of: key)
    let bare = text.replacing("-", with: "")
    for variant in [
      text.lowercased(), bare, bare.lowercased(), text.replacing("-", with: " "),
      " \(text)\n", text.replacing("-", with: "--"), bare.map { "\($0) " }.joined(),
      text.replacing("0", with: "O").replacing("1", with: "I"),
      text.replacing("0", with: "o").replacing("1", with: "l"),
    ] {
      #expect(try RecoveryKey(text: variant) == key, "\(variant.count) characters")
    }
  }

  @Test func everyMistypedCharacterIsNoticed() throws {
    // Not a random one: each check passes once in 2^24.
    let characters = Array(try text(of: RecoveryKey(.repeating(0x5C))))
    for index in characters.indices where characters[index] != "-" {
      let position = try #require(Self.alphabet.firstIndex(of: characters[index]))
      var typed = characters
      typed[index] = Self.alphabet[(position + 1) % 32]
      #expect(code { _ = try RecoveryKey(text: String(typed)) } == .invalid, "character \(index)")
    }
  }

  @Test func swappedNeighboursAreNoticed() throws {
    let key = SymmetricKey(data: (0..<32).map { UInt8($0 * 7 + 3) })
    let characters = Array(try text(of: RecoveryKey(key)).replacing("-", with: ""))
    for index in 0..<characters.count - 1 where characters[index] != characters[index + 1] {
      var typed = characters
      typed.swapAt(index, index + 1)
      #expect(code { _ = try RecoveryKey(text: String(typed)) } == .invalid, "character \(index)")
    }
  }

  @Test func missingAndSuperfluousCharactersAreNoticed() throws {
    let text = try text(of: RecoveryKey(.fresh))
    for count in 0..<text.count {
      #expect(code { _ = try RecoveryKey(text: String(text.prefix(count))) } == .invalid)
    }
    for more in ["0", "00", "00000000", "\(text)"] {
      #expect(code { _ = try RecoveryKey(text: text + more) } == .invalid)
    }
  }

  @Test(arguments: ["U", "u", "!", "_", ".", "\u{E9}", "\u{FF10}", "\u{1F511}", "\u{7F}", "@"])
  func charactersOutsideTheAlphabetAreRefused(_ character: Character) throws {
    var characters = Array(try text(of: RecoveryKey(.fresh)))
    characters[20] = character
    #expect(code { _ = try RecoveryKey(text: String(characters)) } == .invalid)
  }

  @Test func aRefusedTextIsNotPartOfTheError() throws {
    let text = try text(of: RecoveryKey(.fresh))
    let failure = error { _ = try RecoveryKey(text: String(text.dropLast())) }
    #expect(failure.map { "\($0)".contains(text.prefix(8)) } == false)
  }
}
