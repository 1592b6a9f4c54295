#ifndef SPS_CGRPC_SHIM_H
#define SPS_CGRPC_SHIM_H

#if !__has_include(<grpc/grpc.h>)
#error "EtcdBackend needs gRPC's C library: apt-get install libgrpc-dev"
#endif

// The system's headers first: gRPC's define _GNU_SOURCE, with which types of theirs look different
// from those that other modules have.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <openssl/err.h>
#include <openssl/pem.h>

// Calls of gRPC as one function each, because the batches of operations that it takes are arrays of
// unions with pointers into each other.

// What a call has answered. The pointers are owned; sps_grpc_answer_free() wipes and frees them.
struct sps_grpc_answer {
  int status;
  char *_Nullable message;
  uint8_t *_Nullable bytes;
  size_t count;
  /// The other end's certificate as PEM, where it was asked for and there is one.
  char *_Nullable certificate;
};

static inline void sps_grpc_answer_free(struct sps_grpc_answer *_Nonnull answer) {
  if (answer->bytes != NULL) explicit_bzero(answer->bytes, answer->count);
  free(answer->bytes);
  free(answer->message);
  free(answer->certificate);
  memset(answer, 0, sizeof *answer);
}

static inline grpc_arg sps_grpc_integer(const char *_Nonnull key, int value) {
  grpc_arg arg = {.type = GRPC_ARG_INTEGER, .key = (char *)key};
  arg.value.integer = value;
  return arg;
}

/// A channel to one address; connects with its first call. NULL if the certificates are malformed.
/// With roots, over TLS; certificate and key, both or none, are those of the client. All are PEM.
static inline grpc_channel *_Nullable sps_grpc_channel_new(
    const char *_Nonnull target, const char *_Nullable roots, const char *_Nullable certificate,
    const char *_Nullable key, int largest_answer) {
  // gRPC writes to standard error what every error says anyway. GRPC_VERBOSITY brings it back.
  if (getenv("GRPC_VERBOSITY") == NULL)
    gpr_set_log_verbosity((gpr_log_severity)(GPR_LOG_SEVERITY_ERROR + 1));
  grpc_init();
  grpc_arg args[] = {
      // No call is repeated by the library, and no answer of a name server changes that.
      sps_grpc_integer(GRPC_ARG_ENABLE_RETRIES, 0),
      sps_grpc_integer(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
      // The environment does not say where a store is.
      sps_grpc_integer(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
      // A connection whose other end is silently gone is noticed within 13 s.
      sps_grpc_integer(GRPC_ARG_KEEPALIVE_TIME_MS, 10000),
      sps_grpc_integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3000),
      sps_grpc_integer(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
      sps_grpc_integer(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
      // A member that comes back is found within a second.
      sps_grpc_integer(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
      sps_grpc_integer(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000),
      sps_grpc_integer(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000),
      // Two stores of one process may have different users.
      sps_grpc_integer(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
      sps_grpc_integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, largest_answer),
  };
  grpc_channel_args all = {.num_args = sizeof args / sizeof *args, .args = args};
  grpc_channel_credentials *credentials;
  if (roots == NULL) {
    credentials = grpc_insecure_credentials_create();
  } else {
    grpc_ssl_pem_key_cert_pair pair = {.private_key = key, .cert_chain = certificate};
    credentials =
        grpc_ssl_credentials_create(roots, certificate == NULL ? NULL : &pair, NULL, NULL);
  }
  grpc_channel *channel = NULL;
  if (credentials != NULL) {
    channel = grpc_channel_create(target, credentials, &all);
    grpc_channel_credentials_release(credentials);
  }
  if (channel == NULL) grpc_shutdown();
  return channel;
}

static inline void sps_grpc_channel_free(grpc_channel *_Nonnull channel) {
  grpc_channel_destroy(channel);
  grpc_shutdown();
}

static inline gpr_timespec sps_grpc_deadline(int64_t nanoseconds) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(nanoseconds, GPR_TIMESPAN));
}

// Takes the bytes of a message; 0 if there is not enough memory or the message can't be read.
static inline int sps_grpc_take(
    grpc_byte_buffer *_Nonnull buffer, struct sps_grpc_answer *_Nonnull answer) {
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, buffer)) return 0;
  size_t room = grpc_byte_buffer_length(buffer);
  answer->bytes = (uint8_t *)malloc(room == 0 ? 1 : room);
  answer->count = 0;
  grpc_slice slice;
  while (answer->bytes != NULL && grpc_byte_buffer_reader_next(&reader, &slice)) {
    size_t count = GRPC_SLICE_LENGTH(slice);
    if (count > room - answer->count) count = room - answer->count;
    memcpy(answer->bytes + answer->count, GRPC_SLICE_START_PTR(slice), count);
    answer->count += count;
    grpc_slice_unref(slice);
  }
  grpc_byte_buffer_reader_destroy(&reader);
  return answer->bytes != NULL;
}

