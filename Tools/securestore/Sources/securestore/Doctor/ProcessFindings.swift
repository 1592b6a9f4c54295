internal import CryptoCore
internal import Glibc

/// The findings about memory protection and the terminal.
enum ProcessFindings {
  static func all() -> [Finding] { [memory(), terminal()] }

  private static func memory() -> Finding {
    // Some systems forbid locking: locks a page in the same way as the library.
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    let page = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page = unsafe page, unsafe page != MAP_FAILED else {
      return Finding("memory", .bad, "a page could not be allocated: \(Failure.text(of: errno))")
    }
    defer { unsafe munmap(page, size) }
    guard unsafe mlock(page, size) == 0 else {
      return Finding(
        "memory", .bad,
        "keys can't be locked and may reach swap (\(Failure.text(of: errno))); raise "
          + "RLIMIT_MEMLOCK (ulimit -l)")
    }
    let limit = ProcessProtection.lockableBytes.map { "up to \(Printable.bytes(Int($0)))" }
    return Finding(
      "memory", .good, "keys are locked in memory (\(limit ?? "no limit")); core dumps are off")
  }

  private static func terminal() -> Finding {
    let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      return Finding(
        "terminal", .absent, "none, so no prompts; --passphrase-fd and the like work")
    }
    close(descriptor)
    return Finding("terminal", .good, "prompts are possible")
  }
}
