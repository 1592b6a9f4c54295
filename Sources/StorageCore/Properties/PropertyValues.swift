public import CryptoCore

/// The value of a property now, then after every change, without end.
///
/// Works as ``PropertyStates``, except that failures are not elements: they go to the storage's
/// error closure.
public struct PropertyValues<Value, Element>: AsyncSequence {
  private let states: PropertyStates<Value>
  private let report: @Sendable (StorageError) -> Void
  /// The element for an absent value.
  private let fallback: Element
  private let wrap: @Sendable (Value) -> Element

  init(
    _ states: PropertyStates<Value>, report: @escaping @Sendable (StorageError) -> Void,
    fallback: Element, _ wrap: @escaping @Sendable (Value) -> Element
  ) {
    self.states = states
    self.report = report
    self.fallback = fallback
    self.wrap = wrap
  }

  /// Starts listening.
  ///
  /// If the storage asks a service, listening starts with the first call to `next()`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: states.makeAsyncIterator(), values: self)
  }

  /// Iterates over the values of a property.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: PropertyStates<Value>.Iterator
    fileprivate let values: PropertyValues

    /// The next value; nil when the task is cancelled.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }

    /// The next value; nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while let state = await base.next(isolation: actor) {
        switch state {
        case .absent: return values.fallback
        case .value(let value): return values.wrap(value)
        case .failed(let error): values.report(error)
        }
      }
      return nil
    }
  }
}

extension PropertyValues: Sendable where Element: Sendable {}

@available(*, unavailable)
extension PropertyValues.Iterator: Sendable {}

extension PropertyValues: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "PropertyValues(\"\(states.key)\")" }
}

extension PropertyValues.Iterator: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "\(values).Iterator" }
}
