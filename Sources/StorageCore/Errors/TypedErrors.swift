/// Runs `body`, which throws only storage errors.
package func storageErrors<Result>(
  _ body: () throws -> Result
) throws(StorageError) -> Result {
  do {
    return try body()
  } catch let error as StorageError {
    throw error
  } catch {
    throw StorageError(.io, "a call failed with \(type(of: error)); this is a bug")
  }
}
