// Bare libsecret, which the keyring is measured against.
#pragma once
#include <stddef.h>

// A session of the Secret Service on the bus of the environment, shared by the whole process.
typedef struct keyring_peer keyring_peer;

// Connects and opens a session; NULL when that fails.
keyring_peer *keyring_peer_open(void);
// Ends the session and the connection.
void keyring_peer_close(keyring_peer *peer);
// What went wrong last.
const char *keyring_peer_message(void);

// Both return 0, or another number when something fails.

// Stores a secret in a collection, under three attributes like those of a sealed store.
int keyring_peer_store(keyring_peer *peer, const char *collection, const char *service,
                       const char *record, const void *secret, size_t count);
// What a sealed store calls for a read, `times` times over: a search for the record, then one call
// for its secret and that of the header, whose path is known after the first time. Without
// `searches` the record is where it was found last; one peer reads one record.
int keyring_peer_read(keyring_peer *peer, size_t times, const char *service, const char *record,
                      int searches);
