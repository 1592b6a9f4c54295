internal import CryptoCore
internal import Glibc

/// Calls a closure when a file or folder changed, with inotify(7) on a thread of its own.
///
/// If the limits of inotify are reached, or a watched file or folder goes away, it polls twice a
/// second.
package final class FileWatch: Sendable {
  /// What to watch.
  package enum Subject: Sendable {
    /// Files in a folder that are replaced, removed, or closed after writing.
    case folder(String)
    /// Reads of a file and writes to it; for a file that exists only to be touched as a signal.
    case file(String)
    /// The replacement or removal of one file, watched through its folder; the folder's other files
    /// are ignored.
    case entry(String)

    fileprivate var path: String {
      switch self {
      case .folder(let path), .file(let path): path
      case .entry(let path): FilePath.folder(of: path)
      }
    }

    /// The name of the only watched file in the folder; nil for all files.
    fileprivate var name: String? {
      if case .entry(let path) = self { FilePath.name(of: path) } else { nil }
    }

    fileprivate var events: UInt32 {
      switch self {
      case .folder:
        UInt32(IN_MOVED_TO | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE)
          | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
      case .file:
        // Unlinking an open file changes its link count, which is an attribute. A process that was
        // killed before it could touch the file is noticed when the system closes the file.
        UInt32(IN_ACCESS | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE)
          | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
          | UInt32(IN_DONT_FOLLOW)
      case .entry:
        UInt32(IN_MOVED_TO | IN_CREATE | IN_MOVED_FROM | IN_DELETE)
          | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
      }
    }
  }

  /// When to call the closure again.
  package enum Next: Sendable {
    /// At the next change.
    case change
    /// At the next change or in half a second, because the closure could not read the file.
    case again
    /// Never.
    case end
  }

  private static let pollInterval: Int32 = 500

  private let stopping = WakeUp()

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - subjects: what to watch; the files and folders need not exist yet.
  ///   - name: the name of the thread, of at most 15 bytes.
  ///   - onChange: called on the watching thread for each change, and sometimes without a change.
  package init(
    _ subjects: [Subject], threadName name: String, onChange: @escaping @Sendable () -> Next
  ) {
    let notices = Notices(subjects)
    let stop = stopping.waiting
    DetachedThread.start(name) {
      var next = Next.change
      while true {
        let isStopped = notices.wait(
          orUntil: stop, every: Self.pollInterval, isLimited: next == .again)
        guard !isStopped else { return }
        next = onChange()
        if next == .end { return }
      }
    }
  }

  /// Ends the watch.
  ///
  /// A call of the closure that has begun may still be running.
  package func stop() { stopping.call() }
}

/// A connected pair of sockets: a call on one end wakes a thread that waits on the other.
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
    // shutdown(2), not close(2): a forked child's copy of the socket would hide a close from the
    // waiter.
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

/// The inotify descriptor that watches the subjects.
///
/// Used by one thread at a time.
private final class Notices: @unchecked Sendable {
  // `init` sets `descriptor` and `names` before the watching thread exists; from then on only that
  // thread uses them.
  private let subjects: [FileWatch.Subject]
  private var descriptor: OwnedDescriptor?
  /// The file name of each watch that watches only one file in a folder.
  private var names: [Int32: [UInt8]] = [:]

  private enum Drained { case nothing, change, end }

  init(_ subjects: [FileWatch.Subject]) {
    self.subjects = subjects
    watch()
  }

  /// Waits for a change, or until the other end of `stop` is called.
  ///
  /// - Returns: whether `stop` was called.
  func wait(orUntil stop: OwnedDescriptor?, every interval: Int32, isLimited: Bool) -> Bool {
    if descriptor == nil {
      watch()
      // Changes may have happened before the watch began, so the caller has to look now.
      if descriptor != nil { return false }
    }
    var polled = [
      pollfd(fd: stop?.number ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor?.number ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let count = nfds_t(polled.count)
    let isPolling = descriptor == nil || stop == nil || isLimited
    while true {
      let ready = unsafe poll(&polled, count, isPolling ? interval : -1)
      if polled[0].revents != 0 { return true }
      guard ready > 0, polled[1].revents != 0 else { return false }
      switch drain() {
      case .nothing: continue
      case .change: return false
      case .end:
        descriptor = nil
        return false
      }
    }
  }

  private func watch() {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { return }
    let owned = OwnedDescriptor(number)
    names = [:]
    for subject in subjects {
      let watch = unsafe inotify_add_watch(number, subject.path, subject.events)
      guard watch >= 0 else { return }
      names[watch] = subject.name.map { Array($0.utf8) }
    }
    descriptor = owned
  }

  /// Reads and discards all waiting notices.
  ///
  /// Of a notice, only the file name matters: the caller reads the watched file in any case.
  ///
  /// - Returns: whether a notice was about a subject, or whether a subject is no longer watched.
  private func drain() -> Drained {
    var result = Drained.nothing
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(descriptor?.number ?? -1, &buffer, buffer.count)
      guard count > 0 else {
        return errno == EAGAIN || errno == EINTR ? result : .end
      }
      var offset = 0
      while offset + 16 <= count {
        // inotify(7): an event is its watch, the mask, a cookie, the length of the name and the
        // name.
        let mask = Self.word(buffer, at: offset + 4)
        let length = Int(Self.word(buffer, at: offset + 12))
        // Unlinking an open file gives a notice of an attribute change, since its link count
        // changes.
        let gone = UInt32(IN_IGNORED | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
        if mask & gone != 0 {
          result = .end
        } else if result == .nothing {
          let name = names[Int32(bitPattern: Self.word(buffer, at: offset))]
          let found = buffer[(offset + 16)..<min(offset + 16 + length, count)]
          // The name is padded with zeros; a notice of an overflowed queue has no name.
          if name == nil || length == 0 || found.prefix(while: { $0 != 0 }).elementsEqual(name!) {
            result = .change
          }
        }
        offset += 16 + length
      }
    }
  }

  private static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
  }
}
