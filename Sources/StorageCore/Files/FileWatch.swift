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
    /// That another file is put in the place of this one, or that it is removed: by its folder, whose other
    /// files nobody is told of.
    case entry(String)

    fileprivate var path: String {
      switch self {
      case .folder(let path), .file(let path): path
      case .entry(let path): FilePath.folder(of: path)
      }
    }

    /// The name of the one file of the folder that counts; nil for all.
    fileprivate var name: String? {
      if case .entry(let path) = self { FilePath.name(of: path) } else { nil }
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
      case .entry:
        UInt32(IN_MOVED_TO | IN_CREATE | IN_MOVED_FROM | IN_DELETE)
          | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
      }
    }
  }

  /// What is to come after a call.
  package enum Next: Sendable {
    /// The next change.
    case change
    /// The next change, or the same again in half a second: it could not be looked at.
    case again
    /// Nothing.
    case end
  }

  private static let pollInterval: Int32 = 500

  private let stopping = WakeUp()

  /// Watches from now on.
  ///
  /// - Parameters:
  ///   - subjects: what to watch; none need exist yet.
  ///   - name: the name of the thread, of at most 15 bytes.
  ///   - onChange: called on the watching thread for each change, and now and then without one.
  package init(
    _ subjects: [Subject], threadName name: String, onChange: @escaping @Sendable () -> Next
  ) {
    let notices = Notices(subjects)
    let stop = stopping.waiting
    let thread = Thread {
      var next = Next.change
      while true {
        let isStopped = notices.wait(
          orUntil: stop, every: Self.pollInterval, isLimited: next == .again)
        guard !isStopped else { return }
        next = onChange()
        if next == .end { return }
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
  // `descriptor` and `names` are set in `init`, before there is a watching thread, and by that thread alone
  // from then on.
  private let subjects: [FileWatch.Subject]
  private var descriptor: OwnedDescriptor?
  /// Of watches that are of one file of a folder, its name.
  private var names: [Int32: [UInt8]] = [:]

  private enum Drained { case nothing, change, end }

  init(_ subjects: [FileWatch.Subject]) {
    self.subjects = subjects
    watch()
  }

  /// Waits for a change, or for a call at the other end of `stop`.
  ///
  /// - Returns: whether it was called.
  func wait(orUntil stop: OwnedDescriptor?, every interval: Int32, isLimited: Bool) -> Bool {
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

  /// Reads the notices away.
  ///
  /// But for the name of the file, what they say is not asked: what is watched is looked at in any case.
  ///
  /// - Returns: whether there was one that counts, and whether all subjects are still watched.
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
        // inotify(7): an event is its watch, the mask, a cookie, the length of the name and the name.
        let mask = Self.word(buffer, at: offset + 4)
        let length = Int(Self.word(buffer, at: offset + 12))
        // A file that was unlinked while somebody has it open tells of an attribute: its link count.
        let gone = UInt32(IN_IGNORED | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
        if mask & gone != 0 {
          result = .end
        } else if result == .nothing {
          let name = names[Int32(bitPattern: Self.word(buffer, at: offset))]
          let found = buffer[(offset + 16)..<min(offset + 16 + length, count)]
          // The name is filled up with zeros; a queue that overflowed has none.
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
