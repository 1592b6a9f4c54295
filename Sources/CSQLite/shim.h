// SQLite, with what Swift can't import: a variadic function, and a cast to a function pointer.
#include <sqlite3.h>

// sqlite3_db_config() with a boolean option: sets it unless `value` is negative, and tells `now`,
// which may be null, what it is.
static inline int sps_sqlite3_configure(sqlite3 *database, int option, int value, int *now) {
  return sqlite3_db_config(database, option, value, now);
}

// sqlite3_bind_blob64() with SQLITE_TRANSIENT: SQLite copies the bytes.
static inline int sps_sqlite3_bind_copy(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
