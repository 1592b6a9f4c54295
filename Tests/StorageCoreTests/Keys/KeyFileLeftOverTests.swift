import Foundation
import StorageCore
import Testing

/// What writers of earlier releases that died have left beside a key file.
@Suite struct KeyFileLeftOverTests {
  private let folder: TemporaryFolder
  private let delegate = OpenDelegate()
  private var file: URL { folder.file("store.key") }
  /// No process has this number: PID_MAX_LIMIT is 2^22.
  private static let gone = 4_194_305

  init() throws {
    folder = try TemporaryFolder()
    try DelegatedStorage.quiet(delegate, .file(file)).save("kept", forKey: "k")
  }

  private func open() throws {
    let storage = DelegatedStorage.quiet(delegate, .file(file))
    #expect(try storage.load(String.self, forKey: "k") == "kept")
  }

  private func age(_ name: String) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: folder.file(name).path)
  }

  private var own: [String] { ["store.key", "store.key.made"] }

  @Test(arguments: [gone, Int(getpid())]) func aSecondNameOfTheKeyFileGoes(_ writer: Int) throws {
    let name = "store.key.\(writer).4294967295.new"
    try FileManager.default.linkItem(at: file, to: folder.file(name))
    try open()
    #expect(try folder.contents() == own)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.referenceCount] as? Int == 1)
  }

  @Test func whatADeadWriterNeverLinkedGoesWhenItIsOld() throws {
    let name = "store.key.\(Self.gone).7.new"
    try folder.write("another key", to: name)
    try open()
    #expect(try folder.contents().contains(name), "its writer may live in another container")
    try age(name)
    try open()
    #expect(try folder.contents() == own)
  }

  @Test func whatIsNotKnownToBeLeftOverStays() throws {
    let gone = Self.gone
    let names = [
      "store.key.\(getpid()).7.new",  // its writer lives
      "store.key.\(gone).07.new", "store.key.0\(gone).7.new", "store.key.+\(gone).7.new",
      "store.key.\(gone).4294967296.new", "store.key.\(gone).7.new.bak", "store.key.\(gone).new",
      "store.key.\(gone).7.8.new", "store.key.-1.7.new", "store.key.0.7.new", "store.key.new",
      "other.key.\(gone).7.new", "store.key.made.7.new",
    ]
    for name in names {
      try folder.write("not ours", to: name)
      try age(name)
    }
    FileCalls.makeFolder(folder.file("store.key.\(gone).8.new").path)
    FileCalls.link(folder.file("store.key.\(gone).9.new").path, to: file.path)
    let before = try folder.contents()
    try open()
    #expect(try folder.contents() == before)
  }

  @Test func whatWasLeftBeforeTheKeyFileWasThereGoesWithTheNextOne() throws {
    let folder = try TemporaryFolder()
    let name = "store.key.\(Self.gone).7.new"
    let url = try folder.write("a key that was never used", to: name)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: url.path)
    try DelegatedStorage.quiet(OpenDelegate(), .file(folder.file("store.key"))).save(1, forKey: "k")
    #expect(try folder.contents() == own)
  }
}
