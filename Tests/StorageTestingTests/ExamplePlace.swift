import CryptoCore
import Foundation
import StorageCore

/// Keeps a store in one file, with writes that are atomic and durable; one object has it open.
final class ExamplePlace: RecordPlace, @unchecked Sendable {  // `lock` protects the variables
  private let (file, claim): (URL, FileHandle)
  private let (lock, observers) = (NSLock(), ChangeObservers())
  private var all: [String: Data] = [:]  // records by name, and the header
  private var version: UInt64 = 1
  var location: String? { file.path }

  init(_ file: URL) throws(StorageError) {
    let lockFile = unsafe open(file.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    (self.file, claim) = (file, FileHandle(fileDescriptor: lockFile, closeOnDealloc: true))
    guard flock(lockFile, LOCK_EX | LOCK_NB) == 0 else {
      throw StorageError(.unavailable, "the store is in use, or can't be locked", path: file.path)
    }
    do {
      all = try PropertyListDecoder().decode([String: Data].self, from: Data(contentsOf: file))
    } catch CocoaError.fileReadNoSuchFile {  // a new store; no other error means that
    } catch {
      throw StorageError(error is DecodingError ? .damaged : .io, "\(error)", path: file.path)
    }
  }
  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    lock.withLock { (all["header"].map(Array.init), version) }
  }
  func lookup(_ name: NameHash) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    lock.withLock { (all[name.hexadecimal].map(Array.init), version) }
  }
  func names() throws(StorageError) -> [NameHash] {
    lock.withLock { all.keys.compactMap { NameHash(hexadecimal: $0) } }
  }
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    observers.add(observer)
  }
  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    lock.lock()
    defer { lock.unlock() }
    var (new, header) = (all, all["header"].map(Array.init))
    let held = all.compactMap { key, data in NameHash(hexadecimal: key).map { ($0, Array(data)) } }
    try body(&header, HeldRecords(isEmpty: held.isEmpty) { visit in held.forEach(visit) })
    new["header"] = header.map { Data($0) }
    try replace(by: new, [])
    return version
  }
  func commit(_ writes: [RecordWrite], headerVersion: UInt64) throws(StorageError) -> CommitOutcome
  {
    lock.lock()
    defer { lock.unlock() }
    guard headerVersion == version else { return .headerChanged }
    var new = all
    for write in writes {
      let old = all[write.name.hexadecimal].map(Array.init)
      guard write.isAllowed(over: old) else { return .conditionFailed }
      if !write.isCheck { new[write.name.hexadecimal] = write.record.map { Data($0) } }
    }
    try replace(by: new, writes)
    return .committed
  }
  private func replace(by new: [String: Data], _ writes: [RecordWrite]) throws(StorageError) {
    guard new != all else { return }
    try attempt(.io) { try PropertyListEncoder().encode(new).write(to: file, options: .atomic) }
    if new["header"] != all["header"] { version += 1 }
    all = new
    for each in writes where !each.isCheck {  // under the lock, so in the order of the changes
      observers.notify(RecordChange(name: each.name, record: each.record, headerVersion: version))
    }
    try attempt(.outcomeUnknown) {
      try FileHandle(forReadingFrom: file.deletingLastPathComponent()).synchronize()
    }
  }
  private func attempt(_ code: StorageError.Code, _ body: () throws -> Void) throws(StorageError) {
    do { try body() } catch { throw StorageError(code, "\(error)", path: file.path) }
  }
}
