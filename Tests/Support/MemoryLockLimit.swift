private import Glibc

/// The limit of memory that the process may lock, RLIMIT_MEMLOCK of getrlimit(2).
package enum MemoryLockLimit {
  private struct Header {
    // _LINUX_CAPABILITY_VERSION_3, capget(2).
    var version: UInt32 = 0x2008_0522
    var process: Int32 = 0
  }

  private typealias SetCapabilities =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32

  /// Lowers the limit, and gives up the capability to exceed it that root has.
  ///
  /// The capability is the calling thread's; call it in a process of its own, and stay on the
  /// thread.
  package static func lower(to bytes: UInt) {
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    // The header's RLIMIT_MEMLOCK is a macro that is not imported.
    guard unsafe setrlimit(__rlimit_resource_t(8), &limit) == 0 else {
      fatalError("setrlimit failed with errno \(errno)")
    }
    // capset(2) is in no header of glibc's: effective, permitted, inheritable, twice 32 bits.
    let symbol = unsafe dlsym(nil, "capset")
    let setCapabilities = unsafe unsafeBitCast(symbol, to: SetCapabilities.self)
    var header = Header()
    let none = [UInt32](repeating: 0, count: 6)
    guard unsafe setCapabilities(&header, none) == 0 else {
      fatalError("capset failed with errno \(errno)")
    }
  }
}
