/// A key source of an application's own: a hardware token, a cloud's secret manager.
///
/// Promise: `nil` means that there is no key here; locked, denied or timed out is an error. Calls
/// may come from any thread and must end in bounded time.
public protocol KeyProvider: Sendable {
  /// Tells this source from the application's others; kept in the store in the clear.
  var identifier: String { get }

  /// The key that is there, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func material() throws(StorageError) -> KeyMaterial?

  /// Whether ``makeMaterial()`` can make a key. False by default.
  var makesKeys: Bool { get }

  /// Makes a key, keeps it durably, and returns it. Called only for a store without data.
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
