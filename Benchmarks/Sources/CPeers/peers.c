#define _GNU_SOURCE
#include "peers.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>

#define FUNCTIONS(X) \
  X(libversion) X(open_v2) X(close_v2) X(errmsg) X(exec) X(prepare_v2) X(finalize) X(step) \
  X(reset) X(bind_blob) X(bind_int64) X(column_blob) X(column_bytes) X(column_text)

struct peer_library {
#define FIELD(name) __typeof__(&sqlite3_##name) name;
  FUNCTIONS(FIELD)
#undef FIELD
};

struct peer {
  const peer_library *library;
  sqlite3 *database;
  sqlite3_stmt *begin, *commit, *read, *write, *manifest;
  // Whether rows have a sequence number, and the last one.
  int counts;
  sqlite3_int64 sequence;
  char cipher_version[64];
};

peer_library *peer_load(const char *file) {
  // Local, so that nobody else sees its symbols; bound deeply, so that it finds its own before those
  // of the other library.
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == NULL) return NULL;
  peer_library *library = calloc(1, sizeof *library);
  if (library == NULL) return NULL;
#define FIND(name) \
  library->name = (__typeof__(&sqlite3_##name))dlsym(handle, "sqlite3_" #name); \
  if (library->name == NULL) { \
    free(library); \
    return NULL; \
  }
  FUNCTIONS(FIND)
#undef FIND
  return library;
}

const char *peer_version(const peer_library *library) { return library->libversion(); }

static int keep_text(void *target, int count, char **values, char **names) {
  (void)names;
  if (count > 0 && values[0] != NULL) snprintf(target, 64, "%s", values[0]);
  return 0;
}

static int prepare(peer *peer, const char *sql, sqlite3_stmt **statement) {
  // Debian's SQLCipher 3.4.1 is made of SQLite 3.15, which has no sqlite3_prepare_v3().
  return peer->library->prepare_v2(peer->database, sql, -1, statement, NULL);
}

#define VAULT_TABLES \
  "CREATE TABLE meta (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, value BLOB NOT NULL) " \
  "STRICT;" \
  "CREATE TABLE record (sequence INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, value BLOB) " \
  "STRICT;" \
  "CREATE INDEX tombstone ON record (sequence) WHERE value IS NULL"
#define VAULT_STATEMENTS \
  "REPLACE INTO record (sequence, name, value) VALUES (?3, ?1, ?2)", \
  "REPLACE INTO meta (id, sequence, value) VALUES (2, ?2, ?1)"

static const struct {
  const char *schema, *write, *manifest;
} layouts[] = {
  [peer_plain_table] = {
    "CREATE TABLE record (name BLOB PRIMARY KEY, value BLOB);"
    "CREATE TABLE meta (id INTEGER PRIMARY KEY, value BLOB)",
    "REPLACE INTO record VALUES (?1, ?2)",
    "REPLACE INTO meta VALUES (2, ?1)",
  },
  [peer_one_tree] = {
    "CREATE TABLE record (name BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE meta (id INTEGER PRIMARY KEY, value BLOB)",
    "REPLACE INTO record VALUES (?1, ?2)",
    "REPLACE INTO meta VALUES (2, ?1)",
  },
  [peer_vault_tables] = {VAULT_TABLES, VAULT_STATEMENTS},
  [peer_vault_pages] = {VAULT_TABLES, VAULT_STATEMENTS},
};

static int set_up(peer *peer, const char *key, enum peer_tables tables) {
  const peer_library *library = peer->library;
  if (key != NULL) {
    char sql[128];
    // https://www.zetetic.net/sqlcipher/sqlcipher-api/#key: raw, without a derivation.
    snprintf(sql, sizeof sql, "PRAGMA key = \"x'%s'\"", key);
    if (library->exec(peer->database, sql, NULL, NULL, NULL) != SQLITE_OK) return -1;
  }
  if (tables == peer_vault_pages &&
      library->exec(peer->database, "PRAGMA page_size = 2048", NULL, NULL, NULL) != SQLITE_OK)
    return -1;
  char mode[64] = "";
  if (library->exec(peer->database, "PRAGMA cipher_version", keep_text, peer->cipher_version,
                    NULL) != SQLITE_OK ||
      library->exec(peer->database, "PRAGMA journal_mode = WAL", keep_text, mode, NULL) !=
          SQLITE_OK ||
      strcmp(mode, "wal") != 0 ||
      library->exec(peer->database, "PRAGMA synchronous = FULL", NULL, NULL, NULL) != SQLITE_OK ||
      library->exec(peer->database, layouts[tables].schema, NULL, NULL, NULL) != SQLITE_OK)
    return -1;
  peer->counts = tables == peer_vault_tables || tables == peer_vault_pages;
  if (prepare(peer, "BEGIN IMMEDIATE", &peer->begin) != SQLITE_OK ||
      prepare(peer, "COMMIT", &peer->commit) != SQLITE_OK ||
      prepare(peer, "SELECT value FROM record WHERE name = ?1", &peer->read) != SQLITE_OK ||
      prepare(peer, layouts[tables].write, &peer->write) != SQLITE_OK ||
      prepare(peer, layouts[tables].manifest, &peer->manifest) != SQLITE_OK)
    return -1;
  return 0;
}

peer *peer_open(const peer_library *library, const char *path, const char *key,
                enum peer_tables tables) {
  peer *peer = calloc(1, sizeof *peer);
  if (peer == NULL) return NULL;
  peer->library = library;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (library->open_v2(path, &peer->database, flags, NULL) != SQLITE_OK ||
      set_up(peer, key, tables) != 0) {
    fprintf(stderr, "%s: %s\n", path, peer_message(peer));
    peer_close(peer);
    return NULL;
  }
  return peer;
}

void peer_close(peer *peer) {
  const peer_library *library = peer->library;
  library->finalize(peer->begin);
  library->finalize(peer->commit);
  library->finalize(peer->read);
  library->finalize(peer->write);
  library->finalize(peer->manifest);
  library->close_v2(peer->database);
  free(peer);
}

const char *peer_cipher_version(peer *peer) {
  return peer->cipher_version[0] == 0 ? NULL : peer->cipher_version;
}

const char *peer_message(peer *peer) { return peer->library->errmsg(peer->database); }

int peer_read(peer *peer, size_t times, const uint8_t name[64], uint8_t *value, size_t capacity,
              size_t *count) {
  const peer_library *library = peer->library;
  for (size_t time = 0; time < times; time++) {
    if (library->bind_blob(peer->read, 1, name, 64, SQLITE_STATIC) != SQLITE_OK ||
        library->step(peer->read) != SQLITE_ROW)
      return -1;
    const void *found = library->column_blob(peer->read, 0);
    *count = (size_t)library->column_bytes(peer->read, 0);
    if (found == NULL || *count > capacity) return -1;
    memcpy(value, found, *count);
    if (library->reset(peer->read) != SQLITE_OK) return -1;
  }
  return 0;
}

static int run(const peer_library *library, sqlite3_stmt *statement) {
  int result = library->step(statement);
  library->reset(statement);
  return result == SQLITE_DONE ? 0 : -1;
}

// Binds the next sequence number, where there are any.
static int count_up(peer *peer, sqlite3_stmt *statement, int index) {
  if (!peer->counts) return 0;
  return peer->library->bind_int64(statement, index, ++peer->sequence) == SQLITE_OK ? 0 : -1;
}

int peer_write(peer *peer, size_t times, const uint8_t *names, size_t rows, const uint8_t *value,
               size_t count, const uint8_t *manifest, size_t manifest_count) {
  const peer_library *library = peer->library;
  for (size_t time = 0; time < times; time++) {
    if (run(library, peer->begin) != 0) return -1;
    for (size_t row = 0; row < rows; row++) {
      if (library->bind_blob(peer->write, 1, names + 64 * row, 64, SQLITE_STATIC) != SQLITE_OK ||
          library->bind_blob(peer->write, 2, value, (int)count, SQLITE_STATIC) != SQLITE_OK ||
          count_up(peer, peer->write, 3) != 0 || run(library, peer->write) != 0)
        return -1;
    }
    if (library->bind_blob(peer->manifest, 1, manifest, (int)manifest_count, SQLITE_STATIC) !=
            SQLITE_OK ||
        count_up(peer, peer->manifest, 2) != 0 || run(library, peer->manifest) != 0 || run(library, peer->commit) != 0)
      return -1;
  }
  return 0;
}

long file_system_of(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)status.f_type : -1;
}
