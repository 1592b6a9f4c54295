// A bare transaction of etcd through gRPC's C library: what a write of ours is measured against.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct etcd_peer etcd_peer;

// A connection to one member, such as "dns:///127.0.0.1:2379". NULL when there is none.
etcd_peer *etcd_peer_open(const char *target);
void etcd_peer_close(etcd_peer *peer);

// Puts a row of `size` bytes, if the row exists or not: a transaction of one comparison and one put.
// Returns 0, or -1 when it was not made.
int etcd_peer_put(etcd_peer *peer, const char *key, size_t size);
