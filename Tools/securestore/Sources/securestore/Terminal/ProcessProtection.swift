internal import CProcess
internal import Glibc

/// What keeps secrets in the memory of the process.
enum ProcessProtection {
  /// Turns core dumps off, and other processes' looks at the memory.
  ///
  /// - Parameter isRestorable: whether another program is to take the place of this one, which may leave
  ///   core files as before.
  /// - Throws: `Failure` when the system does not let us; then nothing secret is touched.
  static func apply(isRestorable: Bool) throws {
    // What the program makes is for its user alone, too, whatever the shell says.
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
