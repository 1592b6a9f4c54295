// The part of gRPC's C library that this package calls, as the library of the soname below declares it
// (grpc/grpc.h of gRPC 1.51, Apache License 2.0). A soname stands for its declarations, so nothing of gRPC is
// needed to build. Tests compare all of this with gRPC's own headers.
#ifndef SPS_CGRPC_GRPC_H
#define SPS_CGRPC_GRPC_H

#include <stddef.h>
#include <stdint.h>

#define GRPC_LIBRARY "libgrpc.so.29"

typedef struct grpc_auth_context grpc_auth_context;
typedef struct grpc_byte_buffer grpc_byte_buffer;
typedef struct grpc_call grpc_call;
typedef struct grpc_channel grpc_channel;
typedef struct grpc_channel_credentials grpc_channel_credentials;
typedef struct grpc_completion_queue grpc_completion_queue;
typedef struct verify_peer_options verify_peer_options;

typedef enum { GPR_CLOCK_MONOTONIC = 0, GPR_TIMESPAN = 3 } gpr_clock_type;
typedef enum { GPR_LOG_SEVERITY_ERROR = 2 } gpr_log_severity;
typedef enum { GRPC_ARG_INTEGER = 1 } grpc_arg_type;
typedef enum { GRPC_CALL_OK = 0 } grpc_call_error;
typedef enum { GRPC_QUEUE_TIMEOUT = 1 } grpc_completion_type;
typedef enum { GRPC_STATUS_UNKNOWN = 2, GRPC_STATUS_RESOURCE_EXHAUSTED = 8 } grpc_status_code;
typedef enum {
  GRPC_OP_SEND_INITIAL_METADATA = 0,
  GRPC_OP_SEND_MESSAGE = 1,
  GRPC_OP_SEND_CLOSE_FROM_CLIENT = 2,
  GRPC_OP_RECV_INITIAL_METADATA = 4,
  GRPC_OP_RECV_MESSAGE = 5,
  GRPC_OP_RECV_STATUS_ON_CLIENT = 6,
} grpc_op_type;

#define GRPC_PROPAGATE_DEFAULTS ((uint32_t)0xffff)

#define GRPC_ARG_ENABLE_HTTP_PROXY "grpc.enable_http_proxy"
#define GRPC_ARG_ENABLE_RETRIES "grpc.enable_retries"
#define GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA "grpc.http2.max_pings_without_data"
#define GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS "grpc.initial_reconnect_backoff_ms"
#define GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS "grpc.keepalive_permit_without_calls"
#define GRPC_ARG_KEEPALIVE_TIMEOUT_MS "grpc.keepalive_timeout_ms"
#define GRPC_ARG_KEEPALIVE_TIME_MS "grpc.keepalive_time_ms"
#define GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH "grpc.max_receive_message_length"
#define GRPC_ARG_MAX_RECONNECT_BACKOFF_MS "grpc.max_reconnect_backoff_ms"
#define GRPC_ARG_MIN_RECONNECT_BACKOFF_MS "grpc.min_reconnect_backoff_ms"
#define GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION "grpc.service_config_disable_resolution"
#define GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL "grpc.use_local_subchannel_pool"
#define GRPC_X509_PEM_CERT_PROPERTY_NAME "x509_pem_cert"

typedef struct {
  int64_t tv_sec;
  int32_t tv_nsec;
  gpr_clock_type clock_type;
} gpr_timespec;

typedef struct {
  void *refcount;
  union {
    struct {
      size_t length;
      uint8_t *bytes;
    } refcounted;
    struct {
      uint8_t length;
      uint8_t bytes[sizeof(size_t) + 2 * sizeof(void *) - 1];
    } inlined;
  } data;
} grpc_slice;

#define GRPC_SLICE_START_PTR(slice) \
  ((slice).refcount ? (slice).data.refcounted.bytes : (slice).data.inlined.bytes)
#define GRPC_SLICE_LENGTH(slice) \
  ((slice).refcount ? (slice).data.refcounted.length : (slice).data.inlined.length)

typedef struct {
  grpc_byte_buffer *buffer_in, *buffer_out;
  union {
    unsigned index;
  } current;
} grpc_byte_buffer_reader;

typedef struct {
  grpc_arg_type type;
  char *key;
  union {
    char *string;
    int integer;
    struct {
      void *p;
      const void *vtable;
    } pointer;
  } value;
} grpc_arg;

typedef struct {
  size_t num_args;
  grpc_arg *args;
} grpc_channel_args;

typedef struct {
  const char *private_key, *cert_chain;
} grpc_ssl_pem_key_cert_pair;

typedef struct {
  grpc_slice key, value;
  struct {
    void *obfuscated[4];
  } internal_data;
} grpc_metadata;

typedef struct {
  size_t count, capacity;
  grpc_metadata *metadata;
} grpc_metadata_array;

typedef struct {
  grpc_completion_type type;
  int success;
  void *tag;
} grpc_event;

typedef struct {
  grpc_op_type op;
  uint32_t flags;
  void *reserved;
  union {
    struct {
      void *reserved[8];
    } reserved;
    struct {
      size_t count;
      grpc_metadata *metadata;
      struct {
        uint8_t is_set;
        int level;
      } maybe_compression_level;
    } send_initial_metadata;
    struct {
      grpc_byte_buffer *send_message;
    } send_message;
    struct {
      grpc_metadata_array *recv_initial_metadata;
    } recv_initial_metadata;
    struct {
      grpc_byte_buffer **recv_message;
    } recv_message;
    struct {
      grpc_metadata_array *trailing_metadata;
      grpc_status_code *status;
      grpc_slice *status_details;
      const char **error_string;
    } recv_status_on_client;
  } data;
} grpc_op;

typedef struct {
  const grpc_auth_context *ctx;
  size_t index;
  const char *name;
} grpc_auth_property_iterator;

typedef struct {
  char *name, *value;
  size_t value_length;
} grpc_auth_property;

#endif
