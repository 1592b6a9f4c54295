public import CryptoCore

/// The same calls for async code, as `Storage` has them.
///
/// Each call blocks a thread of its own, and no thread of Swift concurrency.
extension KeyAdministration {
  private func run<Success: Sendable>(
    _ body: @escaping @Sendable (KeyAdministration) throws(StorageError) -> Success
  ) async throws(StorageError) -> Success {
    try await Blocking.run { () throws(StorageError) in try body(self) }
  }

  /// As ``slots()``.
  ///
  /// - Throws: as ``slots()``.
  public func slotsAsync() async throws(StorageError) -> [KeySlot] {
    try await run { (keys) throws(StorageError) in try keys.slots() }
  }

  /// As ``ownSlot()``.
  ///
  /// - Returns: as ``ownSlot()``.
  /// - Throws: as ``ownSlot()``.
  public func ownSlotAsync() async throws(StorageError) -> KeySlot? {
    try await run { (keys) throws(StorageError) in try keys.ownSlot() }
  }

  /// As ``add(_:)``.
  ///
  /// - Returns: the new slot.
  /// - Throws: as ``add(_:)``.
  @discardableResult
  public func addAsync(_ source: KeySource) async throws(StorageError) -> KeySlot {
    try await run { (keys) throws(StorageError) in try keys.add(source) }
  }

  /// As ``change(to:)``.
  ///
  /// - Throws: as ``change(to:)``.
  public func changeAsync(to source: KeySource) async throws(StorageError) {
    try await run { (keys) throws(StorageError) in try keys.change(to: source) }
  }

  /// As ``remove(_:)``.
  ///
  /// - Throws: as ``remove(_:)``.
  public func removeAsync(_ id: UInt32) async throws(StorageError) {
    try await run { (keys) throws(StorageError) in try keys.remove(id) }
  }

  /// As ``exportRecoveryKey()``.
  ///
  /// - Returns: the key; it can't be exported a second time.
  /// - Throws: as ``exportRecoveryKey()``.
  public func exportRecoveryKeyAsync() async throws(StorageError) -> RecoveryKey {
    try await run { (keys) throws(StorageError) in try keys.exportRecoveryKey() }
  }

  /// As ``rotateDataKey(progress:)``.
  ///
  /// - Returns: as ``rotateDataKey(progress:)``.
  /// - Throws: as ``rotateDataKey(progress:)``.
  public func rotateDataKeyAsync(
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> ReencryptionReport {
    try await run { (keys) throws(StorageError) in try keys.rotateDataKey(progress: progress) }
  }

  /// As ``replaceRootKey(openedBy:keepingOldKeys:progress:)``.
  ///
  /// - Returns: as ``replaceRootKey(openedBy:keepingOldKeys:progress:)``.
  /// - Throws: as ``replaceRootKey(openedBy:keepingOldKeys:progress:)``.
  public func replaceRootKeyAsync(
    openedBy source: KeySource, keepingOldKeys: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> ReencryptionReport {
    try await run { (keys) throws(StorageError) in
      try keys.replaceRootKey(
        openedBy: source, keepingOldKeys: keepingOldKeys, progress: progress)
    }
  }

  /// As ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  ///
  /// - Returns: as ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  /// - Throws: as ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  public func rotateAsync(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> ReencryptionReport {
    try await run { (keys) throws(StorageError) in
      try keys.rotate(
        openedBy: source, names: names, keepingOldKeys: keepingOldKeys, progress: progress)
    }
  }

  /// As ``reencrypt(readmitting:expecting:progress:)``.
  ///
  /// - Returns: as ``reencrypt(readmitting:expecting:progress:)``.
  /// - Throws: as ``reencrypt(readmitting:expecting:progress:)``.
  public func reencryptAsync(
    readmitting: Bool = false, expecting expected: [StoreKey] = [],
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> ReencryptionReport {
    try await run { (keys) throws(StorageError) in
      try keys.reencrypt(readmitting: readmitting, expecting: expected, progress: progress)
    }
  }

  /// As ``dropRetiredKeys()``.
  ///
  /// - Returns: how many keys were dropped.
  /// - Throws: as ``dropRetiredKeys()``.
  @discardableResult
  public func dropRetiredKeysAsync() async throws(StorageError) -> Int {
    try await run { (keys) throws(StorageError) in try keys.dropRetiredKeys() }
  }
}

extension SymmetricKey {
  /// As ``generate(key:)``, without blocking a thread of Swift concurrency.
  ///
  /// Use it when the program's key source may be the desktop's keyring.
  ///
  /// - Returns: 256 bits.
  /// - Throws: as ``generate(key:)``.
  public static func generateAsync(
    key: StoreKey = "SecurePropertyStorage.SymmetricKey"
  ) async throws(StorageError) -> SymmetricKey {
    try await Blocking.run { () throws(StorageError) in try generate(key: key) }
  }
}
