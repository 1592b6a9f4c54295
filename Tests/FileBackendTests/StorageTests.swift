import FileBackend
import Foundation
import TestSupport
import Testing

@Suite struct StorageTests {
  private let place = TemporarySealedFolder()

  /// Lengths around every border of the format.
  static let lengths = [
    0, 1, 16_383, 16_384, 16_385, segment - 1, segment, segment + 1, 2 * segment, 2 * segment + 1,
    5 * segment - 1, 9 * segment + 17,
  ]

  @Test(arguments: lengths, [AEADAlgorithm.aes256GCM, .chaCha20Poly1305])
  func whatIsWrittenIsReadInAnotherObject(_ length: Int, _ algorithm: AEADAlgorithm) throws {
    let value = pattern(length)
    try place.folder(algorithm: algorithm).write(value, named: "name")
    let folder = place.folder()
    #expect(try folder.read(named: "name") == value)
    #expect(try folder.info(named: "name")?.size == length)
    #expect(try folder.names() == ["name"])
    #expect(place.blobs.count == (length > 16_384 ? 1 : 0))
    #expect(place.pending == [])
  }

  @Test func nothingIsMadeByReading() throws {
    let folder = place.folder()
    #expect(try folder.read(named: "name") == nil)
    #expect(try folder.reader(named: "name") == nil)
    #expect(try !folder.contains("name"))
    #expect(try folder.names() == [])
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test func aRemovedValueIsGoneWithItsBlob() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    try folder.write(pattern(100), named: "small")
    try folder.remove("large")
    try folder.remove("small")
    try folder.remove("absent")
    #expect(try folder.read(named: "large") == nil)
    #expect(try folder.names() == [])
    #expect(place.blobs == [] && place.pending == [])
  }

  @Test(arguments: [(100, 100_000), (100_000, 100), (100_000, 200_000)])
  func aReplacedValueLeavesNoBlob(_ old: Int, _ new: Int) throws {
    let folder = place.folder()
    try folder.write(pattern(old), named: "name")
    try folder.write(pattern(new, 2), named: "name")
    #expect(try folder.read(named: "name") == pattern(new, 2))
    #expect(place.blobs.count == (new > 16_384 ? 1 : 0))
    #expect(place.pending == [])
  }

