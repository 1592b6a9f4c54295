public import CryptoCore

/// The state of a property now, then after every change, without end.
///
/// Changes made by this process all arrive, in order. Of the changes made by another process, at
/// least the latest arrives, if the backend sees them. If a change was sealed under keys that were
/// replaced before the listener read the change, the listener gets the current state instead.
///
/// Any number of listeners may iterate, from any isolation. Each listener has its own unbounded
/// queue of sealed records. Iteration ends when its task is cancelled.
public struct PropertyStates<Value>: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = PropertyState<Value>

  private enum Origin: Sendable {
    case records(RecordStates<Value>)
    case stream(@Sendable () -> AsyncStream<PropertyState<Value>>)
  }

  let key: StoreKey
  private let origin: Origin

  init(store: SealedStore, name: RecordName, coder: ValueCoder<Value>) {
    key = name.text
    origin = .records(RecordStates(store: store, name: name, coder: coder))
  }

  /// The states that a place of its own kind tells; each listener gets its own stream.
  package init(
    of key: StoreKey, _ listen: @escaping @Sendable () -> AsyncStream<PropertyState<Value>>
  ) {
    self.key = key
    origin = .stream(listen)
  }

  /// Starts listening.
  ///
  /// If the storage asks a service, listening starts with the first call to `next()`.
  public func makeAsyncIterator() -> Iterator {
    switch origin {
    case .records(let states): Iterator(key, .records(states.makeAsyncIterator()))
    case .stream(let listen): Iterator(key, .stream(listen().makeAsyncIterator()))
    }
  }

  /// Iterates over the states of a property.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate enum Base {
      case records(RecordStates<Value>.Iterator)
      case stream(AsyncStream<PropertyState<Value>>.Iterator)
    }

    fileprivate let key: StoreKey
    private var base: Base

    fileprivate init(_ key: StoreKey, _ base: Base) {
      self.key = key
      self.base = base
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next() async -> PropertyState<Value>? {
      await next(isolation: nil)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      switch base {
      case .records(var states):
        let state = await states.next(isolation: actor)
        base = .records(states)
        return state
      case .stream(var states):
        let state = await states.next(isolation: actor)
        base = .stream(states)
        return state
      }
    }
  }
}

@available(*, unavailable)
extension PropertyStates.Iterator: Sendable {}

extension PropertyStates: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyStates(\"\(key)\")" }
}

extension PropertyStates.Iterator: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyStates(\"\(key)\").Iterator" }
}
