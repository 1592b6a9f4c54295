internal import CryptoCore
internal import Foundation
internal import Glibc

/// Tells when something in a folder, or a file, changed, by inotify(7) on a thread of its own.
///
/// Where inotify is exhausted, or what is watched goes away, it looks twice a second instead.
package final class FileWatch: Sendable {
  /// What to be told of.
  package enum Subject: Sendable {
    /// Files of the folder that were replaced, removed, or closed after writing.
    case folder(String)
    /// Reads of the file and writes to it, for one that is there only to be touched.
    case file(String)

    fileprivate var path: String {
      switch self {
      case .folder(let path), .file(let path): path
      }
    }

    fileprivate var events: UInt32 {
      switch self {
      case .folder:
        UInt32(IN_MOVED_TO | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE)
          | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
      case .file:
        // An unlinked file that somebody has open changes its link count, an attribute.
        UInt32(IN_ACCESS | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
          | UInt32(IN_DONT_FOLLOW)
      }
    }
  }

  private static let pollInterval: Int32 = 500

  private let stopping = WakeUp()

  /// Watches from now on.
  ///
  /// - Parameters:
  ///   - subject: what to watch; it need not exist yet.
  ///   - name: the name of the thread, of at most 15 bytes.
  ///   - onChange: called on the watching thread for each change, and now and then without one.
  ///     False ends the watch.
  package init(
    _ subject: Subject, threadName name: String, onChange: @escaping @Sendable () -> Bool
  ) {
    let notices = Notices(subject)
    let stop = stopping.waiting
    let thread = Thread {
      while true {
        let isStopped = notices.wait(orUntil: stop, every: Self.pollInterval)
        guard !isStopped, onChange() else { return }
      }
    }
    thread.name = name
    thread.start()
  }

  /// Ends the watch.
  ///
  /// The thread may still make the call that it is in.
  package func stop() { stopping.call() }
}

/// A connected pair of sockets: whoever waits on one end is woken by the other.
private final class WakeUp: Sendable {
  let waiting: OwnedDescriptor?
  private let calling: OwnedDescriptor?

  init() {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let isMade = unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0
    waiting = isMade ? OwnedDescriptor(ends[0]) : nil
    calling = isMade ? OwnedDescriptor(ends[1]) : nil
  }

  func call() {
    // shutdown(2) and not close(2), which a forked child's copy would keep from being noticed.
    guard let calling else { return }
    shutdown(calling.number, Int32(SHUT_RDWR))
  }
}

/// A descriptor that is closed with its last reference.
private final class OwnedDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}

/// The inotify descriptor of what is watched.
///
/// Used by one thread after another.
private final class Notices: @unchecked Sendable {
  // `descriptor` is set in `init`, before there is a watching thread, and by that thread alone from
  // then on.
  private let subject: FileWatch.Subject
  private var descriptor: OwnedDescriptor?

  init(_ subject: FileWatch.Subject) {
    self.subject = subject
    watch()
  }

  /// Waits for a change, or for a call at the other end of `stop`.
  ///
  /// - Returns: whether it was called.
  func wait(orUntil stop: OwnedDescriptor?, every interval: Int32) -> Bool {
    if descriptor == nil {
      watch()
      // What happened before it was watched is to be looked for.
      if descriptor != nil { return false }
    }
    var polled = [
      pollfd(fd: stop?.number ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor?.number ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let count = nfds_t(polled.count)
    _ = unsafe poll(&polled, count, descriptor == nil || stop == nil ? interval : -1)
    if polled[0].revents != 0 { return true }
    if polled[1].revents != 0, !drain() { descriptor = nil }
    return false
  }

  private func watch() {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { return }
    let owned = OwnedDescriptor(number)
    guard unsafe inotify_add_watch(number, subject.path, subject.events) >= 0 else { return }
    descriptor = owned
  }

  /// Reads the notices away.
  ///
  /// What they say is not asked: what is watched is looked at in any case.
  ///
  /// - Returns: whether the subject is still watched.
  private func drain() -> Bool {
    var isWatched = true
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(descriptor?.number ?? -1, &buffer, buffer.count)
      guard count > 0 else { return isWatched && (errno == EAGAIN || errno == EINTR) }
      var offset = 0
      while offset + 16 <= count {
        // inotify(7): the mask is the second word of an event, the length of its name the fourth.
        let mask = Self.word(buffer, at: offset + 4)
        // A file that was unlinked while somebody has it open tells of an attribute: its link count.
        let gone = UInt32(IN_IGNORED | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
        if mask & gone != 0 { isWatched = false }
        offset += 16 + Int(Self.word(buffer, at: offset + 12))
      }
    }
  }

  private static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
  }
}
