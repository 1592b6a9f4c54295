internal import Foundation
internal import Glibc
internal import StorageCore
internal import VaultBackend

extension VaultPlace {
  /// Refuses a path where something exists.
  func requireAbsent() throws {
    if let occupation = Path.occupation(of: path) { throw occupation }
    try requireNoOrphans()
  }

  /// The missing folders that creating the vault and its key file would create.
  ///
  /// Only folders of paths
  /// that the operator named count; folders of the standard place surprise nobody.
  func missingFolders(_ keyFile: String? = nil) throws -> [String] {
    let own = application == nil ? nil : try self.keyFile(of: nil)
    let named = keyFile.flatMap { file in own?.isExactly(file) == true ? nil : file }
    return [isNamed ? path : nil, named].compactMap { $0.flatMap(Path.missingFolder) }
      .withoutRepetition.sorted()
  }

  /// Runs `body`, which creates the vault, if it does not exist and no other program is creating
  /// it; leaves no new folder if that fails.
  ///
  /// Without a lock, two programs would both open the vault that the first one created. They take
  /// turns by a lock on the folder, flock(2), which leaves no file behind.
  func making<Result>(_ body: () throws -> Result) throws -> Result {
    try requireAbsent()
    return try Path.makingFolders(of: path) { try makingAlone(body) }
  }

  private func makingAlone<Result>(_ body: () throws -> Result) throws -> Result {
    let folder = (path as NSString).deletingLastPathComponent
    do throws(StorageError) {
      try storage(.firstAvailable([])).createFolder()
    } catch {
      let place = error.path ?? folder
      var status = stat()
      guard error.code == .unavailable, unsafe lstat(place, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { throw error }
      throw Failure(
        .exists, "a file stands where a folder is needed; move it away", path: place)
    }
    let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure(system: "open the folder", path: folder, number: errno)
    }
    defer { close(descriptor) }
    try lock(descriptor, folder)
    try requireAbsent()
    return try body()
  }

  private func lock(_ descriptor: Int32, _ folder: String) throws {
    let start = ContinuousClock.now
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw StorageError(system: StorageError.locking, path: folder)
      }
      guard start.duration(to: .now) < deadline else {
        throw Failure(.busy, "another program keeps the folder locked; try again", path: folder)
      }
      usleep(20_000)  // flock(2) has no deadline
    }
  }
}
