internal import Synchronization

/// Records which property or key first uses a standard storage, so that an error can name it.
enum StandardUse {
  /// The property or key for which a store is being opened.
  @TaskLocal static var current: RecordName?

  /// Runs `body`, which opens a store for the property or key `name`.
  static func by<Result>(
    _ name: RecordName, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    guard !SecureStorage.isFixed else { return try body() }
    return try $current.withValue(name) {
      Swift.Result { () throws(StorageError) in try body() }
    }.get()
  }

  /// A description of the current use, for an error message.
  static var description: String {
    guard let name = current else { return "a standard storage, or SecureStorage.configuration," }
    return name.place == nil
      ? "the key \(name.title) of a standard storage" : "the property \(name.title)"
  }
}
