import CPeers
import Foundation
import Glibc
import VaultBackend

/// Where the benchmarks' files are.
enum Disk {
  struct Unfit: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder of the standard vault, in the private environment of `make bench`.
  static let folder: String = {
    let path = (try? VaultStorage.standardPath(applicationID: "bench")) ?? "/tmp/bench/vault"
    let folder = URL(filePath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder.path
  }()

  /// The name of the file system.
  static var fileSystem: String {
    switch unsafe file_system_of(folder) {
    case 0xEF53: "ext4"
    case 0x5846_5342: "xfs"
    case 0x9123_683E: "btrfs"
    case 0x794C_7630: "overlayfs"
    case 0x0102_1994: "tmpfs"
    case let other: "0x" + String(other, radix: 16)
    }
  }

  /// Refuses a place where nothing is durable, and so nothing is slow.
  static func check() throws {
    guard fileSystem == "tmpfs" else { return }
    throw Unfit(description: "\(folder) is memory; set TMPDIR to a folder on a disk")
  }

  /// How many bytes a file has.
  static func size(of path: String) -> Int {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// One file for each value: what there is without a library.
struct BareFiles {
  private let path = Disk.folder + "/bare-value"
  private let value = [UInt8](repeating: 0x5A, count: Peer.recordSize)

  struct Failed: Error {}

  init() throws { try write(1) }

  func read(_ rounds: Int) throws {
    var buffer = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<rounds {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      guard file >= 0, unsafe Glibc.read(file, &buffer, buffer.count) == value.count else {
        throw Failed()
      }
    }
  }

  /// A sibling, its fsync(2), rename(2), and the folder's fsync(2).
  func write(_ rounds: Int) throws {
    for _ in 0..<rounds {
      let file = unsafe open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0, unsafe Glibc.write(file, value, value.count) == value.count,
        fsync(file) == 0, close(file) == 0, unsafe rename(path + ".new", path) == 0
      else { throw Failed() }
      let folder = unsafe open(Disk.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0, fsync(folder) == 0, close(folder) == 0 else { throw Failed() }
    }
  }
}
