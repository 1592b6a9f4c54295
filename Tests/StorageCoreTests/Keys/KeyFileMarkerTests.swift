import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// A key file that is gone is told from one that never was by the marker beside it.
@Suite struct KeyFileMarkerTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("store.key") }
  private var marker: URL { folder.file("store.key.made") }

  init() throws { folder = try TemporaryFolder() }

  /// A new store that lists the file.
  private func store(
    _ delegate: OpenDelegate = OpenDelegate(), _ algorithm: AEADAlgorithm = .aes256GCM
  ) -> DelegatedStorage {
    .quiet(delegate, .file(file), algorithm: algorithm)
  }

  @Test func aKeyFileThatIsGoneIsNotMadeForANewStore() throws {
    let delegate = OpenDelegate()
    try store(delegate).save("old", forKey: "k")
    let key = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)

    let newcomer = OpenDelegate()
    let failure = error { try store(newcomer).save("new", forKey: "k") }
    #expect(failure?.code == .keyUnavailable)
    #expect(failure?.path == file.path)
    #expect(failure?.message.contains(marker.path) == true, "it says what to remove")
    #expect(failure?.message.contains("backup") == true, "it says what to put back")
    #expect(try newcomer.header().header == nil)
    #expect(try folder.contents() == ["store.key.made"])
    #expect(code { try store(newcomer).keyAdministration.add(.file(file)) } == .keyUnavailable)

    try key.write(to: file)
    FileCalls.setPermissions(0o600, of: file.path)
    try store(newcomer).save("new", forKey: "k")
    #expect(try store(delegate).load(forKey: "k") == "old")
  }

  @Test func whoeverRemovesTheMarkerGetsANewKeyFile() throws {
    let delegate = OpenDelegate()
    try store(delegate).save("old", forKey: "k")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.removeItem(at: marker)
    try store().save("new", forKey: "k")
    #expect(try folder.contents() == ["store.key", "store.key.made"])
    #expect(code { _ = try store(delegate).load(String.self, forKey: "k") } == .wrongKey)
  }

  @Test func aLadderStopsAtAKeyFileThatIsGone() throws {
    try store().save(1, forKey: "k")
    try FileManager.default.removeItem(at: file)
    let delegate = OpenDelegate()
    let ladder = KeySource.firstAvailable([.file(file), .key(.fresh)])
    #expect(code { try DelegatedStorage.quiet(delegate, ladder).open() } == .keyUnavailable)
    #expect(try delegate.header().header == nil)
  }

  @Test func theMarkerIsPrivateAndHoldsNothingSecret() throws {
    try store().save(1, forKey: "k")
    let attributes = try FileManager.default.attributesOfItem(atPath: marker.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let key = try String(contentsOf: file, encoding: .utf8).dropLast(2)
    #expect(try !String(contentsOf: marker, encoding: .utf8).contains(key))
  }

  /// Also where no header counts the seals.
  @Test(arguments: [AEADAlgorithm.aes256GCM, .xaes256GCM])
  func aKeyFileWithoutAMarkerGetsOneWhenSomethingIsSealedUnderIt(
    _ algorithm: AEADAlgorithm
  ) throws {
    let delegate = OpenDelegate()
    try folder.write(Data(repeating: 3, count: 32).base64EncodedString(), to: "store.key")
    try store(delegate, algorithm).save(1, forKey: "k")
    #expect(try folder.contents() == ["store.key", "store.key.made"])
    // Also by a store that exists: what came from a backup. Who only reads leaves nothing.
    try FileManager.default.removeItem(at: marker)
    let storage = store(delegate, algorithm)
    #expect(try storage.load(forKey: "k") == 1)
    #expect(try folder.contents() == ["store.key"])
    try storage.save(2, forKey: "k")
    #expect(try folder.contents() == ["store.key", "store.key.made"])
  }

  @Test func aKeyFileThatIsNotTheStoresIsLeftAsItIs() throws {
    try folder.write(Data(repeating: 3, count: 32).base64EncodedString(), to: "store.key")
    let delegate = OpenDelegate()
    try store(delegate).save(1, forKey: "k")
    let other = try TemporaryFolder()
    try other.write(Data(repeating: 4, count: 32).base64EncodedString(), to: "store.key")
    let stranger = DelegatedStorage.quiet(delegate, .file(other.file("store.key")))
    #expect(code { try stranger.save(2, forKey: "k") } == .wrongKey)
    #expect(try other.contents() == ["store.key"])
  }

  @Test func aKeyFileThatIsRefusedIsNotMarked() throws {
    try folder.write("a passphrase\r\n", to: "store.key")
    #expect(code { try store().save(1, forKey: "k") } == .invalid)
    let storage = DelegatedStorage.quiet(OpenDelegate(), .key(.repeating(1)))
    try storage.save(1, forKey: "k")
    try folder.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "copy.key")
    let copy = KeySource.file(folder.file("copy.key"))
    for source in [KeySource.file(file), copy] {
      #expect(code { _ = try storage.keyAdministration.rotate(openedBy: source) } == .invalid)
    }
    #expect(code { try storage.keyAdministration.change(to: .file(file)) } == .invalid)
    #expect(try folder.contents() == ["copy.key", "store.key"])
    // As an added key it may be the same.
    try storage.keyAdministration.add(copy)
    #expect(try folder.contents() == ["copy.key", "copy.key.made", "store.key"])
  }

  @Test func aMarkerThatCantBeLeftKeepsNobodyFromReading() throws {
    // No name is left for the marker, for any user: 255 bytes are the most.
    let name = String(repeating: "k", count: 255)
    try folder.write(Data(repeating: 3, count: 32).base64EncodedString(), to: name)
    let storage = DelegatedStorage.quiet(OpenDelegate(), .file(folder.file(name)))
    try storage.save(1, forKey: "k")
    #expect(try folder.contents() == [name])
  }

  @Test func aLinkInTheMarkersPlaceCountsAndIsNotFollowed() throws {
    FileCalls.link(marker.path, to: folder.file("elsewhere").path)
    #expect(code { try store().save(1, forKey: "k") } == .keyUnavailable)
    try folder.write(Data(repeating: 3, count: 32).base64EncodedString(), to: "store.key")
    try store().save(1, forKey: "k")
    #expect(try folder.contents() == ["store.key", "store.key.made"], "nothing is elsewhere")
  }
}
