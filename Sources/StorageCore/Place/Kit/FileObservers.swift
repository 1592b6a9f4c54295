internal import CryptoCore

/// The observers of a file that other processes change too.
///
/// While there are observers, a thread waits for notices of changes by other processes.
package final class FileObservers: Sendable {
  /// The observers to notify.
  package let changes = ChangeObservers()
  private let watch = Lock<FileWatch?>(nil)

  /// Makes a list without observers.
  package init() {}

  /// Adds an observer; it is removed when the observation is released.
  ///
  /// - Parameters:
  ///   - observer: called for each change that is reported to ``changes``.
  ///   - owner: the owner of the file; the observation keeps it alive.
  ///   - subject: the file or folder to watch for changes by other processes.
  ///   - other: a second file or folder to watch.
  ///   - name: the name of the watching thread.
  ///   - follow: reads the file and reports changes; called now, at each notice, and twice a second
  ///     after it has failed.
  /// - Returns: the observation.
  package func add<Owner: AnyObject & Sendable>(
    _ observer: @escaping @Sendable (RecordChange) -> Void, of owner: Owner,
    watching subject: FileWatch.Subject, and other: FileWatch.Subject? = nil,
    threadName name: String,
    follow: @escaping @Sendable (Owner) throws(StorageError) -> Void
  ) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(changes.add(observer))
    // The next read throws the error; an observer can't receive errors.
    let followQuietly: @Sendable (Owner) -> FileWatch.Next = { owner in
      do throws(StorageError) { try follow(owner) } catch { return .again }
      return .change
    }
    watch.withLock { watch in
      guard watch == nil else { return }
      watch = FileWatch([subject, other].compactMap(\.self), threadName: name) { [weak owner] in
        owner.map(followQuietly) ?? .end
      }
    }
    // Read now, so that the existing content is not reported as a change.
    _ = followQuietly(owner)
    return ChangeObservation { [self, owner] in
      withExtendedLifetime(owner) {}
      registration.withLock { $0 = nil }
      watch.withLock { watch in
        guard changes.isEmpty else { return }
        watch?.stop()
        watch = nil
      }
    }
  }
}
