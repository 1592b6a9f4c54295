internal import CProcess
internal import Glibc

/// What keeps secrets in the memory of the process.
enum ProcessProtection {
  /// Turns core dumps off, and other processes' looks at the memory.
  ///
  /// - Throws: `Failure` when the system does not let us; then nothing secret is touched.
  static func apply() throws {
    let number = process_protect()
    guard number == 0 else {
      throw Failure(system: "turn core dumps off", path: nil, number: number)
    }
    // What the program makes is for its user alone, whatever the shell says.
    umask(0o077)
  }

  /// How many bytes of memory may be locked, or nil for no limit.
  static var lockableBytes: UInt? {
    let limit = process_lockable_bytes()
    return limit == .max ? nil : limit
  }
}
