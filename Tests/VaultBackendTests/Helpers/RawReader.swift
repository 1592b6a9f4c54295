import CSQLite
import Testing

/// Somebody who looks at one moment of a vault for a long time, as a backup does.
@safe
final class RawReader {
  private let handle: OpaquePointer

  init(_ vault: TemporaryVault) throws {
    var handle: OpaquePointer?
    #expect(unsafe sqlite3_open(vault.path, &handle) == SQLITE_OK)
    unsafe self.handle = try #require(unsafe handle)
    let sql = "BEGIN; SELECT count(*) FROM record"
    #expect(unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
  }

  deinit { unsafe sqlite3_close(handle) }
}
