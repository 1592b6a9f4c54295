import StorageCore

/// The code that `body` throws, or nil when it throws none.
func code(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch let error as StorageError {
    return error.code
  } catch {
    return StorageError.Code.io
  }
}
