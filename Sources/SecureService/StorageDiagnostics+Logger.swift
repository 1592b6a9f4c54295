#if Server
  public import Logging
  public import StorageCore

  extension StorageDiagnostics {
    /// Logs the errors that no caller receives, such as the failed read of a property.
    ///
    /// The logger gets each error once. Repetitions are counted. The count is logged when another
    /// error occurs in the same place, every minute while the error continues, and when a
    /// ``StorageService`` ends. The metadata has the error's `code` and, if known, its `key`,
    /// `path` and `number`; it contains no secret. The `errorClosure` of a storage runs before the
    /// logger, as before any handler.
    ///
    /// - Parameters:
    ///   - logger: the logger.
    ///   - level: the level of the messages.
    public static func log(to logger: Logger, level: Logger.Level = .error) {
      handler = { error in
        let lines = lines(for: error)
        for line in lines.dropLast() { logger.log(level: level, "\(line)") }
        guard let last = lines.last else { return }
        logger.log(level: level, "\(last)", metadata: .of(error))
      }
    }
  }

  extension Logger.Metadata {
    static func of(_ error: StorageError, store: String? = nil) -> Logger.Metadata {
      var metadata: Logger.Metadata = ["code": "\(error.code)"]
      if let store {
        metadata["store"] = "\(store)"
        metadata["reason"] = "\(error)"
      }
      // Names come from anywhere: one with a line break would forge a line of the log.
      let (key, path) = error.shownSubject
      if let key { metadata["key"] = "\(key)" }
      if let path { metadata["path"] = "\(path)" }
      if let number = error.number { metadata["number"] = "\(number)" }
      return metadata
    }
  }
#endif
