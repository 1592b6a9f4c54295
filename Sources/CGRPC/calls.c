#include "CGRPC.h"
#include "grpc.h"

#include "functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The library's functions, which are there once sps_grpc_load() has said so.
#define FIELD(result, name, parameters) result(*name) parameters;
static struct {
  GRPC_FUNCTIONS(FIELD)
} library;

static int find_functions(void *handle) {
#define FIND(result, name, parameters) \
  if ((*(void **)&library.name = dlsym(handle, #name)) == NULL) return 0;
  GRPC_FUNCTIONS(FIND)
  return 1;
}

int sps_grpc_load(char *reason, size_t room) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static int is_loaded = 0;
  pthread_mutex_lock(&one_at_a_time);
  if (!is_loaded) {
    // By its soname alone, so where the system has its libraries. It stays: its threads may run until the end.
    void *handle = dlopen(GRPC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_loaded = handle != NULL && find_functions(handle);
    if (!is_loaded) {
      snprintf(reason, room, "%s", dlerror());
      if (handle != NULL) dlclose(handle);
    }
  }
  int result = is_loaded;
  pthread_mutex_unlock(&one_at_a_time);
  return result;
}

void sps_grpc_answer_free(struct sps_grpc_answer *answer) {
  if (answer->bytes != NULL) explicit_bzero(answer->bytes, answer->count);
  free(answer->bytes);
  free(answer->message);
  free(answer->certificate);
  memset(answer, 0, sizeof *answer);
}

static grpc_arg sps_grpc_integer(const char *key, int value) {
  grpc_arg arg = {.type = GRPC_ARG_INTEGER, .key = (char *)key};
  arg.value.integer = value;
  return arg;
}

grpc_channel *sps_grpc_channel_new(
    const char *target, const char *roots, const char *certificate,
    const char *key, int largest_answer) {
  // gRPC writes to standard error what every error says anyway. GRPC_VERBOSITY brings it back.
  if (getenv("GRPC_VERBOSITY") == NULL)
    library.gpr_set_log_verbosity((gpr_log_severity)(GPR_LOG_SEVERITY_ERROR + 1));
  library.grpc_init();
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
    credentials = library.grpc_insecure_credentials_create();
  } else {
    grpc_ssl_pem_key_cert_pair pair = {.private_key = key, .cert_chain = certificate};
    credentials =
        library.grpc_ssl_credentials_create(roots, certificate == NULL ? NULL : &pair, NULL, NULL);
  }
  grpc_channel *channel = NULL;
  if (credentials != NULL) {
    channel = library.grpc_channel_create(target, credentials, &all);
    library.grpc_channel_credentials_release(credentials);
  }
  if (channel == NULL) library.grpc_shutdown();
  return channel;
}

void sps_grpc_channel_free(grpc_channel *channel) {
  library.grpc_channel_destroy(channel);
  library.grpc_shutdown();
}

static gpr_timespec sps_grpc_deadline(int64_t nanoseconds) {
  return library.gpr_time_add(library.gpr_now(GPR_CLOCK_MONOTONIC), library.gpr_time_from_nanos(nanoseconds, GPR_TIMESPAN));
}

// Takes the bytes of a message; 0 if there is not enough memory or the message can't be read.
static int sps_grpc_take(
    grpc_byte_buffer *buffer, struct sps_grpc_answer *answer) {
  grpc_byte_buffer_reader reader;
  if (!library.grpc_byte_buffer_reader_init(&reader, buffer)) return 0;
  size_t room = library.grpc_byte_buffer_length(buffer);
  answer->bytes = (uint8_t *)malloc(room == 0 ? 1 : room);
  answer->count = 0;
  grpc_slice slice;
  while (answer->bytes != NULL && library.grpc_byte_buffer_reader_next(&reader, &slice)) {
    size_t count = GRPC_SLICE_LENGTH(slice);
    if (count > room - answer->count) count = room - answer->count;
    memcpy(answer->bytes + answer->count, GRPC_SLICE_START_PTR(slice), count);
    answer->count += count;
    library.grpc_slice_unref(slice);
  }
  library.grpc_byte_buffer_reader_destroy(&reader);
  return answer->bytes != NULL;
}

static char *sps_grpc_text(grpc_slice slice) {
  return strndup((const char *)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
}

static void sps_grpc_queue_free(grpc_completion_queue *queue) {
  library.grpc_completion_queue_shutdown(queue);
  library.grpc_completion_queue_pluck(queue, NULL, library.gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  library.grpc_completion_queue_destroy(queue);
}

static grpc_byte_buffer *sps_grpc_buffer(
    const void *bytes, size_t count) {
  grpc_slice slice = library.grpc_slice_from_copied_buffer((const char *)bytes, count);
  grpc_byte_buffer *buffer = library.grpc_raw_byte_buffer_create(&slice, 1);
  library.grpc_slice_unref(slice);
  return buffer;
}

static grpc_call *sps_grpc_call_new(
    grpc_channel *channel, grpc_completion_queue *queue,
    const char *method, gpr_timespec deadline) {
  grpc_slice name = library.grpc_slice_from_copied_string(method);
  grpc_call *call = library.grpc_channel_create_call(
      channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue, name, NULL, deadline, NULL);
  library.grpc_slice_unref(name);
  return call;
}

// The metadata of every call to etcd: refused by a member without a leader, and the token, if any.
static size_t sps_grpc_metadata(
    grpc_metadata metadata[2], const char *token) {
  memset(metadata, 0, 2 * sizeof *metadata);
  metadata[0].key = library.grpc_slice_from_static_string("hasleader");
  metadata[0].value = library.grpc_slice_from_static_string("true");
  if (token == NULL) return 1;
  metadata[1].key = library.grpc_slice_from_static_string("token");
  metadata[1].value = library.grpc_slice_from_copied_string(token);
  return 2;
}

static char *sps_grpc_peer_certificate(grpc_call *call) {
  grpc_auth_context *context = library.grpc_call_auth_context(call);
  grpc_auth_property_iterator all =
      library.grpc_auth_context_find_properties_by_name(context, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  const grpc_auth_property *property = library.grpc_auth_property_iterator_next(&all);
  char *text = property == NULL ? NULL : strndup(property->value, property->value_length);
  library.grpc_auth_context_release(context);
  return text;
}

void sps_grpc_call(
    grpc_channel *channel, const char *method, const char *token,
    const void *request, size_t count, int64_t nanoseconds, int wants_certificate,
    struct sps_grpc_answer *answer) {
  memset(answer, 0, sizeof *answer);
  grpc_completion_queue *queue = library.grpc_completion_queue_create_for_pluck(NULL);
  gpr_timespec deadline = sps_grpc_deadline(nanoseconds);
  grpc_call *call = sps_grpc_call_new(channel, queue, method, deadline);
  grpc_byte_buffer *sent = sps_grpc_buffer(request, count);
  grpc_byte_buffer *received = NULL;
  grpc_metadata metadata[2];
  grpc_metadata_array initial, trailing;
  library.grpc_metadata_array_init(&initial);
  library.grpc_metadata_array_init(&trailing);
  grpc_slice details = library.grpc_empty_slice();
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
  if (library.grpc_call_start_batch(call, ops, 6, call, NULL) == GRPC_CALL_OK) {
    // The call has the deadline, so the batch ends with it.
    library.grpc_completion_queue_pluck(queue, call, library.gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    answer->message = sps_grpc_text(details);
    if (wants_certificate) answer->certificate = sps_grpc_peer_certificate(call);
  }
  answer->status = status;
  if (received != NULL) {
    if (!sps_grpc_take(received, answer)) answer->status = GRPC_STATUS_RESOURCE_EXHAUSTED;
    library.grpc_byte_buffer_destroy(received);
  }
  library.grpc_slice_unref(details);
  if (token != NULL) library.grpc_slice_unref(metadata[1].value);
  library.grpc_metadata_array_destroy(&initial);
  library.grpc_metadata_array_destroy(&trailing);
  library.grpc_byte_buffer_destroy(sent);
  library.grpc_call_unref(call);
  sps_grpc_queue_free(queue);
}

// A call that is answered by any number of messages. One thread receives; any thread may cancel.
struct sps_grpc_stream {
  grpc_completion_queue *queue;
  grpc_call *call;
  grpc_byte_buffer *sent;
  grpc_byte_buffer *received;
  grpc_metadata metadata[2];
  grpc_metadata_array initial, trailing;
  grpc_slice details;
  grpc_status_code status;
  int is_started, is_receiving, has_token;
};

static int sps_grpc_stream_receive_next(struct sps_grpc_stream *stream) {
  grpc_op op;
  memset(&op, 0, sizeof op);
  op.op = GRPC_OP_RECV_MESSAGE;
  op.data.recv_message.recv_message = &stream->received;
  stream->is_receiving =
      library.grpc_call_start_batch(stream->call, &op, 1, &stream->received, NULL) == GRPC_CALL_OK;
  return stream->is_receiving;
}

struct sps_grpc_stream *sps_grpc_stream_new(
    grpc_channel *channel, const char *method, const char *token,
    const void *request, size_t count) {
  struct sps_grpc_stream *stream = (struct sps_grpc_stream *)calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->queue = library.grpc_completion_queue_create_for_pluck(NULL);
  stream->call = sps_grpc_call_new(
      channel, stream->queue, method, library.gpr_inf_future(GPR_CLOCK_MONOTONIC));
  stream->sent = sps_grpc_buffer(request, count);
  stream->status = GRPC_STATUS_UNKNOWN;
  stream->details = library.grpc_empty_slice();
  stream->has_token = token != NULL;
  library.grpc_metadata_array_init(&stream->initial);
  library.grpc_metadata_array_init(&stream->trailing);
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
      library.grpc_call_start_batch(stream->call, ops, 4, stream, NULL) == GRPC_CALL_OK;
  if (stream->is_started) sps_grpc_stream_receive_next(stream);
  return stream;
}

int sps_grpc_stream_next(
    struct sps_grpc_stream *stream, int64_t nanoseconds,
    struct sps_grpc_answer *answer) {
  memset(answer, 0, sizeof *answer);
  if (stream->is_receiving) {
    grpc_event event = library.grpc_completion_queue_pluck(
        stream->queue, &stream->received, sps_grpc_deadline(nanoseconds), NULL);
    if (event.type == GRPC_QUEUE_TIMEOUT) return 0;
    stream->is_receiving = 0;
    if (event.success && stream->received != NULL) {
      int is_taken = sps_grpc_take(stream->received, answer);
      library.grpc_byte_buffer_destroy(stream->received);
      stream->received = NULL;
      if (is_taken && sps_grpc_stream_receive_next(stream)) return 1;
      sps_grpc_answer_free(answer);
      library.grpc_call_cancel(stream->call, NULL);
    }
  }
  if (stream->is_started) {
    library.grpc_completion_queue_pluck(
        stream->queue, stream, library.gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    stream->is_started = 0;
  }
  answer->status = stream->status;
  answer->message = sps_grpc_text(stream->details);
  return -1;
}

void sps_grpc_stream_cancel(struct sps_grpc_stream *stream) {
  library.grpc_call_cancel(stream->call, NULL);
}

void sps_grpc_stream_free(struct sps_grpc_stream *stream) {
  library.grpc_call_cancel(stream->call, NULL);
  gpr_timespec end = library.gpr_inf_future(GPR_CLOCK_MONOTONIC);
  if (stream->is_receiving)
    library.grpc_completion_queue_pluck(stream->queue, &stream->received, end, NULL);
  if (stream->is_started) library.grpc_completion_queue_pluck(stream->queue, stream, end, NULL);
  if (stream->received != NULL) library.grpc_byte_buffer_destroy(stream->received);
  library.grpc_slice_unref(stream->details);
  if (stream->has_token) library.grpc_slice_unref(stream->metadata[1].value);
  library.grpc_metadata_array_destroy(&stream->initial);
  library.grpc_metadata_array_destroy(&stream->trailing);
  library.grpc_byte_buffer_destroy(stream->sent);
  library.grpc_call_unref(stream->call);
  sps_grpc_queue_free(stream->queue);
  free(stream);
}

