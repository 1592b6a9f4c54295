public import CryptoCore

/// The state of a property now, then after every change, without end.
///
/// The newest state always arrives, whoever made it, if the backend sees the change. States that were
/// replaced before the listener asked for the next one may be skipped. They come in order: no older
/// state follows a newer one.
///
/// Any number of listeners may iterate, from any isolation. Iteration ends when its task is
/// cancelled.
public struct PropertyStates<Value>: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = PropertyState<Value>

  let key: StoreKey
  private let listen: @Sendable () -> Iterator.Base

  /// The states that `listen` gives to each new listener.
  package init(
    of key: StoreKey,
    _ listen: @escaping @Sendable () -> any AsyncIteratorProtocol<PropertyState<Value>, Never>
  ) {
    self.key = key
    self.listen = listen
  }

  /// Starts listening.
  ///
  /// If the storage asks a service, listening starts with the first call to `next()`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(key: key, base: listen())
  }

  /// Iterates over the states of a property.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate typealias Base = any AsyncIteratorProtocol<PropertyState<Value>, Never>

    fileprivate let key: StoreKey
    fileprivate var base: Base

    /// The next state; nil when the task is cancelled.
    public mutating func next() async -> PropertyState<Value>? {
      await next(isolation: nil)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      await base.next(isolation: actor)
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
