public import CryptoCore

/// What a property holds right now.
///
/// Printing it shows no value.
public enum PropertyState<Value> {
  /// There is no value.
  case absent
  /// There is a value.
  case value(Value)
  /// There may be a value, but it could not be read.
  case failed(StorageError)
}

extension PropertyState {
  /// Calls `read` and turns its result into a state.
  package init(_ read: () throws(StorageError) -> Value?) {
    do throws(StorageError) {
      self = try read().map { .value($0) } ?? .absent
    } catch {
      self = .failed(error)
    }
  }
}

extension PropertyState: Sendable where Value: Sendable {}
extension PropertyState: Equatable where Value: Equatable {}

extension PropertyState: RedactedDescription {
  /// The case, and the error if there is one.
  public var description: String {
    switch self {
    case .absent: "absent"
    case .value: "value(...)"
    case .failed(let error): "failed(\(error))"
    }
  }
}
