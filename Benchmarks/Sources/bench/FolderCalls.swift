import FileBackend
import Foundation
import Glibc
import VaultBackend

/// A sealed folder beside the same cipher in a bare loop with the same reads and writes.
enum FolderCalls {
  private static let segment = 65_536
  private static let length = 64 << 20
  /// Of the value that is read here and there.
  private static let longLength = 1 << 30

  struct Failed: Error {}

  static func comparisons() throws -> [Comparison] {
    let url = URL(filePath: Disk.folder + "/folder", directoryHint: .isDirectory)
    let folder = SealedFolder(
      at: url, keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
    let bare = try BareBlob(Disk.folder + "/bare", segments: length / segment)
    let vault = VaultStorage(
      at: URL(filePath: Disk.folder + "/beside.vault"),
      keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
    return streams(folder, bare) + small(folder, vault)
  }

  private static func streams(_ folder: SealedFolder, _ bare: BareBlob) -> [Comparison] {
    let chunk = Data(repeating: 5, count: segment)
    func write() throws {
      let writer = try folder.writer(named: "long")
      for _ in 0..<length / segment { try writer.write(chunk) }
      try writer.commit()
    }
    var made: SealedFileReader?
    func reader() throws -> SealedFileReader {
      if let made { return made }
      try write()
      made = try folder.reader(named: "long")
      return made!
    }
    return [
      Comparison(
        "SealedFolder: write 64 MiB", against: "EVP and the same file", in: .vault, target: 1.11,
        clock: .wall, floor: { rounds in for _ in 0..<rounds { try bare.write() } },
        ours: { rounds in for _ in 0..<rounds { try write() } }),
      Comparison(
        "SealedFolder: read 64 MiB", against: "EVP and the same file", in: .vault, target: 1.11,
        floor: { rounds in for _ in 0..<rounds { try bare.read() } },
        ours: { rounds in
          for _ in 0..<rounds {
            var count = 0
            try reader().withChunks { count += $0.byteCount }
            guard count == length else { throw Failed() }
          }
        }),
      random(in: folder),
    ]
  }

  /// At places that are no multiples of anything, in 1 GiB; both sides keep their file open.
  private static func random(in folder: SealedFolder) -> Comparison {
    var made: SealedFileReader?
    func reader() throws -> SealedFileReader {
      if let made { return made }
      let writer = try folder.writer(named: "random")
      let chunk = Data(repeating: 5, count: 1 << 20)
      for _ in 0..<longLength / chunk.count { try writer.write(chunk) }
      try writer.commit()
      made = try folder.reader(named: "random")
      return made!
    }
    var floor: BareBlob?
    func bare() throws -> BareBlob {
      if let floor { return floor }
      let new = try BareBlob(Disk.folder + "/bare-random", segments: longLength / segment)
      floor = new
      return new
    }
    var random: UInt64 = 1
    return Comparison(
      "SealedFolder: read 4 KiB anywhere", against: "EVP, one segment", in: .vault, target: 1.3,
      floor: { rounds in
        let bare = try bare()
        for _ in 0..<rounds { try bare.readSegment() }
      },
      ours: { rounds in
        let reader = try reader()
        for _ in 0..<rounds {
          random = random &* 6_364_136_223_846_793_005 &+ 1
          let start = Int(random >> 24) % (longLength - 4096)
          guard try reader.read(start..<start + 4096).count == 4096 else { throw Failed() }
        }
      })
  }

  private static func small(_ folder: SealedFolder, _ vault: VaultStorage) -> [Comparison] {
    let value = Data(repeating: 5, count: 1024)
    return [
      Comparison(
        "SealedFolder: write 1 KiB", against: "a vault's write", in: .vault, target: 1.1,
        clock: .wall, batch: 2e7,
        floor: { rounds in for _ in 0..<rounds { try vault.save(value, forKey: "small") } },
        ours: { rounds in for _ in 0..<rounds { try folder.write(value, named: "small") } })
    ]
  }
}

/// Segments that are sealed in a loop, and a file of the same length.
private final class BareBlob {
  private let cipher: BareCipher
  private let path: String
  private let segments: Int
  private var bytes = [UInt8](repeating: 5, count: 65_552)
  private var next: UInt64 = 1
  private var opened: Int32 = -1

  init(_ path: String, segments: Int) throws {
    cipher = try BareCipher(count: 65_536)
    self.path = path
    self.segments = segments
    try write()
  }

  func write() throws {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw FolderCalls.Failed() }
    defer { close(descriptor) }
    for _ in 0..<segments {
      try cipher.seal(1)
      guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw FolderCalls.Failed()
      }
    }
    guard fsync(descriptor) == 0 else { throw FolderCalls.Failed() }
  }

  func read() throws {
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    for segment in 0..<segments { try readSegment(segment, of: descriptor) }
  }

  /// One anywhere, of a file that stays open.
  func readSegment() throws {
    if opened < 0 { opened = unsafe open(path, O_RDONLY | O_CLOEXEC) }
    next = next &* 6_364_136_223_846_793_005 &+ 1
    try readSegment(Int(next >> 24) % segments, of: opened)
  }

  private func readSegment(_ segment: Int, of descriptor: Int32) throws {
    let start = off_t(segment * bytes.count)
    guard unsafe pread(descriptor, &bytes, bytes.count, start) == bytes.count else {
      throw FolderCalls.Failed()
    }
    try cipher.openUnchecked()
  }
}
