import CryptoCore
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

@Suite struct KeyFileTests {
  /// A store whose key file holds the key; what is done to the file must leave the data intact.
  private struct Subject {
    let folder: TemporaryFolder
    let delegate = OpenDelegate()
    let file: URL

    init() throws {
      folder = try TemporaryFolder()
      file = folder.file("store.key")
      try DelegatedStorage.quiet(delegate, .file(file)).save("kept", forKey: "k")
    }

    func storage() -> DelegatedStorage { .quiet(delegate, .file(file)) }

    /// What a fresh storage says; nothing may have been written, here or in the folder.
    func refusal() throws -> StorageError.Code? {
      let (header, records) = (try delegate.headerBytes(), try delegate.records())
      let files = try folder.contents()
      let read = code { _ = try storage().load(String.self, forKey: "k") }
      #expect(code { try storage().save("new", forKey: "k") } == read)
      #expect(code { try storage().save("new", forKey: "other") } == read)
      #expect(try delegate.headerBytes() == header)
      #expect(try delegate.records() == records)
      #expect(try folder.contents() == files, "a key file was made over existing data")
      return read
    }

    func permissions() throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      return try #require(attributes[.posixPermissions] as? Int)
    }
  }

  @Test func aSlotSaysWhetherItsFileHoldsAPassphrase() throws {
    let subject = try Subject()
    let typed = subject.folder.file("typed.key")
    let isMade = FileManager.default.createFile(
      atPath: typed.path, contents: Data("correct horse".utf8),
      attributes: [.posixPermissions: 0o600])
    try #require(isMade)
    let administration = subject.storage().keyAdministration
    #expect(try administration.add(.file(typed)).isPassphrase)
    try administration.add(.passphrase("battery staple"))
    #expect(try administration.slots().map(\.isPassphrase) == [false, true, true])
  }

  /// What looks like a key would be a passphrase, and a passphrase another one than was typed.
  @Test func whatEndsInACarriageReturnOpensNothingNew() throws {
    let subject = try Subject()
    let key = Data(repeating: 7, count: 32).base64EncodedString()
    let administration = subject.storage().keyAdministration
    let header = try subject.delegate.headerBytes()
    for content in [key, "correct horse"] {
      try subject.folder.write(content + "\r\n", to: "other.key")
      let source = KeySource.file(subject.folder.file("other.key"))
      for refused in [
        error { try administration.add(source) }, error { try administration.change(to: source) },
        error { try DelegatedStorage.quiet(OpenDelegate(), source).save(1, forKey: "k") },
      ] {
        #expect(refused?.code == .invalid)
        #expect(refused?.message.contains("it ends in a carriage return") == true)
      }
    }
    #expect(code { try administration.add(.passphrase("correct horse\r")) } == .invalid)
    #expect(try subject.delegate.headerBytes() == header)
  }

  @Test func aNewKeyFileIsPrivateAndHasItsMarkerAlone() throws {
    let subject = try Subject()
    #expect(try subject.permissions() == 0o600)
    #expect(try subject.folder.contents() == ["store.key", "store.key.made"])
    let text = try String(contentsOf: subject.file, encoding: .utf8)
    #expect(text.count == 45 && text.last == "\n")
    #expect(Data(base64Encoded: String(text.dropLast()))?.count == 32)
  }

  @Test func aDeletedKeyFileIsNotMadeAnew() throws {
    let subject = try Subject()
    let text = try Data(contentsOf: subject.file)
    try FileManager.default.removeItem(at: subject.file)
    #expect(try subject.refusal() == .keyUnavailable)
    // Put back, it opens again.
    try text.write(to: subject.file)
    FileCalls.setPermissions(0o600, of: subject.file.path)
    #expect(try subject.storage().load(forKey: "k") == "kept")
  }

  @Test func aTruncatedKeyFileIsRefusedAtEveryLength() throws {
    let subject = try Subject()
    let text = try String(contentsOf: subject.file, encoding: .utf8)
    for count in 0..<44 {
      try subject.folder.write(String(text.prefix(count)), to: "store.key")
      #expect(try subject.refusal() == (count == 0 ? .damaged : .wrongKey), "\(count)")
    }
    // The line break is not part of the key.
    try subject.folder.write(String(text.prefix(44)), to: "store.key")
    #expect(try subject.storage().load(forKey: "k") == "kept")
  }

  /// What is done to the key file, and what its store then says.
  private static let refusals: [(String, StorageError.Code, @Sendable (Subject) throws -> Void)] = {
    func content(_ text: String) -> @Sendable (Subject) throws -> Void {
      { try $0.folder.write(text, to: "store.key") }
    }
    func inItsPlace(
      _ make: @escaping @Sendable (Subject) throws -> Void
    ) -> @Sendable (Subject) throws -> Void {
      { subject in
        try FileManager.default.moveItem(at: subject.file, to: subject.folder.file("real.key"))
        try make(subject)
      }
    }
    let other = Data([UInt8](repeating: 5, count: 32)).base64EncodedString() + "\n"
    var rows: [(String, StorageError.Code, @Sendable (Subject) throws -> Void)] = [
      ("another key", .wrongKey, content(other)), ("empty", .damaged, content("")),
      ("a line break", .damaged, content("\n")),
      ("5,000 bytes", .damaged, content(String(repeating: "A", count: 5000))),
      ("a FIFO", .denied, inItsPlace { FileCalls.makeFIFO($0.file.path) }),
      ("a folder", .denied, inItsPlace { FileCalls.makeFolder($0.file.path) }),
      ("a link", .denied, inItsPlace { FileCalls.link($0.file.path, to: "real.key") }),
      ("a link to nowhere", .denied, inItsPlace { FileCalls.link($0.file.path, to: "gone") }),
    ]
    for mode in [0o644, 0o640, 0o604, 0o660, 0o601, 0o610, 0o602] {
      rows.append(
        ("mode \(mode)", .denied, { FileCalls.setPermissions(mode, of: $0.file.path) }))
    }
    for mode in [0o770, 0o707, 0o777] {
      rows.append(
        ("folder of mode \(mode)", .denied, { #expect(Machine.share($0.folder.path, mode)) }))
    }
    return rows
  }()

  @Test func whatIsNotTheKeyFileIsRefused() throws {
    for (what, code, change) in Self.refusals {
      let subject = try Subject()
      try change(subject)
      #expect(try subject.refusal() == code, "\(what)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func aKeyFileOfAnotherUserIsDenied() throws {
    let subject = try Subject()
    FileCalls.setOwner(12_345, of: subject.file.path)
    #expect(try subject.refusal() == .denied)
  }

  @Test func aKeyFileBelowAFolderThatNobodyElseCanEnterOpensItsStore() throws {
    let subject = try Subject()
    let outer = try TemporaryFolder()
    FileCalls.setPermissions(0o700, of: outer.path)
    let shared = outer.file("shared")
    try FileManager.default.moveItem(atPath: subject.folder.path, toPath: shared.path)
    FileCalls.setPermissions(0o777, of: shared.path)
    let file = shared.appendingPathComponent("store.key")
    let storage = { DelegatedStorage.quiet(subject.delegate, .file(file)) }
    #expect(try storage().load(String.self, forKey: "k") == "kept")
    FileCalls.setPermissions(0o711, of: outer.path)
    #expect(code { _ = try storage().load(String.self, forKey: "k") } == .denied)
  }

  @Test func aFileThatIsNotAKeyIsAPassphrase() throws {
    let folder = try TemporaryFolder()
    let delegate = OpenDelegate()
    // 44 characters of Base64 whose unused bits are not zero are not the one form of a key.
    let text = String(repeating: "A", count: 42) + "B="
    let file = try folder.write(text, to: "p.key")
    let source = KeySource.passphrase(text, derivation: .quick)
    try DelegatedStorage.quiet(delegate, source).save(1, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, source)
    try storage.keyAdministration.change(to: .file(file))
    #expect(try DelegatedStorage.quiet(delegate, .file(file)).load(forKey: "k") == 1)
    try folder.write(String(repeating: "A", count: 43) + "=", to: "p.key")
    let other = DelegatedStorage.quiet(delegate, .file(file))
    #expect(code { _ = try other.load(Int.self, forKey: "k") } == .wrongKey)
  }

  @Test(arguments: ["http://example.com/key", "file:relative.key", "relative.key"])
  func aURLThatIsNoAbsoluteFileIsInvalid(_ text: String) throws {
    let url = try #require(URL(string: text))
    let storage = DelegatedStorage.quiet(OpenDelegate(), .file(url))
    #expect(code { try storage.save(1, forKey: "k") } == .invalid)
  }
}
