// Bare SQLite and SQLCipher, which the vault is measured against.
//
// Both libraries define sqlite3_open() and its kin, so each is loaded apart from all others, and
// called by pointers.
#pragma once
#include <stddef.h>
#include <stdint.h>

// A loaded library.
typedef struct peer_library peer_library;
// A database of names and values, and one row more as a manifest, open and with its statements.
typedef struct peer peer;

// What the rows are kept in.
enum peer_tables {
  // A table of names and values, as anybody would make it: its primary key is an index beside it.
  peer_plain_table,
  // The same WITHOUT ROWID: the least that SQLite can do.
  peer_one_tree,
  // The tables, the indices and the statements of a vault.
  peer_vault_tables,
  // The same in pages of a vault's length, where the others have SQLite's own, of 4 KiB.
  peer_vault_pages,
};

// Loads a shared library by its file name; NULL when that fails.
peer_library *peer_load(const char *file);
// The version of SQLite that the library says it is.
const char *peer_version(const peer_library *library);

// Opens or makes a database with a write-ahead log, synced at every commit.
//
// `key` is 64 hexadecimal digits for SQLCipher, or NULL for none. NULL when something fails.
peer *peer_open(const peer_library *library, const char *path, const char *key,
                enum peer_tables tables);
void peer_close(peer *peer);
// The version of SQLCipher, or NULL when the library is none.
const char *peer_cipher_version(peer *peer);
// What went wrong last.
const char *peer_message(peer *peer);

// The next ones return 0, or another number when something fails.

// Reads the value of the name, `times` times over. `value` gets it, up to `capacity` bytes.
int peer_read(peer *peer, size_t times, const uint8_t name[64], uint8_t *value, size_t capacity,
              size_t *count);

// One transaction that writes `rows` rows and the manifest's, `times` times over. The names are one
// behind the other, 64 bytes each; every row gets the same value.
int peer_write(peer *peer, size_t times, const uint8_t *names, size_t rows, const uint8_t *value,
               size_t count, const uint8_t *manifest, size_t manifest_count);

// The number by which statfs(2) tells the kind of file system that a path is on; -1 when it can't.
long file_system_of(const char *path);
