public import CryptoCore
internal import StorageCore

/// The values of a credential: now, then after every change by any program, without end.
///
/// Nil means that there is no value. A value that can't be read is left out, and the error is
/// reported. The same value twice in a row is given once. The limits of the services that
/// ``KeyringChanges`` names hold here, too. Any number of listeners may iterate; iteration ends
/// when its task is cancelled.
public struct CredentialValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// A value, or nil for none.
  public typealias Element = Value?

  let credential: Credential<Value>

  /// Begins to listen, and blocks nothing.
  public func makeAsyncIterator() -> Iterator { Iterator(credential) }

  /// Goes through the values.
  public struct Iterator: AsyncIteratorProtocol {
    private let credential: Credential<Value>
    private var base: AsyncStream<ItemFollower.Event>.Iterator
    private let observation: ChangeObservation
    /// The last value that was given; nil before the first, and after a failure.
    private var reported: Reported?

    /// Compares values that need not be equatable.
    private struct Reported {
      let secret: PlainSecret?
      let error: StorageError?

      func isSame(as other: Reported) -> Bool {
        error == other.error && secret?.bytes == other.secret?.bytes
      }
    }

    fileprivate init(_ credential: Credential<Value>) {
      self.credential = credential
      let client = credential.core.item.client
      let (stream, continuation) = AsyncStream.makeStream(of: ItemFollower.Event.self)
      base = stream.makeAsyncIterator()
      observation = client.follower.add(client) { continuation.yield($0) }
    }

    /// The next value; nil when the task is cancelled.
    public mutating func next() async -> Value?? {
      await next(isolation: nil)
    }

    /// The next value; nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value?? {
      // The first event says that listening has begun: a read after it is current, and no change is
      // missed.
      while let event = await base.next(isolation: actor) {
        if case .change(let change) = event, !mayBeOurs(change) { continue }
        let credential = credential
        let read = await Blocking.run { credential.readNow() }
        if Task.isCancelled { return nil }
        let now = Reported(secret: read.secret, error: read.error)
        if let reported, reported.isSame(as: now) { continue }
        reported = now
        if let error = read.error {
          credential.core.report(error)
          continue
        }
        return .some(read.value)
      }
      return nil
    }

    private func mayBeOurs(_ change: KeyringChange) -> Bool {
      let identity = credential.core.item.place.identity()
      return [change.attributes, change.before ?? [:]].contains { attributes in
        identity.allSatisfy { attributes[$0.key] == $0.value }
      }
    }
  }
}

extension Credential {
  /// The result of a read.
  struct Reading: Sendable {
    var secret: PlainSecret?
    var value: Value?
    var error: StorageError?
  }

  /// The secret and the value, or why there is none.
  fileprivate func readNow() -> Reading {
    var reading = Reading()
    do throws(StorageError) {
      reading.secret = try core.item.read()
      reading.value = try reading.secret.map { (secret) throws(StorageError) in
        try core.value(of: secret)
      }
    } catch {
      reading.error = error.about(core.name)
    }
    return reading
  }
}

@available(*, unavailable)
extension CredentialValues.Iterator: Sendable {}

extension CredentialValues: RedactedDescription {
  /// The service or the like, and no secret.
  public var description: String { "CredentialValues(\"\(credential.key)\")" }
}

extension CredentialValues.Iterator: RedactedDescription {
  /// The service or the like, and no secret.
  public var description: String { "\(credential.values).Iterator" }
}
