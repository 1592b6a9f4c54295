public import CryptoCore

public import struct Foundation.Data

/// A storage that seals and hands on to a delegate.
///
/// Any thread may use it, many at once.
open class DelegatedStorage: Storage, @unchecked Sendable {
  // Immutable but for the closure, which is behind a lock. Not final, because SingletonStorage and
  // the like are kinds of it.
  private let closure: Lock<ErrorReceiver>

  /// Not the closure itself: the compiler wraps a function that is lent as the value of a generic type,
  /// once more at each call, until letting go of it overflows the stack.
  private struct ErrorReceiver: Sendable {
    var closure: StorageErrorClosure?
  }

  /// The sealed store that all calls go through.
  public let store: SealedStore

  /// Takes the errors of calls that can't throw; when nil, ``StorageDiagnostics`` does.
  public var errorClosure: StorageErrorClosure? {
    get { closure.withLock { $0.closure } }
    set { closure.withLock { $0.closure = newValue } }
  }

  /// A storage over `delegate` with a key of the application's own.
  ///
  /// Where the delegate can hold a header (``KeysetDelegate``) this is the key source
  /// `.key(symmetricKey)`. Elsewhere all keys are derived from `symmetricKey`, values are sealed
  /// with XAES-256-GCM, and two places with the same key are not told apart.
  ///
  /// - Parameters:
  ///   - delegate: where the records live. Nil is the error `unavailable` at every use.
  ///   - symmetricKey: 256 bits. Nil is the error `keyUnavailable` at every use: never plaintext.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  @_disfavoredOverload  // Else a `SymmetricKey.generate()` without `try` is the one that throws.
  public convenience init(
    _ delegate: (any StorageDelegate)? = nil, symmetricKey: SymmetricKey? = nil,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      delegate, symmetricKey: symmetricKey.map { KeySource.key($0) } ?? KeySource.missing,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A storage over `delegate` with the key of a source, for `SymmetricKey.generate()` without `try`.
  ///
  /// New code says ``init(_:keySource:algorithm:authenticationTag:errorClosure:)``.
  ///
  /// - Parameters:
  ///   - delegate: where the records live. Nil is the error `unavailable` at every use.
  ///   - symmetricKey: where the key comes from. Why it can't be had is the error of every use.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    _ delegate: (any StorageDelegate)? = nil, symmetricKey: KeySource,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      delegate ?? MissingDelegate(), keySource: symmetricKey,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A storage over `delegate` whose key comes from a source.
  ///
  /// The store is opened, or made, at its first use.
  ///
  /// - Parameters:
  ///   - delegate: where the records live. One that can't hold a header takes only `.key`.
  ///   - keySource: where the key comes from.
  ///   - algorithm: what seals, if the store is new; a store that exists keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public init(
    _ delegate: any StorageDelegate, keySource: KeySource,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    store = SealedStore(
      delegate, source: keySource, algorithm: algorithm,
      tag: authenticationTag.map { Array($0) } ?? [])
    closure = Lock(ErrorReceiver(closure: errorClosure))
  }

  /// Opens the store now, or makes it, so that a start-up fails where it should.
  ///
  ///     try VaultStorage.standard.open(.mustExist)
  ///
  /// With `.mustExist` it is not made, now or later, by whatever uses this storage, whether this call
  /// succeeds or not: where the store is gone, reads and writes are the error `unavailable`. A program that
  /// reads from memory notices at its next write that a file was removed.
  ///
  /// - Parameter existence: whether a store that is missing is made.
  /// - Throws: `StorageError`: why it can't be opened; `unavailable` when it has to be there and is not, or
  ///   is for reading alone and is not there; `unsupported` for `.mustExist` where the place keeps no
  ///   header.
  public func open(_ existence: StoreExistence = .madeIfMissing) throws(StorageError) {
    switch existence {
    case .madeIfMissing: _ = try store.keys.openOrCreate()
    case .mustExist: try store.keys.openExisting()
    }
  }
}

extension DelegatedStorage: RedactedDescription {}

extension KeySource {
  /// What a storage without a key gets.
  package static let missing = KeySource(
    failing: StorageError(
      .keyUnavailable, "the storage was made without a key; give it a key or a key source"))
}

/// What a storage without a delegate gets.
private struct MissingDelegate: StorageDelegate {
  private static let error = StorageError(
    .unavailable, "the storage was made without a delegate; give it a delegate")

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { throw Self.error }
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) { throw Self.error }
  func setIfAbsent(
    _ record: [UInt8], for name: NameHash
  ) throws(StorageError) -> Bool { throw Self.error }
  func remove(_ name: NameHash) throws(StorageError) { throw Self.error }
}
