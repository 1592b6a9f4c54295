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

  // Each stretching takes a third of a second: with one for each read these tests take minutes. No
  // more reads than that, since Swift Testing looks at the stack at each error.

  @Test
  func aWrongPassphraseOfAFileIsStretchedOnceAndNotForEachRead() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let file = try folder.write("the right one", to: "a.key")
    try DelegatedStorage.quiet(delegate, .file(file)).save(7, forKey: "k")
    try folder.write("a wrong one", to: "a.key")
    let storage = DelegatedStorage.quiet(delegate, .file(file))
    for _ in 0..<300 { expectRefused(storage, as: .wrongKey) }
    try folder.write("the right one", to: "a.key")
    expectRight(storage)
  }

  @Test
  func aClosureIsAskedForEachReadAndItsWrongAnswerStretchedOnce() throws {
    let (delegate, answer) = (OpenDelegate(), Answer("the right one"))
    try DelegatedStorage.quiet(delegate, answer.source()).save(7, forKey: "k")
    answer.change(to: "a wrong one")
    let asked = answer.asked
    let storage = DelegatedStorage.quiet(delegate, answer.source())
    for _ in 0..<300 { expectRefused(storage, as: .wrongKey) }
    #expect(answer.asked == asked + 300)
    answer.change(to: "the right one")
    expectRight(storage)
  }

  @Test
  func aWrongPassphraseOfTheApplicationsOwnIsStretchedOnce() throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .passphrase("the right one")).save(7, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, .passphrase("a wrong one"))
    for _ in 0..<300 { expectRefused(storage, as: .wrongKey) }
  }

  @Test
  func aWrongPassphraseOfTheEnvironmentIsStretchedOnceAndARightOneSeenAtOnce() async {
    await #expect(processExitsWith: .success) {
      let delegate = OpenDelegate()
      FileCalls.setVariable("SPS_TEST_SECRET", "the right one")
      try DelegatedStorage.quiet(delegate, .environment("SPS_TEST_SECRET")).save(7, forKey: "k")
      let storage = DelegatedStorage.quiet(delegate, .environment("SPS_TEST_SECRET"))
      for wrong in ["a wrong one", "another one"] {
        FileCalls.setVariable("SPS_TEST_SECRET", wrong)
        for _ in 0..<150 {
          #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .wrongKey)
        }
      }
      unsafe unsetenv("SPS_TEST_SECRET")
      #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .keyUnavailable)
      FileCalls.setVariable("SPS_TEST_SECRET", "the right one")
      #expect(try storage.load(forKey: "k") == 7)
    }
  }

  @Test func aKeyFileThatWasPutRightIsSeenAtOnceHoweverThatWasDone() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let file = folder.file("a.key")
    try DelegatedStorage.quiet(delegate, .file(file)).save(7, forKey: "k")
    let right = try String(contentsOf: file, encoding: .utf8)
    let wrong = Data(repeating: 9, count: 32).base64EncodedString() + "\n"
    // In place and of the same size, within one step of the file system's clock.
    for round in 0..<200 {
      let storage = DelegatedStorage.quiet(delegate, .file(file))
      try overwrite(file, with: wrong)
      expectRefused(storage, as: .wrongKey, "round \(round)")
      try overwrite(file, with: right)
      expectRight(storage, "round \(round)")
    }
    let storages = (0..<4).map { _ in DelegatedStorage.quiet(delegate, .file(file)) }
    try FileManager.default.removeItem(at: file)
    for _ in 0..<3 { expectRefused(storages[0], as: .keyUnavailable) }
    try folder.write(right, to: "a.key")
    expectRight(storages[0], "put back")

    try overwrite(file, with: wrong)
    for _ in 0..<3 { expectRefused(storages[1], as: .wrongKey) }
    try folder.write(right, to: "b.key")
    #expect(unsafe rename(folder.path + "/b.key", file.path) == 0)
    expectRight(storages[1], "renamed over it")

    FileCalls.setPermissions(0o644, of: file.path)
    for _ in 0..<3 { expectRefused(storages[2], as: .denied) }
    FileCalls.setPermissions(0o600, of: file.path)
    expectRight(storages[2], "its permissions")

    FileCalls.setPermissions(0o777, of: folder.path)
    for _ in 0..<3 { expectRefused(storages[3], as: .denied) }
    FileCalls.setPermissions(0o700, of: folder.path)
    expectRight(storages[3], "its folder's permissions")
  }

  /// Writes into the file as it is, without making another one.
  private func overwrite(_ file: URL, with text: String) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  @Test func aCredentialThatAppearsOrIsLinkedAnewIsSeenAtOnce() async throws {
    let folder = try TemporaryFolder()
    let key = Data(repeating: 1, count: 32).base64EncodedString()
    // As Kubernetes mounts a secret: the file is a link by way of a folder that is a link.
    for name in ["old", "new"] {
      FileCalls.makeFolder(folder.path + "/" + name)
      try folder.write(name == "new" ? key : String(key.reversed()), to: name + "/key")
    }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      FileCalls.setVariable("CREDENTIALS_DIRECTORY", path)
      let delegate = OpenDelegate()
      FileCalls.link(path + "/data", to: path + "/new")
      FileCalls.link(path + "/key", to: path + "/data/key")
      try DelegatedStorage.quiet(delegate, .systemdCredential("key")).save(7, forKey: "k")
      let storage = DelegatedStorage.quiet(delegate, .systemdCredential("key"))
      FileCalls.link(path + "/other", to: path + "/old")
      #expect(unsafe rename(path + "/other", path + "/data") == 0)
      usleep(150_000)
      for _ in 0..<3 {
        #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .wrongKey)
      }
      FileCalls.link(path + "/other", to: path + "/new")
      #expect(unsafe rename(path + "/other", path + "/data") == 0)
      #expect(try storage.load(forKey: "k") == 7)
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
