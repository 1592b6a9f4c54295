internal import CProcess
internal import Glibc

/// Protects the secrets in the memory of the process.
enum ProcessProtection {
  /// Disables core dumps, and access of other processes to the memory.
  ///
  /// - Parameter isRestorable: whether another program will replace this one and must be able to
  ///   write core files as before.
  /// - Throws: `Failure` if the system refuses; then no secret has been read.
  static func apply(isRestorable: Bool) throws {
    // New files are also for this user alone, whatever the shell's umask.
    let number = process_protect(isRestorable ? 1 : 0)
    guard number == 0 else {
      throw Failure(system: "turn core dumps off", path: nil, number: number)
    }
  }

  /// How many bytes of memory may be locked, or nil for no limit.
  static var lockableBytes: UInt? {
    let limit = process_lockable_bytes()
    return limit == .max ? nil : limit
  }
}
