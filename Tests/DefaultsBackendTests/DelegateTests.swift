import CryptoCore
import DefaultsBackend
import Dispatch
import Foundation
import StorageCore
import StorageTesting
import Testing

@Suite struct DelegateTests {
  @Test(arguments: DelegatePromise.all(of: DefaultsDelegate.self))
  func anImmediateDelegateKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { TemporaryFolder().delegate() }
  }

  @Test(arguments: DelegatePromise.all(of: DefaultsDelegate.self))
  func anUnsynchronizedDelegateKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { TemporaryFolder().delegate(.unsynchronized) }
  }

  @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b", String(repeating: "x", count: 201)])
  func aSuiteNameThatCantBeIsInvalidAtEveryUse(_ suite: String) {
    let folder = TemporaryFolder()
    let delegate = DefaultsDelegate(folder: folder.path, suiteName: suite)
    #expect(code { _ = try delegate.record(for: name(1)) } == .invalid)
    #expect(code { try delegate.set([1], for: name(1)) } == .invalid)
    #expect(code { _ = try delegate.names() } == .invalid)
    #expect(folder.entries.isEmpty)
  }

  @Test(arguments: ["a", "...", "com.example.app", "\u{1F511}", String(repeating: "x", count: 200)])
  func anyOtherSuiteNameWorks(_ suite: String) throws {
    let folder = TemporaryFolder()
    let delegate = DefaultsDelegate(folder: folder.path, suiteName: suite)
    try delegate.set([1], for: name(1))
    _ = try delegate.updateHeader { header, _ in header = [1] }
    #expect(folder.entries.contains(suite + ".secure.plist"))
  }

  @Test func readingMakesNothing() throws {
    let folder = TemporaryFolder()
    let delegate = DefaultsDelegate(folder: folder.path + "/not/there", suiteName: "suite")
    #expect(try delegate.record(for: name(1)) == nil)
    #expect(try delegate.names().isEmpty)
    #expect(folder.entries.isEmpty)
  }

  @Test func foldersAndFilesAreMadeForTheOwnerAlone() throws {
    let folder = TemporaryFolder()
    let delegate = DefaultsDelegate(folder: folder.path + "/a/b", suiteName: "suite")
    try delegate.set([1], for: name(1))
    for (path, mode) in [("/a", 0o700), ("/a/b", 0o700), ("/a/b/suite.secure.plist", 0o600)] {
      let found = try FileManager.default.attributesOfItem(atPath: folder.path + path)
      #expect(found[.posixPermissions] as? Int == mode, "\(path)")
    }
  }

  @Test func aBatchThatIsTooLargeFailsAlone() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate()
    try delegate.set([1], for: name(1))
    let record = [UInt8](repeating: 1, count: 1 << 27)
    let writes = (0..<9).map { RecordWrite(record, for: name(100 + $0)) }
    let version = try delegate.header().version
    #expect(code { _ = try delegate.commit(writes, headerVersion: version) } == .full)
    #expect(try delegate.names() == [name(1)])
  }

  @Test func readersSeeValuesOnlyWhenTheyAreDurable() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate()
    let done = Lock(false)
    let early = Lock(0)
    let reader = Thread {
      while !done.withLock({ $0 }) {
        // What one delegate shows must be in the file at that time, or have been.
        guard let record = try? delegate.record(for: name(1)) else { continue }
        let shown = index(of: record)
        let held = (try? SuiteFileReading.record(name(1), in: folder.file)).flatMap { $0 }
        if (held.map { index(of: $0) } ?? -1) < shown { early.withLock { $0 += 1 } }
      }
    }
    reader.start()
    for index in 1...300 { try delegate.set(record(index), for: name(1)) }
    done.withLock { $0 = true }
    #expect(early.withLock { $0 } == 0)
  }

  @Test func aReaderDoesNotWaitForAWriterThatWaitsForALock() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(deadline: .seconds(600))
    try delegate.set([1], for: name(1))
    let lock = try FileLock(folder.file + ".lock", waiting: .zero)
    let isWritten = Lock(false)
    let writer = Thread {
      #expect(code { try delegate.set([2], for: name(1)) } == nil)
      isWritten.withLock { $0 = true }
    }
    writer.start()
    usleep(100_000)
    #expect(try delegate.record(for: name(1)) == [1])
    #expect(!isWritten.withLock { $0 })
    _ = consume lock
    #expect(waits(.seconds(60)) { isWritten.withLock { $0 } })
    #expect(try delegate.record(for: name(1)) == [2])
  }
}

/// Reads a record out of the file with Foundation's parser.
enum SuiteFileReading {
  static func record(_ name: NameHash, in file: String) throws -> [UInt8]? {
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    let list = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
    return (list as? [String: Data])?[name.hexadecimal].map { Array($0) }
  }
}