static inline char *_Nullable sps_grpc_text(grpc_slice slice) {
  return strndup((const char *)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
}

static inline void sps_grpc_queue_free(grpc_completion_queue *_Nonnull queue) {
  grpc_completion_queue_shutdown(queue);
  grpc_completion_queue_pluck(queue, NULL, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  grpc_completion_queue_destroy(queue);
}

static inline grpc_byte_buffer *_Nonnull sps_grpc_buffer(
    const void *_Nullable bytes, size_t count) {
  grpc_slice slice = grpc_slice_from_copied_buffer((const char *)bytes, count);
  grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return buffer;
}

static inline grpc_call *_Nonnull sps_grpc_call_new(
    grpc_channel *_Nonnull channel, grpc_completion_queue *_Nonnull queue,
    const char *_Nonnull method, gpr_timespec deadline) {
  grpc_slice name = grpc_slice_from_copied_string(method);
  grpc_call *call = grpc_channel_create_call(
      channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue, name, NULL, deadline, NULL);
  grpc_slice_unref(name);
  return call;
}

// The metadata of every call to etcd: refused by a member without a leader, and the token, if any.
static inline size_t sps_grpc_metadata(
    grpc_metadata metadata[_Nonnull 2], const char *_Nullable token) {
  memset(metadata, 0, 2 * sizeof *metadata);
  metadata[0].key = grpc_slice_from_static_string("hasleader");
  metadata[0].value = grpc_slice_from_static_string("true");
  if (token == NULL) return 1;
  metadata[1].key = grpc_slice_from_static_string("token");
  metadata[1].value = grpc_slice_from_copied_string(token);
  return 2;
}

static inline char *_Nullable sps_grpc_peer_certificate(grpc_call *_Nonnull call) {
  grpc_auth_context *context = grpc_call_auth_context(call);
  grpc_auth_property_iterator all =
      grpc_auth_context_find_properties_by_name(context, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  const grpc_auth_property *property = grpc_auth_property_iterator_next(&all);
  char *text = property == NULL ? NULL : strndup(property->value, property->value_length);
  grpc_auth_context_release(context);
  return text;
}

/// From when to when the first certificate of a PEM text is good, in seconds since 1970; 0 if there is
/// none.
static inline int sps_certificate_validity(
    const char *_Nonnull text, int64_t *_Nonnull begin, int64_t *_Nonnull end) {
  BIO *source = BIO_new_mem_buf(text, -1);
  X509 *certificate = source == NULL ? NULL : PEM_read_bio_X509(source, NULL, NULL, NULL);
  struct tm first, last;
  memset(&first, 0, sizeof first);
  memset(&last, 0, sizeof last);
  int is_read = certificate != NULL &&
                ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &first) == 1 &&
                ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &last) == 1;
  if (certificate == NULL) ERR_clear_error();
  X509_free(certificate);
  BIO_free(source);
  if (is_read) {
    *begin = (int64_t)timegm(&first);
    *end = (int64_t)timegm(&last);
  }
  return is_read;
}

/// Makes one call and waits for its answer on this thread.
static inline void sps_grpc_call(
    grpc_channel *_Nonnull channel, const char *_Nonnull method, const char *_Nullable token,
    const void *_Nullable request, size_t count, int64_t nanoseconds, int wants_certificate,
    struct sps_grpc_answer *_Nonnull answer) {
  memset(answer, 0, sizeof *answer);
  grpc_completion_queue *queue = grpc_completion_queue_create_for_pluck(NULL);
  gpr_timespec deadline = sps_grpc_deadline(nanoseconds);
  grpc_call *call = sps_grpc_call_new(channel, queue, method, deadline);
  grpc_byte_buffer *sent = sps_grpc_buffer(request, count);
  grpc_byte_buffer *received = NULL;
  grpc_metadata metadata[2];
  grpc_metadata_array initial, trailing;
  grpc_metadata_array_init(&initial);
  grpc_metadata_array_init(&trailing);
  grpc_slice details = grpc_empty_slice();
  grpc_status_code status = GRPC_STATUS_UNKNOWN;

  grpc_op ops[6];
  memset(ops, 0, sizeof ops);
  ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  ops[0].data.send_initial_metadata.count = sps_grpc_metadata(metadata, token);
  ops[0].data.send_initial_metadata.metadata = metadata;
  ops[1].op = GRPC_OP_SEND_MESSAGE;
  ops[1].data.send_message.send_message = sent;
  ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
  ops[3].data.recv_initial_metadata.recv_initial_metadata = &initial;
  ops[4].op = GRPC_OP_RECV_MESSAGE;
  ops[4].data.recv_message.recv_message = &received;
  ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  ops[5].data.recv_status_on_client.trailing_metadata = &trailing;
  ops[5].data.recv_status_on_client.status = &status;
  ops[5].data.recv_status_on_client.status_details = &details;
  if (grpc_call_start_batch(call, ops, 6, call, NULL) == GRPC_CALL_OK) {
    // The call has the deadline, so the batch ends with it.
    grpc_completion_queue_pluck(queue, call, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    answer->message = sps_grpc_text(details);
    if (wants_certificate) answer->certificate = sps_grpc_peer_certificate(call);
  }
  answer->status = status;
  if (received != NULL) {
    if (!sps_grpc_take(received, answer)) answer->status = GRPC_STATUS_RESOURCE_EXHAUSTED;
    grpc_byte_buffer_destroy(received);
  }
  grpc_slice_unref(details);
  if (token != NULL) grpc_slice_unref(metadata[1].value);
  grpc_metadata_array_destroy(&initial);
  grpc_metadata_array_destroy(&trailing);
  grpc_byte_buffer_destroy(sent);
  grpc_call_unref(call);
  sps_grpc_queue_free(queue);
}

// A call that is answered by any number of messages. One thread receives; any thread may cancel.
struct sps_grpc_stream {
  grpc_completion_queue *_Nonnull queue;
  grpc_call *_Nonnull call;
  grpc_byte_buffer *_Nonnull sent;
  grpc_byte_buffer *_Nullable received;
  grpc_metadata metadata[2];
  grpc_metadata_array initial, trailing;
  grpc_slice details;
  grpc_status_code status;
  int is_started, is_receiving, has_token;
};

static inline int sps_grpc_stream_receive_next(struct sps_grpc_stream *_Nonnull stream) {
  grpc_op op;
  memset(&op, 0, sizeof op);
  op.op = GRPC_OP_RECV_MESSAGE;
  op.data.recv_message.recv_message = &stream->received;
  stream->is_receiving =
      grpc_call_start_batch(stream->call, &op, 1, &stream->received, NULL) == GRPC_CALL_OK;
  return stream->is_receiving;
}

/// Begins a call that is answered by messages, with one request. NULL when there is no memory.
static inline struct sps_grpc_stream *_Nullable sps_grpc_stream_new(
    grpc_channel *_Nonnull channel, const char *_Nonnull method, const char *_Nullable token,
    const void *_Nonnull request, size_t count) {
  struct sps_grpc_stream *stream = (struct sps_grpc_stream *)calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->queue = grpc_completion_queue_create_for_pluck(NULL);
  stream->call = sps_grpc_call_new(
      channel, stream->queue, method, gpr_inf_future(GPR_CLOCK_MONOTONIC));
  stream->sent = sps_grpc_buffer(request, count);
  stream->status = GRPC_STATUS_UNKNOWN;
  stream->details = grpc_empty_slice();
  stream->has_token = token != NULL;
  grpc_metadata_array_init(&stream->initial);
  grpc_metadata_array_init(&stream->trailing);
  grpc_op ops[4];
  memset(ops, 0, sizeof ops);
  ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  ops[0].data.send_initial_metadata.count = sps_grpc_metadata(stream->metadata, token);
  ops[0].data.send_initial_metadata.metadata = stream->metadata;
  ops[1].op = GRPC_OP_SEND_MESSAGE;
  ops[1].data.send_message.send_message = stream->sent;
  ops[2].op = GRPC_OP_RECV_INITIAL_METADATA;
  ops[2].data.recv_initial_metadata.recv_initial_metadata = &stream->initial;
  ops[3].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  ops[3].data.recv_status_on_client.trailing_metadata = &stream->trailing;
  ops[3].data.recv_status_on_client.status = &stream->status;
  ops[3].data.recv_status_on_client.status_details = &stream->details;
  // The batch with the status ends with the call.
  stream->is_started =
      grpc_call_start_batch(stream->call, ops, 4, stream, NULL) == GRPC_CALL_OK;
  if (stream->is_started) sps_grpc_stream_receive_next(stream);
  return stream;
}

/// Waits for the next message: 1 with a message, 0 if none came in time, -1 with the status when the
/// call has ended.
static inline int sps_grpc_stream_next(
    struct sps_grpc_stream *_Nonnull stream, int64_t nanoseconds,
    struct sps_grpc_answer *_Nonnull answer) {
  memset(answer, 0, sizeof *answer);
  if (stream->is_receiving) {
    grpc_event event = grpc_completion_queue_pluck(
        stream->queue, &stream->received, sps_grpc_deadline(nanoseconds), NULL);
    if (event.type == GRPC_QUEUE_TIMEOUT) return 0;
    stream->is_receiving = 0;
    if (event.success && stream->received != NULL) {
      int is_taken = sps_grpc_take(stream->received, answer);
      grpc_byte_buffer_destroy(stream->received);
      stream->received = NULL;
      if (is_taken && sps_grpc_stream_receive_next(stream)) return 1;
      sps_grpc_answer_free(answer);
      grpc_call_cancel(stream->call, NULL);
    }
  }
  if (stream->is_started) {
    grpc_completion_queue_pluck(
        stream->queue, stream, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    stream->is_started = 0;
  }
  answer->status = stream->status;
  answer->message = sps_grpc_text(stream->details);
  return -1;
}

/// Ends the call soon; any thread may call it until sps_grpc_stream_free().
static inline void sps_grpc_stream_cancel(struct sps_grpc_stream *_Nonnull stream) {
  grpc_call_cancel(stream->call, NULL);
}

/// Ends the call, waits for that, and frees it.
static inline void sps_grpc_stream_free(struct sps_grpc_stream *_Nonnull stream) {
  grpc_call_cancel(stream->call, NULL);
  gpr_timespec end = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  if (stream->is_receiving)
    grpc_completion_queue_pluck(stream->queue, &stream->received, end, NULL);
  if (stream->is_started) grpc_completion_queue_pluck(stream->queue, stream, end, NULL);
  if (stream->received != NULL) grpc_byte_buffer_destroy(stream->received);
  grpc_slice_unref(stream->details);
  if (stream->has_token) grpc_slice_unref(stream->metadata[1].value);
  grpc_metadata_array_destroy(&stream->initial);
  grpc_metadata_array_destroy(&stream->trailing);
  grpc_byte_buffer_destroy(stream->sent);
  grpc_call_unref(stream->call);
  sps_grpc_queue_free(stream->queue);
  free(stream);
}

#endif
