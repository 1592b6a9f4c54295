public import CryptoCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

/// A storage that seals values and passes the sealed records to a delegate.
///
/// Any thread may use it, many at once.
open class DelegatedStorage: Storage, @unchecked Sendable {
  // All state is immutable except the closure, which a lock protects. Not final, because
  // SingletonStorage and others are subclasses.
  private let closure: Lock<ErrorReceiver>

  /// Wraps the closure in a struct.
  ///
  /// The compiler would re-wrap a bare function value that is passed through a generic type, once
  /// per call, until releasing it overflows the stack.
  private struct ErrorReceiver: Sendable {
    var closure: StorageErrorClosure?
  }

  /// The sealed store that performs all calls.
  public let store: SealedStore

  /// The file of the values, whether it exists or not.
  ///
  /// Nil for values that are in no file, as in memory, in the keyring, in etcd and at most delegates
  /// of a program. Nil, too, if the place is not known: for example, a standard storage before
  /// `bootstrap`.
  public var url: URL? {
    store.place.location.flatMap { path in
      // A place that is no file is called by an address in errors.
      path.hasPrefix("/") ? URL(fileURLWithPath: path, isDirectory: false) : nil
    }
  }

  /// Receives the errors of calls that can't throw; when nil, ``StorageDiagnostics`` receives them.
  public var errorClosure: StorageErrorClosure? {
    get { closure.withLock { $0.closure } }
    set { closure.withLock { $0.closure = newValue } }
  }

  /// Creates a storage over `delegate` with the application's own key.
  ///
  /// Where the delegate is a ``RecordPlace``, this uses the key source
  /// `.key(symmetricKey)`. Elsewhere all keys are derived from `symmetricKey`, values are sealed
  /// with XAES-256-GCM, and two places with the same key can't be told apart.
  ///
  /// - Parameters:
  ///   - delegate: stores the records. With nil, every use is the error `unavailable`.
  ///   - symmetricKey: 256 bits. With nil, every use is the error `keyUnavailable`; the storage
  ///     never writes plaintext.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
  @_disfavoredOverload  // Else a `SymmetricKey.generate()` without `try` is the one that throws.
  public convenience init(
    _ delegate: (any StorageDelegate)? = nil, symmetricKey: SymmetricKey? = nil,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      delegate, symmetricKey: symmetricKey.map { KeySource.key($0) } ?? KeySource.missing,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Creates a storage over `delegate` with the key of a source, for `SymmetricKey.generate()`
  /// without `try`.
  ///
  /// New code uses ``init(_:keySource:algorithm:authenticationTag:errorClosure:)``.
  ///
  /// - Parameters:
  ///   - delegate: stores the records. With nil, every use is the error `unavailable`.
  ///   - symmetricKey: supplies the key. If it can't supply one, every use throws the reason.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
  public convenience init(
    _ delegate: (any StorageDelegate)? = nil, symmetricKey: KeySource,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      delegate ?? MissingDelegate(), keySource: symmetricKey,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Creates a storage over `delegate` whose key comes from a source.
  ///
  /// The store is opened, or created, at its first use.
  ///
  /// - Parameters:
  ///   - delegate: stores the records. A delegate that can't hold a header accepts only `.key`.
  ///   - keySource: supplies the key.
  ///   - algorithm: seals the values of a new store; an existing store keeps its own algorithm.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
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

  /// Creates a storage over a delegate that stores names and JSON unencrypted.
  ///
  /// The layers above do not change: they hash names and seal records with `key`, which `clear` has
  /// too.
  package init(
    _ delegate: any StorageDelegate, clear: ClearRecords, key: SymmetricKey,
    errorClosure: StorageErrorClosure? = nil
  ) {
    store = SealedStore(
      delegate, source: .key(key), algorithm: .aes256GCM, tag: [], clear: clear)
    closure = Lock(ErrorReceiver(closure: errorClosure))
  }

  /// Opens the store now, or creates it, so that a faulty set-up fails at start-up.
  ///
  ///     try VaultStorage.standard.open(.mustExist)
  ///
  /// With `.mustExist` this storage never creates the store, now or later, whether this call
  /// succeeds or not: if the store is missing, reads and writes are the error `unavailable`. A
  /// program that reads from memory notices at its next write that a file was removed.
  ///
  /// - Parameter existence: whether a missing store is created.
  /// - Throws: `StorageError`: the reason why the store can't be opened; `unavailable` when the
  ///   store is missing and must exist or is opened read-only; `unsupported` for `.mustExist` where
  ///   the place keeps no header.
  public func open(_ existence: StoreExistence = .madeIfMissing) throws(StorageError) {
    switch existence {
    case .madeIfMissing: _ = try store.keys.openOrCreate()
    case .mustExist: try store.keys.openExisting()
    }
  }
}

extension DelegatedStorage: RedactedDescription {}

/// The delegate of a storage that was created without one: every use fails.
private struct MissingDelegate: StorageDelegate {
  private static let error = StorageError(
    .unavailable, "the storage was created without a delegate; pass it one")

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { throw Self.error }
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) { throw Self.error }
  func setIfAbsent(
    _ record: [UInt8], for name: NameHash
  ) throws(StorageError) -> Bool { throw Self.error }
  func remove(_ name: NameHash) throws(StorageError) { throw Self.error }
}