  @Test func neitherNamesNorBytesAreOnTheDiskInTheClear() throws {
    let folder = place.folder()
    let secret = Data("a secret of many letters, ".utf8)
    let value = (0..<8000).reduce(into: Data()) { data, _ in data.append(secret) }
    try folder.write(value, named: "the name of the value")
    try folder.write(secret, named: "another name")
    let files = try #require(
      FileManager.default.enumerator(at: place.url, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where !file.hasDirectoryPath {
      let bytes = try Data(contentsOf: file)
      count += 1
      #expect(bytes.range(of: secret) == nil, "\(file.lastPathComponent)")
      #expect(bytes.range(of: Data("the name of".utf8)) == nil)
      #expect(bytes.range(of: Data("another name".utf8)) == nil)
    }
    #expect(count >= 2)
  }

  // MARK: - Ranges

  @Test func everyRangeIsReadAsItWasWritten() throws {
    let folder = place.folder()
    let value = pattern(3 * segment + 100)
    try folder.write(value, named: "name")
    let reader = try #require(try folder.reader(named: "name"))
    #expect(reader.size == value.count)
    let borders = [
      0, 1, segment - 1, segment, segment + 1, 2 * segment, 3 * segment - 1, 3 * segment,
      3 * segment + 99, 3 * segment + 100,
    ]
    for lower in borders {
      for upper in borders where upper >= lower {
        #expect(try reader.read(lower..<upper) == value[lower..<upper], "\(lower)..<\(upper)")
        var chunks = Data()
        try reader.withChunks(of: lower..<upper) { chunk in
          unsafe chunk.withUnsafeBytes { unsafe chunks.append(contentsOf: $0) }
        }
        #expect(chunks == value[lower..<upper], "\(lower)..<\(upper)")
      }
    }
    #expect(code { _ = try reader.read(0..<value.count + 1) } == .invalid)
    #expect(code { _ = try reader.read(-1..<1) } == .invalid)
    #expect(throws: StorageError.self) { try reader.withChunks(of: 1..<value.count + 1) { _ in } }
  }

  @Test func aSmallValueIsReadInRangesToo() throws {
    let folder = place.folder()
    try folder.write(Data("hello".utf8), named: "name")
    let reader = try #require(try folder.reader(named: "name"))
    #expect(try reader.read(1..<3) == Data("el".utf8))
    #expect(try reader.read(5..<5) == Data())
    #expect(code { _ = try reader.read(0..<6) } == .invalid)
  }

  @Test func aReaderReadsOnAfterItsValueWasReplacedAndRemoved() throws {
    let folder = place.folder()
    try folder.write(pattern(200_000), named: "name")
    let reader = try #require(try folder.reader(named: "name"))
    try folder.write(pattern(300_000, 2), named: "name")
    #expect(try reader.read(0..<200_000) == pattern(200_000))
    try folder.remove("name")
    #expect(try reader.read(150_000..<200_000) == pattern(200_000)[150_000...])
  }

  // MARK: - Writing piece by piece

  @Test(arguments: [1, 1000, segment, segment + 1, 200_000])
  func piecesOfAnySizeMakeTheWhole(_ size: Int) throws {
    let folder = place.folder()
    let value = pattern(size == 1 ? 20_000 : 300_000)
    let writer = try folder.writer(named: "name")
    var rest = value
    while !rest.isEmpty {
      try writer.write(rest.prefix(size))
      rest = rest.dropFirst(size)
      #expect(try folder.read(named: "name") == nil)
    }
    #expect(writer.size == value.count)
    try writer.commit()
    #expect(try folder.read(named: "name") == value)
    #expect(code { try writer.write(Data([1])) } == .invalid)
    #expect(code { try writer.commit() } == .invalid)
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  @Test func anAbandonedHandleLeavesTheOldValueAndNoBlob() throws {
    let folder = place.folder()
    try folder.write(Data("old".utf8), named: "name")
    let writer = try folder.writer(named: "name")
    try writer.write(pattern(200_000))
    #expect(place.blobs.count == 1)
    writer.abandon()
    #expect(code { try writer.commit() } == .invalid)
    do {
      let forgotten = try folder.writer(named: "name")
      try forgotten.write(pattern(200_000))
    }
    #expect(place.blobs == [] && place.pending == [])
    #expect(try folder.read(named: "name") == Data("old".utf8))
  }

  @Test func aFileIsWrittenAndItsProgressIsTold() throws {
    let folder = place.folder()
    let value = pattern(1_000_000)
    try value.write(to: place.file("source"))
    var told: [Int] = []
    try folder.write(contentsOf: place.file("source"), named: "name") { done, total in
      told.append(done)
      #expect(total == 1_000_000)
    }
    #expect(told == told.sorted() && told.last == 1_000_000 && told.count > 2)
    #expect(try folder.read(named: "name") == value)
    #expect(
      code { try folder.write(contentsOf: place.file("absent"), named: "name") } == .unavailable)
    #expect(code { try folder.write(contentsOf: place.parent, named: "name") } == .invalid)
    #expect(try folder.read(named: "name") == value)
  }

  // MARK: - Names

  @Test func aValueGetsAnotherNameAndItsBlobStays() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "old")
    try folder.write(pattern(200_000, 2), named: "new")
    let blob = place.blobs
    #expect(try folder.rename("old", to: "new"))
    #expect(try folder.names() == ["new"])
    #expect(try folder.read(named: "new") == pattern(100_000))
    #expect(place.blobs.count == 1 && blob.contains(place.blobs[0]))
    #expect(try !folder.rename("old", to: "other"))
    #expect(try folder.rename("new", to: "new"))
    #expect(try folder.read(named: "new") == pattern(100_000))
    #expect(place.pending == [])
  }

  @Test func aCopyIsAValueOfItsOwn() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "one")
    #expect(try folder.copy("one", to: "two"))
    #expect(place.blobs.count == 2)
    try folder.remove("one")
    #expect(try folder.read(named: "two") == pattern(100_000))
    #expect(try !folder.copy("one", to: "three"))
    #expect(try folder.names() == ["two"])
  }

  @Test(arguments: ["", String(repeating: "x", count: 1025)])
  func aNameThatCannotBeIsRefusedAndLeavesNothing(_ name: String) throws {
    let folder = place.folder()
    try folder.write(Data(), named: "good")
    #expect(code { try folder.write(pattern(100_000), named: name) } == .invalid)
    #expect(code { try folder.write(pattern(10), named: name) } == .invalid)
    #expect(code { try folder.remove(name) } == .invalid)
    #expect(code { _ = try folder.read(named: name) } == .invalid)
    #expect(place.blobs == [] && place.pending == [])
  }

  @Test func namesAreNoPaths() throws {
    let folder = place.folder()
    for name in ["../../up", "/etc/passwd", "a/b", ".", "\0", "name\nline"] {
      try folder.write(pattern(20_000), named: name)
      #expect(try folder.read(named: name) == pattern(20_000))
    }
    #expect(place.blobs.count == 6)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.parent.path) == ["files"])
  }

  // MARK: - Atomic changes

  @Test func anUpdateChangesWhatIsThere() throws {
    let folder = place.folder()
    for _ in 0..<3 {
      try folder.update(named: "name") { value in value = (value ?? Data()) + pattern(10_000) }
    }
    #expect(try folder.info(named: "name")?.size == 30_000)
    try folder.update(named: "name") { $0 = nil }
    #expect(try !folder.contains("name"))
    #expect(place.blobs == [] && place.pending == [])
  }

  @Test func aTransactionThatThrowsLeavesEverythingAsItWas() throws {
    struct Stop: Error {}
    let folder = place.folder()
    try folder.write(pattern(50_000), named: "one")
    #expect(throws: Stop.self) {
      try folder.transaction { transaction in
        try transaction.write(pattern(60_000, 2), named: "one")
        try transaction.write(pattern(70_000, 3), named: "two")
        #expect(try transaction.read(named: "two") == pattern(70_000, 3))
        throw Stop()
      }
    }
    #expect(try folder.read(named: "one") == pattern(50_000))
    #expect(try folder.names() == ["one"])
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  @Test func aTransactionWritesRenamesAndRemovesAtOnce() throws {
    let folder = place.folder()
    for name in ["a", "b", "c"] { try folder.write(pattern(50_000), named: name) }
    try folder.transaction { transaction in
      try transaction.write(pattern(60_000, 1), named: "d")
      try transaction.write(pattern(60_000, 2), named: "d")
      try transaction.rename("d", to: "e")
      try transaction.rename("a", to: "b")
      try transaction.remove("c")
      #expect(try transaction.read(named: "d") == nil)
      #expect(try transaction.contains("e"))
    }
    #expect(Set(try folder.names()) == ["b", "e"])
    #expect(try folder.read(named: "e") == pattern(60_000, 2))
    #expect(try folder.read(named: "b") == pattern(50_000))
    #expect(place.blobs.count == 2 && place.pending == [])
  }

  @Test func threadsThatUpdateOneValueLoseNothing() throws {
    let folders = [place.folder(), place.folder()]
    try folders[0].write(pattern(20_000), named: "name")
    let failures = Lock(0)
    Threads.run(4) { thread in
      for _ in 0..<10 {
        do {
          try folders[thread % 2].update(named: "name") { $0!.append(1) }
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect(try folders[0].info(named: "name")?.size == 20_040)
    #expect(place.blobs.count == 1)
    // What two had in their hands is left to the next opening at most.
    #expect(try place.folder().read(named: "name")?.count == 20_040)
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  // MARK: - Refusals

  @Test func aFolderThatIsOpenedReadOnlyIsNotWrittenTo() throws {
    try place.folder().write(pattern(50_000), named: "name")
    let folder = place.folder(access: .readOnly)
    #expect(try folder.read(named: "name") == pattern(50_000))
    #expect(code { try folder.write(Data(), named: "name") } == .readOnly)
    #expect(code { try folder.remove("name") } == .readOnly)
    #expect(code { _ = try folder.writer(named: "name") } == .readOnly)
    #expect(code { try folder.rename("name", to: "other") } == .readOnly)
    #expect(code { try folder.compact() } == .readOnly)
    let copy = place.parent.appendingPathComponent("copy")
    try folder.backup(to: copy)
    #expect(code { try folder.restore(from: copy) } == .readOnly)
    let report = try folder.verify()
    #expect(code { try folder.repair(accepting: report, removingUnnamed: true) } == .readOnly)
  }

  @Test(arguments: [StoreAccess.readOnly, .mustExist])
  func anOpeningShowsWhatWillFail(_ access: StoreAccess) throws {
    #expect(code { try place.folder(access: access).open() } == .unavailable)
    try place.folder().write(pattern(50_000), named: "name")
    try place.folder(access: access).open()
    let other = SealedFolder(
      at: place.url, keySource: .key(SymmetricKey(data: Data(repeating: 8, count: 32))),
      access: access)
    #expect(code { try other.open() } == .wrongKey)
  }

  @Test func anotherKeyOpensNothing() throws {
    try place.folder().write(pattern(50_000), named: "name")
    let other = place.folder(.key(SymmetricKey(data: Data(repeating: 8, count: 32))))
    #expect(code { _ = try other.read(named: "name") } == .wrongKey)
    #expect(code { try other.write(pattern(50_000), named: "name") } == .wrongKey)
    #expect(try place.folder().read(named: "name") == pattern(50_000))
  }

  @Test func anAlgorithmThatSealsNoStreamsIsRefused() throws {
    let folder = place.folder(algorithm: .xaes256GCM)
    #expect(code { try folder.write(pattern(50_000), named: "name") } == .unsupported)
    #expect(place.blobs == [])
  }

  @Test func noIndexIsMadeWhereBlobsAreLeft() throws {
    let folder = place.folder()
    try folder.write(pattern(50_000), named: "name")
    try FileManager.default.removeItem(at: place.url.appendingPathComponent("index.vault"))
    for name in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(
        at: place.url.appendingPathComponent("index.vault" + name))
    }
    for folder in [place.folder(), folder] {
      #expect(code { _ = try folder.read(named: "name") } == .damaged)
      #expect(code { try folder.write(Data(), named: "name") } == .damaged)
      #expect(code { _ = try folder.names() } == .damaged)
    }
    #expect(place.blobs.count == 1)
  }
}
