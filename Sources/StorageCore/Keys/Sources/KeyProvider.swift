/// A key source that the application implements, such as a hardware token or a cloud's secret
/// manager.
///
/// An implementation returns `nil` only if it has no key; if it is locked, denied or timed out, it
/// throws. Calls may come from any thread and must end in bounded time: other threads that use the
/// store meanwhile get `busy` after the deadline of the store. A provider must not use the store
/// that it opens, and no store whose own source uses this one.
public protocol KeyProvider: Sendable {
  /// Tells this source from the application's other sources; stored unencrypted in the store.
  var identifier: String { get }

  /// Returns the existing key, or nil when there is none.
  ///
  /// - Throws: `StorageError` when the provider can't tell.
  func material() throws(StorageError) -> KeyMaterial?

  /// Whether ``makeMaterial()`` can make a key. False by default.
  var makesKeys: Bool { get }

  /// Makes a key, stores it durably, and returns it.
  ///
  /// Called for a store without data, and when a slot is added for this source.
  ///
  /// - Throws: `StorageError`; `unsupported` by default.
  func makeMaterial() throws(StorageError) -> KeyMaterial
}

extension KeyProvider {
  /// False: this provider makes no keys.
  public var makesKeys: Bool { false }

  /// Throws `unsupported`.
  public func makeMaterial() throws(StorageError) -> KeyMaterial {
    throw StorageError(.unsupported, "the key provider \(identifier) makes no keys")
  }
}
