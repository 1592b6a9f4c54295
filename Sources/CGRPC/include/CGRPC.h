#ifndef SPS_CGRPC_H
#define SPS_CGRPC_H

#include <stddef.h>
#include <stdint.h>

// Calls of gRPC as one function each, because the batches of operations that it takes are arrays of unions with
// pointers into each other. gRPC's library is loaded at the first use, so no program is linked with it.

#pragma clang assume_nonnull begin

typedef struct grpc_channel grpc_channel;
struct sps_grpc_stream;

/// What a call has answered. The pointers are owned; sps_grpc_answer_free() wipes and frees them.
struct sps_grpc_answer {
  int status;
  char *_Nullable message;
  uint8_t *_Nullable bytes;
  size_t count;
  /// The other end's certificate as PEM, where it was asked for and there is one.
  char *_Nullable certificate;
};

/// Loads gRPC's library, which any thread may do, any number of times. Returns 0 and the reason, a text that
/// ends with a 0, if the library or one of its functions is not there. All other functions need it.
int sps_grpc_load(char *reason, size_t room);

void sps_grpc_answer_free(struct sps_grpc_answer *answer);

/// A channel to one address; connects with its first call. NULL if the certificates are malformed.
/// With roots, over TLS; certificate and key, both or none, are those of the client. All are PEM.
grpc_channel *_Nullable sps_grpc_channel_new(
    const char *target, const char *_Nullable roots, const char *_Nullable certificate,
    const char *_Nullable key, int largest_answer);
void sps_grpc_channel_free(grpc_channel *channel);

/// Makes one call and waits for its answer on this thread.
void sps_grpc_call(
    grpc_channel *channel, const char *method, const char *_Nullable token,
    const void *_Nullable request, size_t count, int64_t nanoseconds, int wants_certificate,
    struct sps_grpc_answer *answer);

/// Begins a call that is answered by messages, with one request. NULL when there is no memory.
struct sps_grpc_stream *_Nullable sps_grpc_stream_new(
    grpc_channel *channel, const char *method, const char *_Nullable token, const void *request,
    size_t count);

/// Waits for the next message: 1 with a message, 0 if none came in time, -1 with the status when the
/// call has ended.
int sps_grpc_stream_next(
    struct sps_grpc_stream *stream, int64_t nanoseconds, struct sps_grpc_answer *answer);

/// Ends the call soon; any thread may call it until sps_grpc_stream_free().
void sps_grpc_stream_cancel(struct sps_grpc_stream *stream);

/// Ends the call, waits for that, and frees it.
void sps_grpc_stream_free(struct sps_grpc_stream *stream);

/// What an address answers to.
enum sps_probe {
  /// Nothing can be told: nobody listens, or the answer does not come or is cut off.
  SPS_PROBE_UNKNOWN,
  /// HTTP/2 with the given certificates, or without.
  SPS_PROBE_GOOD,
  /// HTTP/2 without TLS, though certificates were given.
  SPS_PROBE_CLEAR,
  /// TLS, though no certificates were given.
  SPS_PROBE_ENCRYPTED,
  /// Something that is not HTTP/2.
  SPS_PROBE_STRANGE,
  /// The other end's certificate is refused; the reason says why.
  SPS_PROBE_REFUSED,
  /// The other end refuses ours; the reason says why.
  SPS_PROBE_REFUSES,
};

/// What an address answers to, within some milliseconds and the look-up of its name. The reason gets
/// a text that ends with a 0.
int sps_probe(
    const char *host, const char *port, const char *_Nullable roots,
    const char *_Nullable certificate, const char *_Nullable key, int milliseconds, char *reason,
    size_t room);

/// From when to when the first certificate of a PEM text is good, in seconds since 1970; 0 if there is
/// none.
int sps_certificate_validity(const char *text, int64_t *begin, int64_t *end);

#pragma clang assume_nonnull end

#endif
