import Foundation
import TestSupport
import Testing
import VaultBackend

/// The program of the target VaultTestChild.
let helper = HelperProgram("VaultTestChild")

extension TemporaryVault {
  /// The key source that the helper program makes of a byte; 7 is the one that it uses.
  static func source(_ byte: UInt8) -> KeySource {
    .key(SymmetricKey(data: Data(repeating: byte, count: 32)))
  }

  /// Runs a command of the helper program on the vault.
  func run(_ command: String..., prefix: [String] = []) throws -> String {
    let command = [command[0], path] + command.dropFirst()
    return try helper.start(command, prefix: prefix).lines().joined(separator: "\n")
  }

  /// Starts a process that performs commands on the vault.
  func serve() throws -> Child { try helper.start(["serve", path]) }

  /// The bytes of a file in the folder.
  func bytes(_ name: String = "test.vault") throws -> [UInt8] {
    Array(try Data(contentsOf: file(name)))
  }

  /// Puts a file into the folder.
  func put(_ bytes: [UInt8], _ name: String = "test.vault", mode: mode_t = 0o600) throws {
    try Data(bytes).write(to: file(name))
    _ = unsafe chmod(file(name).path, mode)
  }

  /// Leaves the vault as a killed process does that has just saved: with a log.
  func saveAndDie(_ value: String = "newest") throws {
    let child = try serve()
    _ = try child.ask("save key before")
    _ = try child.ask("save key \(value)")
    child.kill()
    _ = try child.lines()
  }
}

extension Collection<UInt8> {
  /// Whether some bytes are among these, in a row.
  func contains(_ needle: [UInt8]) -> Bool {
    // By memchr(3): Data's own search takes minutes over the files of some tests.
    unsafe Data(self).withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, bytes.count >= needle.count else { return false }
      let last = unsafe start + (bytes.count - needle.count)
      var place = unsafe start
      while unsafe place <= last,
        let hit = unsafe memchr(place, Int32(needle[0]), last - place + 1)
      {
        if unsafe memcmp(hit, needle, needle.count) == 0 { return true }
        unsafe place = UnsafeRawPointer(hit) + 1
      }
      return false
    }
  }
}

/// Waits until `condition` holds.
///
/// - Returns: false when it did not within `limit`.
func waits(_ limit: Duration, until condition: () -> Bool) -> Bool {
  let start = ContinuousClock.now
  while start.duration(to: .now) < limit {
    if condition() { return true }
    usleep(2000)
  }
  return condition()
}

/// Runs `body`, whose errors are issues, where nothing can be thrown.
func noError(at place: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
  do { try body() } catch { Issue.record(error, sourceLocation: place) }
}
