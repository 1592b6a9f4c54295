import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

// The code of the guide "Writing a delegate", compiled here and run; that it is the same code, a test looks.

private struct FolderDelegate: StorageDelegate {
  let folder: URL

  /// 128 hexadecimal digits in lower case, which every file system takes as a file name.
  private func file(_ name: NameHash) -> URL { folder.appending(path: name.hexadecimal) }

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
    do {
      return [UInt8](try Data(contentsOf: file(name)))
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    } catch {
      throw failure(error, name)
    }
  }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    do {
      try write(record) { sibling in
        // rename(2) replaces what is there in one atomic step.
        guard unsafe rename(sibling.path, file(name).path) == 0 else {
          throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
      }
    } catch {
      throw failure(error, name)
    }
  }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    do {
      // link(2) fails where the name is taken: one atomic step.
      try write(record) { try FileManager.default.linkItem(at: $0, to: file(name)) }
      return true
    } catch CocoaError.fileWriteFileExists {
      return false
    } catch {
      throw failure(error, name)
    }
  }

  func remove(_ name: NameHash) throws(StorageError) {
    do {
      try FileManager.default.removeItem(at: file(name))
      try FileHandle(forReadingFrom: folder).synchronize()
    } catch CocoaError.fileNoSuchFile {
      // There was none. With `try?`, a record that can't be removed would be said to be gone.
    } catch {
      throw failure(error, name)
    }
  }

  /// Makes a file that is durable before it has its name.
  private func write(_ record: [UInt8], thenName name: (URL) throws -> Void) throws {
    let sibling = folder.appending(path: ".\(UUID().uuidString)")
    try Data(record).write(to: sibling, options: .withoutOverwriting)
    defer { try? FileManager.default.removeItem(at: sibling) }  // renamed, it is gone already
    try FileHandle(forUpdating: sibling).synchronize()
    try name(sibling)
    try FileHandle(forReadingFrom: folder).synchronize()
  }

  private func failure(_ error: any Error, _ name: NameHash) -> StorageError {
    let code: StorageError.Code =
      switch error {
      case CocoaError.fileWriteOutOfSpace, POSIXError.ENOSPC: .full
      case CocoaError.fileWriteVolumeReadOnly, POSIXError.EROFS: .readOnly
      case CocoaError.fileReadNoPermission, CocoaError.fileWriteNoPermission: .denied
      default: .io
      }
    return StorageError(
      code,
      "the file of a record can't be used (\(type(of: error))); look at the folder and the disk",
      path: file(name).path)
  }
}

@Suite struct FolderDelegateTests {
  /// What a test has made, removed with it.
  private final class Root: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "sps-test-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
  }
  private let root = Root()

  private func freshFolder() throws -> URL {
    let folder = root.url.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test(arguments: DelegatePromise.all(of: FolderDelegate.self))
  func keepsIts(_ promise: DelegatePromise) throws {
    try promise.check { FolderDelegate(folder: try freshFolder()) }
  }

  @Test(arguments: DelegatePromise.whereThePlaceFails(of: FolderDelegate.self))
  func keepsItWhereTheFolderFails(_ promise: DelegatePromise) throws {
    let folder = try freshFolder()
    let aside = folder.appendingPathExtension("aside")
    try promise.check(
      making: { FolderDelegate(folder: folder) },
      failing: { _ in
        // A file in the place of the folder. Its permissions alone would not keep root away.
        try FileManager.default.moveItem(at: folder, to: aside)
        try Data().write(to: folder)
        return {
          try FileManager.default.removeItem(at: folder)
          try FileManager.default.moveItem(at: aside, to: folder)
        }
      })
  }

  @Test func aNameIsAFileNameAndTheWayBack() throws {
    let folder = try freshFolder()
    let key = SymmetricKey(size: .bits256)
    let storage = DelegatedStorage(FolderDelegate(folder: folder), keySource: .key(key))
    try storage.save("abc", forKey: "../a/name with a slash")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count == 1 && names.allSatisfy { NameHash(hexadecimal: $0) != nil })
    #expect(try storage.load(String.self, forKey: "../a/name with a slash") == "abc")
  }

  @Test func whatTheGuideShowsIsWhatIsCompiledHere() throws {
    let guide = try GuideCode("StorageCore/WritingADelegate")
    #expect(guide.blocks.count == 4)
    #expect(try guide.blocks(missingIn: #filePath) == [])
  }
}
