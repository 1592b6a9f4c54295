public import CryptoCore
internal import StorageCore

/// The changes that any program makes to the items of the keyring, without end.
///
/// Listening begins in the background, right after the iterator is made; earlier changes are not
/// reported. All items of all collections are looked at then, and again when the service comes back
/// after a restart; changes in between are reported as one change for each item. Records and keys
/// of sealed stores are left out, and items that a locked collection hides are not reported as
/// deleted.
///
/// Several changes of an item that follow one another quickly may be reported as one. gnome-keyring
/// sends no signal when another program changes only a secret, by SetSecret: that change is
/// reported with the item's next one. (`secret-tool` and Python's keyring replace items, which is
/// signalled.) When the bus itself ends, nothing more is reported until a call of this process has
/// found another bus. A service that is not there yet is looked for again, at least once a minute.
///
/// Any number of listeners may iterate, each with a queue of its own, without bound; iteration ends
/// when its task is cancelled, and listening ends with the iterator.
public struct KeyringChanges: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = KeyringChange

  let client: KeyringClient
  let accepts: @Sendable (KeyringChange) -> Bool

  /// Begins to listen, and blocks nothing.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Goes through the changes.
  public struct Iterator: AsyncIteratorProtocol {
    private var base: AsyncStream<ItemFollower.Event>.Iterator
    private let observation: ChangeObservation
    private let accepts: @Sendable (KeyringChange) -> Bool

    fileprivate init(_ changes: KeyringChanges) {
      let (stream, continuation) = AsyncStream.makeStream(of: ItemFollower.Event.self)
      base = stream.makeAsyncIterator()
      observation = changes.client.follower.add(changes.client) { continuation.yield($0) }
      accepts = changes.accepts
    }

    /// The next change; nil when the task is cancelled.
    public mutating func next() async -> KeyringChange? {
      await next(isolation: nil)
    }

    /// The next change; nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> KeyringChange? {
      while let event = await base.next(isolation: actor) {
        if case .change(let change) = event, accepts(change) { return change }
      }
      return nil
    }

    /// Waits until listening has begun; call it before the first `next()`.
    ///
    /// - Returns: false when the task was cancelled.
    mutating func isListening(isolation actor: isolated (any Actor)?) async -> Bool {
      await base.next(isolation: actor) != nil
    }
  }
}

@available(*, unavailable)
extension KeyringChanges.Iterator: Sendable {}

extension Keyring {
  /// The changes that any program makes to the items of the session's keyring.
  public static var changes: KeyringChanges { KeyringChanges(client: .session) { _ in true } }

  /// The changes that any program makes to the items of this service, in any group.
  public var changes: KeyringChanges {
    let given = service
    return KeyringChanges(client: client) { change in
      change.attributes[AttributeName.service] == given
        || change.before?[AttributeName.service] == given
    }
  }
}

extension KeyringChanges: RedactedDescription {}

extension KeyringChanges.Iterator: RedactedDescription {}
