import Glibc

/// System calls on paths that must succeed; a test can't go on without them.
enum FileCalls {
  static func setPermissions(_ permissions: Int, of path: String) {
    require(unsafe chmod(path, mode_t(permissions)), "chmod")
  }

  static func setOwner(_ user: UInt32, of path: String) {
    require(unsafe chown(path, user, user), "chown")
  }

  static func makeFIFO(_ path: String) { require(unsafe mkfifo(path, 0o600), "mkfifo") }

  static func makeFolder(_ path: String) { require(unsafe mkdir(path, 0o700), "mkdir") }

  static func link(_ path: String, to target: String) {
    require(unsafe symlink(target, path), "symlink")
  }

  static func setVariable(_ name: String, _ value: String) {
    require(unsafe setenv(name, value, 1), "setenv")
  }

  private static func require(_ result: Int32, _ call: String) {
    precondition(result == 0, "\(call) failed with errno \(errno)")
  }
}
