#include "keyring.h"

#include <stdlib.h>
#include <string.h>

// Of libsecret and GLib only what is called, so that this builds without their include paths.
typedef struct GError {
  unsigned domain;
  int code;
  char *message;
} GError;
typedef void SecretService, SecretValue, GHashTable;
extern SecretService *secret_service_get_sync(int flags, void *cancellable, GError **error);
extern void secret_service_disconnect(void);
extern int secret_service_search_for_dbus_paths_sync(
    SecretService *service, const void *schema, GHashTable *attributes, void *cancellable,
    char ***unlocked, char ***locked, GError **error);
extern GHashTable *secret_service_get_secrets_for_dbus_paths_sync(
    SecretService *service, const char **paths, void *cancellable, GError **error);
extern int secret_service_store_sync(
    SecretService *service, const void *schema, GHashTable *attributes, const char *collection,
    const char *label, SecretValue *value, void *cancellable, GError **error);
extern SecretValue *secret_value_new(const char *secret, long length, const char *content_type);
extern const char *secret_value_get(SecretValue *value, size_t *length);
extern void secret_value_unref(void *value);
extern GHashTable *g_hash_table_new(unsigned (*hash)(const void *),
                                    int (*equal)(const void *, const void *));
extern int g_hash_table_insert(GHashTable *table, void *key, void *value);
extern void *g_hash_table_lookup(GHashTable *table, const void *key);
extern void g_hash_table_unref(GHashTable *table);
extern unsigned g_str_hash(const void *text);
extern int g_str_equal(const void *one, const void *other);
extern void g_strfreev(char **texts);
extern void g_error_free(GError *error);
extern void g_object_unref(void *object);

struct keyring_peer {
  SecretService *service;
  // The paths that were found last.
  char *header;
  char *record;
};

static char last_message[256];

static int failed(GError *error) {
  const char *message = error == NULL ? "no reason was given" : error->message;
  strncpy(last_message, message, sizeof last_message - 1);
  if (error != NULL) g_error_free(error);
  return 1;
}

const char *keyring_peer_message(void) { return last_message; }

keyring_peer *keyring_peer_open(void) {
  GError *error = NULL;
  SecretService *service = secret_service_get_sync(2 /* SECRET_SERVICE_OPEN_SESSION */, NULL, &error);
  if (service == NULL) {
    failed(error);
    return NULL;
  }
  keyring_peer *peer = calloc(1, sizeof *peer);
  if (peer != NULL) peer->service = service;
  return peer;
}

void keyring_peer_close(keyring_peer *peer) {
  g_object_unref(peer->service);
  secret_service_disconnect();
  free(peer->header);
  free(peer->record);
  free(peer);
}

static GHashTable *attributes_of(const char *service, const char *record) {
  GHashTable *attributes = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_insert(attributes, "xdg:schema", "org.example.Benchmark");
  g_hash_table_insert(attributes, "service", (char *)service);
  g_hash_table_insert(attributes, "record", (char *)record);
  return attributes;
}

int keyring_peer_store(keyring_peer *peer, const char *collection, const char *service,
                       const char *record, const void *secret, size_t count) {
  GError *error = NULL;
  GHashTable *attributes = attributes_of(service, record);
  SecretValue *value = secret_value_new(secret, (long)count, "application/octet-stream");
  int done = secret_service_store_sync(
      peer->service, NULL, attributes, collection, "benchmark", value, NULL, &error);
  secret_value_unref(value);
  g_hash_table_unref(attributes);
  return done ? 0 : failed(error);
}

// The path of the one item with the attributes; NULL when there is none.
static char *find(keyring_peer *peer, const char *service, const char *record, GError **error) {
  GHashTable *attributes = attributes_of(service, record);
  char **unlocked = NULL;
  int done = secret_service_search_for_dbus_paths_sync(
      peer->service, NULL, attributes, NULL, &unlocked, NULL, error);
  g_hash_table_unref(attributes);
  char *path = done && unlocked != NULL && unlocked[0] != NULL ? strdup(unlocked[0]) : NULL;
  g_strfreev(unlocked);
  return path;
}

// One call for the secrets of the header and of the item at a path, which is decrypted.
static int read_secrets(keyring_peer *peer, const char *path) {
  GError *error = NULL;
  const char *paths[] = {peer->header, path, NULL};
  GHashTable *secrets =
      secret_service_get_secrets_for_dbus_paths_sync(peer->service, paths, NULL, &error);
  if (secrets == NULL) return failed(error);
  size_t length = 0;
  void *value = g_hash_table_lookup(secrets, path);
  if (value != NULL) secret_value_get(value, &length);
  g_hash_table_unref(secrets);
  return length == 0 ? failed(NULL) : 0;
}

int keyring_peer_read(keyring_peer *peer, size_t times, const char *service, const char *record,
                      int searches) {
  GError *error = NULL;
  if (peer->header == NULL) peer->header = find(peer, service, "header", &error);
  if (peer->header == NULL) return failed(error);
  for (size_t round = 0; round < times; round++) {
    if (searches || peer->record == NULL) {
      free(peer->record);
      peer->record = find(peer, service, record, &error);
      if (peer->record == NULL) return failed(error);
    }
    if (read_secrets(peer, peer->record) != 0) return 1;
  }
  return 0;
}
