#pragma once
#include <stddef.h>
#include <stdint.h>

/// Something that is declared: its name, and its value or its text.
struct grpc_fact {
  const char *_Nonnull name;
  uint64_t value;
  const char *_Nullable text;
};

/// What the package declares of gRPC; ends with an empty name.
const struct grpc_fact *_Nonnull grpc_facts_ours(void);
/// What gRPC's own headers declare; ends with an empty name.
const struct grpc_fact *_Nonnull grpc_facts_theirs(void);
