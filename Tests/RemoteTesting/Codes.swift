package import StorageCore

/// The code of the storage error that `body` throws; nil when it throws none, or another error.
package func code(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}
