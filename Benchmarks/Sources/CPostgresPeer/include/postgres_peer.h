// A bare prepared statement of PostgreSQL through libpq: what a write of ours is measured against.
#pragma once
#include <stddef.h>

typedef struct postgres_peer postgres_peer;

// A connection, with a table of its own. NULL when there is none.
postgres_peer *postgres_peer_open(const char *connection);
void postgres_peer_close(postgres_peer *peer);

// Puts a row of `size` bytes and one of 16, if they exist or not: one statement, which is its own
// transaction. Returns 0, or -1 when it was not made.
int postgres_peer_put(postgres_peer *peer, const char *key, size_t size);
