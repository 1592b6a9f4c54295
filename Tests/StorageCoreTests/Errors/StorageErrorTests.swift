import StorageCore
import Testing

@Suite struct StorageErrorTests {
  /// Whether a terminal or a log would show it as one line.
  private static func isOneLine(_ text: String) -> Bool {
    !text.unicodeScalars.contains {
      $0.value < 32 || (127..<160).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
    }
  }

  @Test func theDescriptionSaysCodeKeyPathMessageAndNumber() {
    let error = StorageError(.io, "could not open it", key: "k", path: "/a/b", number: 5)
    #expect(error.description == "io key \"k\" /a/b: could not open it (5)")
    #expect(StorageError(.busy, "wait").description == "busy: wait")
  }

  @Test(arguments: [
    "a\nb", "a\rb", "\u{1B}[31mred", "a\u{0}b", "tab\there", "del\u{7F}", "next\u{85}line",
    "line\u{2028}separator", "paragraph\u{2029}", "csi\u{9B}31m",
  ])
  func hostileNamesStayInOneLine(_ name: String) {
    #expect(Self.isOneLine(StorageError(.damaged, "m", key: name).description))
    #expect(Self.isOneLine(StorageError(.damaged, "m", path: "/\(name)").description))
    #expect(Self.isOneLine(StorageError(.damaged, "from \(name)").description))
    #expect(StorageError(.damaged, "m", key: name).key == name, "the name itself is kept")
  }

  @Test func longNamesAreCut() {
    let name = String(repeating: "x", count: 100_000)
    let description = StorageError(.invalid, "m", key: name).description
    #expect(description.count < 200)
    #expect(description.contains("..."))
    let exact = String(repeating: "x", count: 80)
    #expect(StorageError(.invalid, "m", key: exact).description.contains("\"\(exact)\""))
  }

  @Test func theNameOfASourceInAHostileHeaderStaysInOneLine() throws {
    struct Provider: KeyProvider {
      let identifier = "evil\nINFO all is well"
      func material() throws(StorageError) -> KeyMaterial? { .key(.repeating(1)) }
    }
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .provider(Provider())).save(1, forKey: "k")
    let other = DelegatedStorage.quiet(delegate, .key(.fresh))
    let failure = try #require(error { _ = try other.load(Int.self, forKey: "k") })
    #expect(failure.code == .keyUnavailable)
    #expect(Self.isOneLine(failure.description))
  }
}
