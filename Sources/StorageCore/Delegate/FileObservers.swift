internal import CryptoCore

/// The observers of what is in a file that other processes change, too.
///
/// While there are any, a thread waits for notices of others' changes.
package final class FileObservers: Sendable {
  /// Those that are told.
  package let changes = ChangeObservers()
  private let watch = Lock<FileWatch?>(nil)

  /// No observers yet.
  package init() {}

  /// Adds an observer, until the observation is released.
  ///
  /// - Parameters:
  ///   - observer: called for each change that is told to ``changes``.
  ///   - owner: whose file it is; kept alive by the observation.
  ///   - subject: what is watched for others' changes.
  ///   - other: what else is.
  ///   - name: the name of the watching thread.
  ///   - follow: looks at the file and tells what is new; called now, at each notice, and twice a second
  ///     after it has failed.
  /// - Returns: the observation.
  package func add<Owner: AnyObject & Sendable>(
    _ observer: @escaping @Sendable (RecordChange) -> Void, of owner: Owner,
    watching subject: FileWatch.Subject, and other: FileWatch.Subject? = nil,
    threadName name: String,
    follow: @escaping @Sendable (Owner) throws(StorageError) -> Void
  ) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(changes.add(observer))
    // Whoever reads gets the error; an observer has nowhere to take it.
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
    // What is there now is not news.
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
