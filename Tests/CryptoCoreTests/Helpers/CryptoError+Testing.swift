import CryptoCore

/// The code of the error that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> CryptoError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? CryptoError)?.code
  }
}
