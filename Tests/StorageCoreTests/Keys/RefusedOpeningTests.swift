import CryptoCore
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// A store that can't be opened: reading it again costs little, and a source that was put right is
/// seen.
@Suite struct RefusedOpeningTests {
  /// A source of a passphrase that a test can change.
  private final class Answer: Sendable {
    private let state: Lock<(text: String?, asked: Int)>

    init(_ text: String?) { state = Lock((text, 0)) }

    var asked: Int { state.withLock { $0.asked } }
    var isThere: Bool { state.withLock { $0.text != nil } }
    func change(to text: String?) { state.withLock { $0.text = text } }

    func source(_ derivation: PassphraseDerivation = .standard) -> KeySource {
      .passphrase(derivation: derivation) {
        let text = self.state.withLock { state in
          state.asked += 1
          return state.text
        }
        return try text.map { try SecureBytes(Array($0.utf8)) }
      }
    }
  }

  private func expectRight(_ storage: DelegatedStorage, _ note: Comment? = nil) {
    var value: Int?
    #expect(error { value = try storage.load(forKey: "k") } == nil, note)
    #expect(value == 7, note)
  }

  private func expectRefused(
    _ storage: DelegatedStorage, as expected: StorageError.Code, _ note: Comment? = nil
  ) {
    #expect(code { _ = try storage.load(Int.self, forKey: "k") } == expected, note)
  }

  /// A wrong passphrase is not stretched at each read, wherever it comes from: a stretching takes a
  /// third of a second, so 300 of them would take minutes.
  @Test(arguments: Depth.cases(["closure", "text", "file", "variable"], day: 2))
  func aWrongPassphraseIsNotTriedAgainForASecond(_ kind: String) async throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let answer = Answer("the right one")
    let file = try folder.write("the right one", to: "a.key")
    func source(_ text: String) throws -> KeySource {
      switch kind {
      case "closure":
        answer.change(to: text)
        return answer.source()
      case "text": return .passphrase(text)
      case "file":
        try folder.write(text, to: "a.key")
        return .file(file)
      default:
        FileCalls.setVariable("SPS_TEST_SECRET", text)
        return .environment("SPS_TEST_SECRET")
      }
    }
    try DelegatedStorage.quiet(delegate, source("the right one")).save(7, forKey: "k")
    let asked = answer.asked
    let storage = DelegatedStorage.quiet(delegate, try source("a wrong one"))
    let start = ContinuousClock.now
    for _ in 0..<300 { expectRefused(storage, as: .wrongKey) }
    #expect(answer.asked - asked <= 2 + Int((ContinuousClock.now - start) / .seconds(1)))
    guard kind != "text" else { return }
    _ = try source("the right one")
    usleep(1_100_000)
    expectRight(storage)
  }

  /// What costs nothing to try again is tried at each read.
  @Test func aKeyFileThatIsThereAgainIsSeenAtOnce() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let file = folder.file("a.key")
    try DelegatedStorage.quiet(delegate, .file(file)).save(7, forKey: "k")
    let right = try String(contentsOf: file, encoding: .utf8)
    let storage = DelegatedStorage.quiet(delegate, .file(file))
    try FileManager.default.removeItem(at: file)
    for _ in 0..<3 { expectRefused(storage, as: .keyUnavailable) }
    try folder.write(right, to: "a.key")
    expectRight(storage, "put back")

    for (path, wrong, mode) in [(file.path, 0o644, 0o600), (folder.path, 0o777, 0o700)] {
      let storage = DelegatedStorage.quiet(delegate, .file(file))
      FileCalls.setPermissions(wrong, of: path)
      for _ in 0..<3 { expectRefused(storage, as: .denied) }
      FileCalls.setPermissions(mode, of: path)
      expectRight(storage, "the permissions of \(path)")
    }
  }

  @Test func anotherHeaderIsAnotherAttempt() throws {
    let delegate = OpenDelegate()
    let owner = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    try owner.save(7, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, .key(.repeating(2)))
    for _ in 0..<3 { expectRefused(storage, as: .wrongKey) }
    _ = try owner.keyAdministration.add(.key(.repeating(2)))
    expectRight(storage)
  }

  @Test func whatMayPassByItselfIsAskedForAgain() throws {
    struct Locked: KeyProvider {
      let answer: Answer
      var identifier: String { "locked" }
      func material() throws(StorageError) -> KeyMaterial? {
        guard answer.isThere else { throw StorageError(.locked, "unlock it") }
        return .key(.repeating(1))
      }
    }
    let (delegate, answer) = (OpenDelegate(), Answer("open"))
    try DelegatedStorage.quiet(delegate, .provider(Locked(answer: answer))).save(7, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, .provider(Locked(answer: answer)))
    answer.change(to: nil)
    for _ in 0..<3 { expectRefused(storage, as: .locked) }
    answer.change(to: "open")
    expectRight(storage)
  }
}
