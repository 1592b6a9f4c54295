#include "postgres_peer.h"

#include <dlfcn.h>
#include <postgresql/libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X) \
  X(connectdb) X(status) X(exec) X(prepare) X(execPrepared) X(resultStatus) X(clear) X(finish)

struct postgres_peer {
  PGconn *connection;
#define FIELD(name) __typeof__(&PQ##name) name;
  FUNCTIONS(FIELD)
#undef FIELD
};

static int is_good(postgres_peer *peer, PGresult *result) {
  int is_good = peer->resultStatus(result) == PGRES_COMMAND_OK;
  peer->clear(result);
  return is_good;
}

postgres_peer *postgres_peer_open(const char *connection) {
  // The library that ours loads as well, and like it at its first use.
  void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  postgres_peer *peer = calloc(1, sizeof *peer);
  if (handle == NULL || peer == NULL) return NULL;
#define FIND(name) \
  peer->name = (__typeof__(&PQ##name))dlsym(handle, "PQ" #name); \
  if (peer->name == NULL) return NULL;
  FUNCTIONS(FIND)
#undef FIND
  peer->connection = peer->connectdb(connection);
  if (peer->status(peer->connection) != CONNECTION_OK ||
      !is_good(peer, peer->exec(
          peer->connection, "SET client_min_messages = error; "
          "CREATE TABLE IF NOT EXISTS bare (key text PRIMARY KEY, value bytea)")) ||
      !is_good(peer, peer->prepare(
          peer->connection, "put",
          "INSERT INTO bare VALUES ($1, $2), ($1 || ' ticket', $3) "
          "ON CONFLICT (key) DO UPDATE SET value = excluded.value", 0, NULL))) {
    postgres_peer_close(peer);
    return NULL;
  }
  return peer;
}

void postgres_peer_close(postgres_peer *peer) {
  peer->finish(peer->connection);
  free(peer);
}

int postgres_peer_put(postgres_peer *peer, const char *key, size_t size) {
  char value[1024], ticket[16];
  if (size > sizeof value) return -1;
  memset(value, 0x55, size);
  memset(ticket, 0x55, sizeof ticket);
  const char *values[] = {key, value, ticket};
  const int lengths[] = {(int)strlen(key), (int)size, sizeof ticket}, formats[] = {0, 1, 1};
  return is_good(peer, peer->execPrepared(peer->connection, "put", 3, values, lengths, formats, 1))
             ? 0
             : -1;
}
