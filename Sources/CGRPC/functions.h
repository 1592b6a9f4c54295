#ifndef SPS_CGRPC_FUNCTIONS_H
#define SPS_CGRPC_FUNCTIONS_H

// The functions of gRPC that this package calls: result, name and parameters. Without the types, which are those
// of grpc.h or, where a test compares the two, those of gRPC.
#define GRPC_FUNCTIONS(f)                                                                            \
  f(void, gpr_set_log_verbosity, (gpr_log_severity least))                                           \
  f(gpr_timespec, gpr_now, (gpr_clock_type clock))                                                   \
  f(gpr_timespec, gpr_time_add, (gpr_timespec a, gpr_timespec b))                                    \
  f(gpr_timespec, gpr_time_from_nanos, (int64_t count, gpr_clock_type clock))                        \
  f(gpr_timespec, gpr_inf_future, (gpr_clock_type clock))                                            \
  f(void, grpc_init, (void))                                                                         \
  f(void, grpc_shutdown, (void))                                                                     \
  f(grpc_channel_credentials *, grpc_insecure_credentials_create, (void))                            \
  f(grpc_channel_credentials *, grpc_ssl_credentials_create,                                         \
    (const char *roots, grpc_ssl_pem_key_cert_pair *pair, const verify_peer_options *options, void *reserved))      \
  f(void, grpc_channel_credentials_release, (grpc_channel_credentials * credentials))                \
  f(grpc_channel *, grpc_channel_create,                                                             \
    (const char *target, grpc_channel_credentials *credentials, const grpc_channel_args *args))      \
  f(void, grpc_channel_destroy, (grpc_channel * channel))                                            \
  f(int, grpc_byte_buffer_reader_init, (grpc_byte_buffer_reader * reader, grpc_byte_buffer * buffer)) \
  f(int, grpc_byte_buffer_reader_next, (grpc_byte_buffer_reader * reader, grpc_slice * slice))       \
  f(void, grpc_byte_buffer_reader_destroy, (grpc_byte_buffer_reader * reader))                       \
  f(size_t, grpc_byte_buffer_length, (grpc_byte_buffer * buffer))                                    \
  f(void, grpc_byte_buffer_destroy, (grpc_byte_buffer * buffer))                                     \
  f(grpc_byte_buffer *, grpc_raw_byte_buffer_create, (grpc_slice * slices, size_t count))            \
  f(void, grpc_slice_unref, (grpc_slice slice))                                                      \
  f(grpc_slice, grpc_slice_from_copied_buffer, (const char *source, size_t count))                   \
  f(grpc_slice, grpc_slice_from_copied_string, (const char *source))                                 \
  f(grpc_slice, grpc_slice_from_static_string, (const char *source))                                 \
  f(grpc_slice, grpc_empty_slice, (void))                                                            \
  f(grpc_completion_queue *, grpc_completion_queue_create_for_pluck, (void *reserved))               \
  f(grpc_event, grpc_completion_queue_pluck,                                                         \
    (grpc_completion_queue * queue, void *tag, gpr_timespec deadline, void *reserved))               \
  f(void, grpc_completion_queue_shutdown, (grpc_completion_queue * queue))                           \
  f(void, grpc_completion_queue_destroy, (grpc_completion_queue * queue))                            \
  f(grpc_call *, grpc_channel_create_call,                                                           \
    (grpc_channel * channel, grpc_call * parent, uint32_t propagated, grpc_completion_queue * queue, \
     grpc_slice method, const grpc_slice *host, gpr_timespec deadline, void *reserved))              \
  f(grpc_call_error, grpc_call_start_batch,                                                          \
    (grpc_call * call, const grpc_op *ops, size_t count, void *tag, void *reserved))                 \
  f(grpc_call_error, grpc_call_cancel, (grpc_call * call, void *reserved))                           \
  f(void, grpc_call_unref, (grpc_call * call))                                                       \
  f(void, grpc_metadata_array_init, (grpc_metadata_array * array))                                   \
  f(void, grpc_metadata_array_destroy, (grpc_metadata_array * array))                                \
  f(grpc_auth_context *, grpc_call_auth_context, (grpc_call * call))                                 \
  f(grpc_auth_property_iterator, grpc_auth_context_find_properties_by_name,                          \
    (const grpc_auth_context *context, const char *name))                                            \
  f(const grpc_auth_property *, grpc_auth_property_iterator_next, (grpc_auth_property_iterator * it)) \
  f(void, grpc_auth_context_release, (grpc_auth_context * context))

#endif
