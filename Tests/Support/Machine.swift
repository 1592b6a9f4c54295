private import Foundation

/// What this machine lets tests do.
package enum Machine {
  /// A user and a group that are not ours.
  package static let otherUser: UInt32 = 65_533

  /// Runs what follows as that user.
  package static let asOtherUser = [
    "setpriv", "--reuid", "\(otherUser)", "--regid", "\(otherUser)", "--clear-groups",
  ]

  /// Runs what follows so that permissions hold, for root as well.
  package static let withoutCapabilities =
    geteuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []

  /// Runs what follows where mounts are seen by nobody else, and go away with it.
  package static let inMountNamespace = ["unshare", "-m", "--propagation", "private"]

  /// Whether programs can be run as another user: only root can.
  package static let canBecomeAnother = geteuid() == 0 && answers(asOtherUser)

  /// Whether file systems can be mounted, in a namespace that vanishes with its process.
  package static let canMount = answersScript("mount -t tmpfs -o size=64k tmpfs /mnt")

  /// Whether a file can be mounted as an ext4.
  package static let canMountFiles: Bool = answersScript(
    """
    mount -t tmpfs -o size=16m tmpfs /mnt && truncate -s 8M /mnt/image &&
    mkfs.ext4 -q -F /mnt/image && mkdir /mnt/folder && mount -o loop /mnt/image /mnt/folder &&
    umount /mnt/folder
    """)

  /// Whether system calls can be made to fail.
  package static let hasStrace = answers(["strace", "-f", "-qq", "-o", "/dev/null"])

  /// Takes the ext4 of a folder down, as without power.
  ///
  /// - Returns: `down`, or the error.
  package static func shutDownFileSystem(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { return "error \(errno)" }
    defer { close(descriptor) }
    // EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32); 2 is without a flush of the journal.
    var how: UInt32 = 2
    return unsafe ioctl(descriptor, 0x8004_587D, &how) == 0 ? "down" : "error \(errno)"
  }

  private static func answers(_ prefix: [String]) -> Bool {
    (try? Child.run(prefix + ["echo", "yes"])) == ["yes"]
  }

  private static func answersScript(_ script: String) -> Bool {
    answers(inMountNamespace + ["sh", "-c", "{ \(script); } >&2 && exec \"$@\"", "sh"])
  }
}
