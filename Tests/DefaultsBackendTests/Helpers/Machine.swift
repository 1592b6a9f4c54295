import Foundation
import Glibc

/// What this machine lets tests do.
enum Machine {
  /// A user and a group that are not ours.
  static let otherUser: UInt32 = 65_533

  /// Runs what follows as that user.
  static let asOtherUser = [
    "setpriv", "--reuid", "\(otherUser)", "--regid", "\(otherUser)", "--clear-groups",
  ]

  /// The helper program where every user can run it.
  static let sharedExecutable: String? = {
    let path = TemporaryFolder.root + "/DefaultsTestChild"
    do {
      try FileManager.default.copyItem(atPath: Child.executable, toPath: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      return path
    } catch {
      return nil
    }
  }()

  /// Whether programs can be run as another user: only root can.
  static let canBecomeAnother: Bool = {
    guard geteuid() == 0, let program = sharedExecutable else { return false }
    let answer = try? Child.run(
      "count", "/nonexistent", prefix: asOtherUser, executable: program)
    return answer == ["0"]
  }()

  /// Whether file systems can be mounted, in a namespace that vanishes with its process.
  static let canMount: Bool = {
    let folder = TemporaryFolder()
    let script = "mount -t tmpfs -o size=64k tmpfs \(folder.path) && exec \"$0\" count /nonexistent"
    let answer = try? Child.run(executable: Child.executable, script: script)
    return answer == ["0"]
  }()

  /// Whether system calls can be made to fail.
  static let hasStrace: Bool = {
    let answer = try? Child.run(
      "count", "/nonexistent", prefix: ["strace", "-f", "-qq", "-o", "/dev/null"])
    return answer == ["0"]
  }()
}

extension Child {
  /// Runs a shell script in a mount namespace of its own; `$0` is the helper program.
  static func run(executable: String, script: String) throws -> [String] {
    try Child(
      [executable], prefix: ["unshare", "-m", "--propagation", "private", "sh", "-c"],
      executable: script
    ).lines()
  }
}
