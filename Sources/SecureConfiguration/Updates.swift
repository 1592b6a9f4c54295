#if Configuration
  internal import CryptoCore
  internal import StorageCore

  /// The present element, then one after each change; elements that were replaced meanwhile are
  /// skipped.
  struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    typealias Failure = Never

    private let signals: AsyncStream<Void>
    private let observation: ChangeObservation
    private let read: @Sendable () -> Element
    private let isSame: @Sendable (Element, Element) -> Bool

    /// The results of `read`: now, and whenever the value of a name, or of any name, may have
    /// changed.
    static func of(
      _ storage: any Storage, named name: RecordName?, _ read: @escaping @Sendable () -> Element,
      isSame: @escaping @Sendable (Element, Element) -> Bool
    ) async -> Updates {
      let (signals, continuation) = AsyncStream<Void>.makeStream(
        bufferingPolicy: .bufferingNewest(1))
      let store = storage.store
      @Sendable func observe() -> ChangeObservation {
        guard let name else { return store.observe { _ in continuation.yield() } }
        return store.observe(name) { continuation.yield() }
      }
      // A place may answer slowly.
      let observation = await Blocking.run { observe() }
      continuation.yield()
      return Updates(
        signals: signals, observation: observation, read: read, isSame: isSame)
    }

    func makeAsyncIterator() -> Iterator {
      Iterator(updates: self, signals: signals.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
      fileprivate let updates: Updates
      fileprivate var signals: AsyncStream<Void>.Iterator
      private var last: Element?

      fileprivate init(updates: Updates, signals: AsyncStream<Void>.Iterator) {
        self.updates = updates
        self.signals = signals
      }

      mutating func next() async -> Element? {
        await next(isolation: nil)
      }

      mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
        while await signals.next(isolation: actor) != nil {
          let element = await Blocking.run(updates.read)
          // A read that was cancelled is no state of the store.
          guard !Task.isCancelled else { return nil }
          if let last, updates.isSame(last, element) { continue }
          last = element
          return element
        }
        return nil
      }
    }
  }

  extension Updates.Iterator: RedactedDescription {
    var description: String { "Updates.Iterator" }
  }

  @available(*, unavailable)
  extension Updates.Iterator: Sendable {}
#endif
