public import StorageCore

internal import struct FoundationEssentials.Data

extension SealedFolder {
  /// The state of a name now, then after every change, without end; see `PropertyStates`.
  ///
  /// The newest state always arrives; those that were replaced before the next one was asked for may be
  /// skipped. A state has the value's length, not its bytes: read the value if you need it.
  ///
  /// - Parameter name: the name.
  /// - Returns: a sequence for any number of listeners. It ends when its task is cancelled.
  public func states(named name: StoreKey) -> SealedFileStates {
    SealedFileStates(name: name, states: Store<Data, VaultStorage>(index, name).states)
  }
}

/// The state of a name of a sealed folder now, then after every change.
public struct SealedFileStates: AsyncSequence, Sendable {
  /// A state of the name.
  public typealias Element = PropertyState<SealedFileInfo>
  /// Iteration does not throw; a failed read is a state.
  public typealias Failure = Never

  let name: StoreKey
  let states: PropertyStates<Data>

  /// Starts listening.
  public func makeAsyncIterator() -> Iterator {
    Iterator(name: name, states: states.makeAsyncIterator())
  }

  /// Goes through the states of a name.
  public struct Iterator: AsyncIteratorProtocol {
    let name: StoreKey
    var states: PropertyStates<Data>.Iterator

    /// The next state; nil when the task is cancelled.
    public mutating func next() async -> PropertyState<SealedFileInfo>? {
      await next(isolation: nil)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<SealedFileInfo>? {
      guard let state = await states.next(isolation: actor) else { return nil }
      switch state {
      case .absent: return .absent
      case .failed(let error): return .failed(error)
      case .value(var bytes):
        return PropertyState { () throws(StorageError) in
          SealedFileInfo(name: name, size: try SealedFolder.read(&bytes, name).length)
        }
      }
    }
  }
}

@available(*, unavailable)
extension SealedFileStates.Iterator: Sendable {}
