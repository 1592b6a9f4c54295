#include "etcd_peer.h"

#include <stdlib.h>
#include <string.h>

// The same calls as the library's, with which the benchmark is linked.
#include "../../../Sources/CGRPC/include/CGRPC.h"

struct etcd_peer {
  grpc_channel *channel;
};

etcd_peer *etcd_peer_open(const char *target) {
  char reason[512];
  if (!sps_grpc_load(reason, sizeof reason)) return NULL;
  grpc_channel *channel = sps_grpc_channel_new(target, NULL, NULL, NULL, 1 << 20);
  if (channel == NULL) return NULL;
  etcd_peer *peer = malloc(sizeof *peer);
  if (peer != NULL) peer->channel = channel;
  return peer;
}

void etcd_peer_close(etcd_peer *peer) {
  sps_grpc_channel_free(peer->channel);
  free(peer);
}

static size_t put_number(uint8_t *at, uint64_t number) {
  size_t count = 0;
  for (; number > 127; number >>= 7) at[count++] = (uint8_t)(number | 128);
  at[count++] = (uint8_t)number;
  return count;
}

static size_t put_head(uint8_t *at, int field, size_t length) {
  at[0] = (uint8_t)(field << 3 | 2);
  return 1 + put_number(at + 1, length);
}

// Puts a field in front of what is at the start of a buffer.
static size_t wrap(uint8_t *buffer, size_t length, int field) {
  uint8_t head[11];
  size_t count = put_head(head, field, length);
  memmove(buffer + count, buffer, length);
  memcpy(buffer, head, count);
  return count + length;
}

int etcd_peer_put(etcd_peer *peer, const char *key, size_t size) {
  size_t name = strlen(key);
  uint8_t *request = malloc(2 * name + size + 128);
  if (request == NULL) return -1;
  // TxnRequest.compare: the version (target 0, left out) is greater (result 1) than -1.
  size_t count = 0;
  request[count++] = 1 << 3;
  request[count++] = 1;
  count += put_head(request + count, 3, name);
  memcpy(request + count, key, name);
  count += name;
  request[count++] = 4 << 3;
  count += put_number(request + count, UINT64_MAX);
  count = wrap(request, count, 1);
  // TxnRequest.success: RequestOp.request_put of key and value.
  uint8_t *put = request + count;
  size_t length = put_head(put, 1, name);
  memcpy(put + length, key, name);
  length += name;
  length += put_head(put + length, 2, size);
  memset(put + length, 0x55, size);
  length += size;
  length = wrap(put, length, 2);
  length = wrap(put, length, 2);
  struct sps_grpc_answer answer;
  sps_grpc_call(
      peer->channel, "/etcdserverpb.KV/Txn", NULL, request, count + length, 10000000000, 0,
      &answer);
  free(request);
  // TxnResponse.succeeded is field 2, after the header.
  int is_done = 0;
  if (answer.status == 0 && answer.count > 2 && answer.bytes[0] == (1 << 3 | 2)) {
    size_t next = 2 + answer.bytes[1];
    is_done = next + 1 < answer.count && answer.bytes[next] == 2 << 3 && answer.bytes[next + 1] == 1;
  }
  sps_grpc_answer_free(&answer);
  return is_done ? 0 : -1;
}
