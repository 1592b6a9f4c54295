extension GnomeKeyring {
  /// Whether a collection is locked.
  ///
  /// - Parameter collection: its path, or the last part of that.
  /// - Returns: `false` when its secrets can be read.
  /// - Throws: ``KeyringTestingError`` when the daemon does not say.
  public func isLocked(_ collection: String = "login") throws -> Bool {
    try client().isLocked(collection)
  }

  /// Locks a collection, as when its user locks it.
  ///
  /// - Parameter collection: its path, or the last part of that.
  /// - Throws: ``KeyringTestingError`` when it did not become locked.
  public func lock(_ collection: String = "login") throws {
    let client = try client()
    let path = SecretServiceName.collectionPath(collection)
    _ = try client.call("org.freedesktop.Secret.Service", "Lock", .paths([path]))
    guard try client.isLocked(collection) else {
      throw KeyringTestingError("\(path) did not become locked")
    }
  }

  /// Unlocks a collection without asking anybody.
  ///
  /// - Parameters:
  ///   - collection: its path, or the last part of that.
  ///   - password: its password, when it is not the one that the daemon was started with.
  /// - Throws: ``KeyringTestingError`` when it did not become unlocked.
  public func unlock(_ collection: String = "login", password: String? = nil) throws {
    let client = try client()
    let path = SecretServiceName.collectionPath(collection)
    _ = try client.call(
      SecretServiceName.withoutPrompt, "UnlockWithMasterPassword", .objectPath(path),
      try client.secret(password ?? passwordForCollections))
    guard try !client.isLocked(collection) else {
      throw KeyringTestingError("\(path) did not become unlocked")
    }
  }

  /// Makes a collection without asking anybody; it is unlocked.
  ///
  /// - Parameters:
  ///   - label: what people call it; its path follows from that.
  ///   - password: its password, when it is not the one that the daemon was started with.
  /// - Returns: its path.
  /// - Throws: ``KeyringTestingError`` when it was not made.
  package func createCollection(label: String, password: String? = nil) throws -> String {
    let client = try client()
    let answer = try client.call(
      SecretServiceName.withoutPrompt, "CreateWithMasterPassword",
      .properties(["org.freedesktop.Secret.Collection.Label": .string(label)]),
      try client.secret(password ?? passwordForCollections))
    guard let path = answer.first?.text else {
      throw KeyringTestingError("the answer to CreateWithMasterPassword is not a path")
    }
    return path
  }

  private func client() throws(KeyringTestingError) -> SecretServiceClient {
    SecretServiceClient(try bus.connect())
  }
}
