import CryptoCore
import SingletonBackend
import StorageCore
import StorageTesting

/// A delegate in memory whose header can't be changed while it says so, or not looked at once it
/// was.
final class RefusingHeaders: ForwardingPlace {
  let base: any RecordPlace = SingletonStorageDelegate()
  private let flag = Lock(false)
  private let change = Lock((isLast: false, isDone: false))

  /// Whether the header can't be read as soon as it was changed.
  var hidesChanges: Bool {
    get { change.withLock { $0.isLast } }
    set { change.withLock { $0 = (newValue, false) } }
  }

  /// Whether changes of the header fail with `full`.
  var refuses: Bool {
    get { flag.withLock { $0 } }
    set { flag.withLock { $0 = newValue } }
  }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    if change.withLock({ $0.isLast && $0.isDone }) { throw StorageError(.io, "on cue") }
    return try base.header()
  }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    if refuses { throw StorageError(.full, "on cue") }
    let version = try base.updateHeader(body)
    change.withLock { $0.isDone = true }
    return version
  }
}
