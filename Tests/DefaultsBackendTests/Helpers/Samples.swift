import CryptoCore
import Foundation
import StorageCore
import TestSupport

/// The program of the target DefaultsTestChild.
let helper = HelperProgram("DefaultsTestChild")

/// The name that the helper program uses for a number.
func name(_ index: Int) -> NameHash {
  var bytes = [UInt8](repeating: 0, count: NameHash.byteCount)
  for position in 0..<8 { bytes[position] = UInt8(truncatingIfNeeded: index >> (8 * position)) }
  return NameHash(bytes)!
}

/// The record that the helper program uses for a number.
func record(_ index: Int) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) } + Array(repeating: 7, count: 100)
}

/// The number of a record of ``record(_:)``.
func index(of record: [UInt8]) -> Int {
  (0..<8).reduce(0) { $0 | Int(record[$1]) << (8 * $1) }
}

/// The key that the helper program's storages use.
let sampleKey = SymmetricKey(data: Data(repeating: 5, count: 32))

/// The code of the error that `body` throws, or nil.
func code(of body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}

/// Waits until `condition` holds.
///
/// - Returns: false when it did not within `limit`.
func waits(_ limit: Duration, until condition: () -> Bool) -> Bool {
  let start = ContinuousClock.now
  while start.duration(to: .now) < limit {
    if condition() { return true }
    usleep(2000)
  }
  return condition()
}
