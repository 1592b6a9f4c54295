import FileBackend
import Foundation
import TestSupport
import Testing

@Suite struct AdministrationTests {
  private let place = TemporarySealedFolder()

  private func blob(_ folder: SealedFolder, _ name: String, _ value: Data) throws -> URL {
    let before = Set(place.blobs)
    try folder.write(value, named: name)
    let new = try #require(place.blobs.first { !before.contains($0) })
    return place.url.appendingPathComponent("blobs/" + new)
  }

  private func flip(_ file: URL, at offset: Int) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.seek(toOffset: UInt64(offset))
    let old = try #require(try handle.read(upToCount: 1))[0]
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data([old ^ 0x10]))
    try handle.close()
  }

  // MARK: - Verification and repair

  @Test func aSoundFolderIsSound() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    try folder.write(pattern(100), named: "small")
    let told = Lock<[Int]>([])
    let report = try folder.verify { done, _ in told.withLock { $0.append(done) } }
    #expect(report.isSound && report.nameCount == 2 && report.blobCount == 1)
    #expect(report.byteCount == 100_100 && report.oldBlobCount == 0)
    #expect(told.withLock { $0.last } == 100_100)
    #expect(code { _ = try TemporarySealedFolder().folder().verify() } == .unavailable)
  }

  @Test func whatIsWrongIsToldByName() throws {
    let folder = place.folder()
    let missing = try blob(folder, "missing", pattern(100_000, 1))
    let cut = try blob(folder, "cut", pattern(100_000, 2))
    let damaged = try blob(folder, "damaged", pattern(5 * segment, 3))
    let denied = try blob(folder, "denied", pattern(100_000, 4))
    _ = try blob(folder, "well", pattern(100_000, 5))
    try FileManager.default.removeItem(at: missing)
    try Data(contentsOf: cut).dropLast().write(to: cut)
    try flip(damaged, at: segment + 16 + 9)
    try flip(damaged, at: 2 * (segment + 16) + 9)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: denied.path)
    let nobodys = damaged.deletingLastPathComponent()
      .appendingPathComponent(String(repeating: "0f", count: 16))
    try Data([1]).write(to: nobodys)
    let report = try folder.verify()
    #expect(!report.isSound && report.index.isSound && report.nameCount == 5)
    let kinds = report.findings.reduce(into: [:]) { $0[$1.name ?? "nobody's"] = $1.kind }
    #expect(
      kinds == [
        "missing": .missingBlob, "cut": .otherBlob, "damaged": .damagedBlob,
        "denied": .deniedBlob, "nobody's": .unnamedBlob,
      ])
    let ranges = report.findings.first { $0.name == "damaged" }?.ranges
    #expect(ranges == [segment..<3 * segment])
    // A repair removes what it is told to, and nothing else.
    #expect(try folder.repair(accepting: report).removedNames == [])
    #expect(try folder.names().count == 5 && place.blobs.count == 5)
    let repair = try folder.repair(
      accepting: folder.verify(), removingUnreadable: true, removingUnnamed: true)
    #expect(Set(repair.removedNames) == ["missing", "cut", "damaged", "denied"])
    #expect(repair.removedBlobCount == 1)
    #expect(try folder.names() == ["well"])
    #expect(try folder.verify().isSound && place.blobs.count == 1)
  }

  @Test func aNameThatIsChangedDuringAVerificationMakesNoBlobNobodys() throws {
    let folder = place.folder()
    // In the order of the names the last, so that they change after the names were listed.
    for name in ["x", "y"] { try folder.write(pattern(20_000), named: name) }
    try folder.transaction { transaction in
      for number in 0..<200 { try transaction.write(Data([1]), named: "small \(number)") }
    }
    let child = try helper.start(["rename-on", place.path, "y", "z"])
    child.waitUntilItSpeaks()
    for _ in 0..<30 {
      let report = try folder.verify()
      #expect(report.isSound, "\(report.findings) \(report.index.findings)")
    }
    child.kill()
    _ = try child.lines()
    try place.folder().open()
    #expect(try folder.verify().isSound)
    // What is really nobody's is told.
    let nobodys = place.url.appendingPathComponent("blobs/" + String(repeating: "0f", count: 16))
    try Data([1]).write(to: nobodys)
    #expect(try folder.verify().findings.map(\.kind) == [.unnamedBlob])
  }

  @Test func aValueThatWasWrittenAnewIsNotRemovedByARepair() throws {
    let folder = place.folder()
    let file = try blob(folder, "name", pattern(100_000))
    try FileManager.default.removeItem(at: file)
    let report = try folder.verify()
    try folder.write(pattern(100_000, 2), named: "name")
    let repair = try folder.repair(accepting: report, removingUnreadable: true)
    #expect(repair.removedNames == [])
    #expect(try folder.read(named: "name") == pattern(100_000, 2))
  }

  @Test func anEntryOfANewerReleaseIsToldAndHidesNobodysBlobs() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "name")
    try place.index().save(Data([9, 9]), forKey: "newer")
    let nobodys = place.url.appendingPathComponent("blobs/" + String(repeating: "0f", count: 16))
    try Data([1]).write(to: nobodys)
    #expect(try folder.verify().findings.map(\.kind) == [.damagedEntry])
    #expect(code { _ = try folder.read(named: "newer") } == .unsupported)
    #expect(
      try folder.repair(accepting: folder.verify(), removingUnnamed: true).removedBlobCount == 0)
  }

  // MARK: - Keys

  @Test func aRotationSealsIndexAndBlobsAnew() throws {
    let folder = place.folder()
    let old = try blob(folder, "large", pattern(300_000))
    let copy = try Data(contentsOf: old)
    try folder.write(pattern(100), named: "small")
    let key = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
    let told = Lock<[Int]>([])
    let rotation = try folder.rotate(openedBy: key) { done, total in
      told.withLock { $0.append(done) }
      #expect(total == 300_000)
    }
    #expect(rotation.resealedCount == 1 && rotation.remaining == [])
    #expect(told.withLock { $0.last } == 300_000)
    #expect(!place.blobs.contains(old.lastPathComponent) && place.blobs.count == 1)
    #expect(try Data(contentsOf: place.onlyBlob()) != copy)
    #expect(try place.folder(key).read(named: "large") == pattern(300_000))
    #expect(try place.folder(key).read(named: "small") == pattern(100))
    #expect(code { _ = try place.folder().read(named: "large") } == .wrongKey)
    let report = try folder.verify()
    #expect(report.isSound && report.oldBlobCount == 0)
    #expect(try folder.reencrypt().resealedCount == 0)
  }

  @Test func aDamagedBlobStaysAndIsNamedByARotation() throws {
    let folder = place.folder()
    let bad = try blob(folder, "bad", pattern(300_000, 1))
    try folder.write(pattern(100_000, 2), named: "good")
    try flip(bad, at: 5)
    let before = try #require(try folder.reader(named: "bad"))
    #expect(try before.read(segment..<300_000) == pattern(300_000, 1)[segment...])
    let rotation = try folder.rotate()
    #expect(rotation.remaining == ["bad"] && rotation.resealedCount == 1)
    // Its key may be somebody else's now, so that no part of it is believed.
    #expect(code { _ = try folder.reader(named: "bad") } == .damaged)
    #expect(place.blobs.count == 2 && place.pending == [])
    try flip(bad, at: 5)
    #expect(try folder.read(named: "bad") == pattern(300_000, 1))
    #expect(try folder.reencrypt().resealedCount == 1)
  }

  // MARK: - Backups

  @Test func aBackupIsAFolderThatTheSameKeyOpens() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    try folder.write(pattern(100), named: "small")
    let url = place.parent.appendingPathComponent("copy", isDirectory: true)
    try folder.backup(to: url)
    #expect(code { try folder.backup(to: url) } == .invalid)
    let copy = TemporarySealedFolder.folder(at: url)
    let files = try FileManager.default.contentsOfDirectory(atPath: url.path)
    #expect(files.filter { $0.contains("unfinished") } == [])
    #expect(try copy.verify().isSound)
    #expect(try copy.read(named: "large") == pattern(100_000))
    try copy.write(pattern(200_000), named: "large")
    #expect(try folder.read(named: "large") == pattern(100_000))
    #expect(code { try TemporarySealedFolder().folder().backup(to: url) } != nil)
  }

  @Test func aBackupDuringReplacementsIsWhole() throws {
    let folder = place.folder()
    let times = Depth.count(60, day: 24)
    for name in ["a", "b", "c"] { try folder.write(pattern(200_000), named: name) }
    let child = try helper.start(["replace-on", place.path, "a", "5", "300000", "\(times)"])
    for number in 0..<times / 12 {
      let url = place.parent.appendingPathComponent("copy-\(number)", isDirectory: true)
      try folder.backup(to: url)
      let copy = TemporarySealedFolder.folder(at: url)
      let report = try copy.verify()
      #expect(report.isSound && report.blobCount == 3, "\(report.findings)")
      #expect([200_000, 300_000].contains(try copy.info(named: "a")?.size))
    }
    #expect(try child.lines() == ["replaced"])
  }

  @Test func aRestoredFolderIsWhatTheBackupWas() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    try folder.write(pattern(100), named: "small")
    let url = place.parent.appendingPathComponent("copy", isDirectory: true)
    try folder.backup(to: url)
    try folder.write(pattern(200_000, 2), named: "large")
    try folder.write(pattern(200_000, 3), named: "new")
    try folder.remove("small")
    try folder.restore(from: url)
    #expect(Set(try folder.names()) == ["large", "small"])
    #expect(try folder.read(named: "large") == pattern(100_000))
    #expect(place.blobs.count == 1 && place.pending == ["upkeep.lock"])
    #expect(try folder.verify().isSound)
    // A folder that is gone altogether comes back.
    try FileManager.default.removeItem(at: place.url)
    let anew = place.folder()
    try anew.restore(from: url)
    #expect(try anew.read(named: "large") == pattern(100_000))
  }

  @Test func aDamagedBlobIsPutBackByARestore() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    let url = place.parent.appendingPathComponent("copy", isDirectory: true)
    try folder.backup(to: url)
    try flip(place.onlyBlob(), at: 70_000)
    #expect(code { _ = try folder.read(named: "large") } == .damaged)
    try folder.restore(from: url)
    #expect(try folder.read(named: "large") == pattern(100_000))
  }

  @Test func whatOthersRemoveDuringARestorationIsThereAfterwards() throws {
    let folder = place.folder()
    for name in ["one", "two", "three"] { try folder.write(pattern(50_000), named: name) }
    let url = place.file("backup")
    try folder.backup(to: url)
    let other = place.folder()
    try folder.restore(from: url) { done, total in
      // All blobs were compared, and the index is not put back yet.
      guard done == total else { return }
      do {
        try other.remove("one")
        try other.write(pattern(20_000), named: "two")
      } catch {
        Issue.record(error)
      }
    }
    for name in ["one", "two", "three"] {
      #expect(try folder.read(named: name) == pattern(50_000))
    }
    let report = try folder.verify()
    #expect(report.isSound, "\(report.findings) \(report.index.findings)")
    #expect(place.blobs.count == 3 && place.pending == ["upkeep.lock"])
  }

  @Test func aBackupThatIsNotSoundIsNotRestored() throws {
    let folder = place.folder()
    try folder.write(pattern(100_000), named: "large")
    let url = place.parent.appendingPathComponent("copy", isDirectory: true)
    try folder.backup(to: url)
    try flip(url.appendingPathComponent("blobs/" + place.blobs[0]), at: 70_000)
    try folder.write(pattern(50_000, 2), named: "large")
    #expect(code { try folder.restore(from: url) } == .damaged)
    #expect(try folder.read(named: "large") == pattern(50_000, 2))
  }

  @Test func aBackupLeavesOutWhatCannotBeReadIfAskedToAndIsSoundThen() throws {
    let folder = place.folder()
    let missing = try blob(folder, "missing", pattern(100_000, 1))
    let damaged = try blob(folder, "damaged", pattern(3 * segment, 2))
    let denied = try blob(folder, "denied", pattern(100_000, 3))
    try folder.write(pattern(100_000, 4), named: "well")
    try folder.write(pattern(100, 5), named: "small")
    try place.index().save(Data([9, 9]), forKey: "newer")
    try FileManager.default.removeItem(at: missing)
    try flip(damaged, at: segment + 100)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: denied.path)
    let url = place.parent.appendingPathComponent("copy", isDirectory: true)
    do {
      try folder.backup(to: url)
      Issue.record("it was backed up")
    } catch {
      #expect(error.code == .unsupported && error.key == "newer")
      #expect(error.message.contains("leavingOutUnreadable"))
    }
    // Nothing of it is in the way of the next one.
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try place.index().delete(forKey: "newer")
    #expect(code { try folder.backup(to: url) } != nil)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try place.index().save(Data([9, 9]), forKey: "newer")
    let told = Lock<[Int]>([])
    let backup = try folder.backup(to: url, leavingOutUnreadable: true) { done, _ in
      told.withLock { $0.append(done) }
    }
    #expect(backup.leftOut.map(\.name) == ["damaged", "denied", "missing", "newer"])
    #expect(backup.leftOut.map(\.error.code) == [.damaged, .denied, .damaged, .unsupported])
    #expect(backup.leftOut[0].error.path == damaged.path && !backup.isComplete)
    #expect(told.withLock { $0 == $0.sorted() && $0.last == 300_000 + 3 * segment })
    let files = try FileManager.default.contentsOfDirectory(atPath: url.path)
    #expect(files.filter { $0.contains("unfinished") } == [])
    let copy = TemporarySealedFolder.folder(at: url)
    #expect(try copy.verify().isSound)
    #expect(try Set(copy.names()) == ["well", "small"])
    // The folder is as it was, and the copy can be restored.
    #expect(try folder.names().count == 6)
    try folder.restore(from: url)
    #expect(try folder.read(named: "well") == pattern(100_000, 4))
    #expect(try folder.verify().isSound)
  }
}
