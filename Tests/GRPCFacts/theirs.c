#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

// A function that this package declares in another way is an error here.
#include "../../Sources/CGRPC/functions.h"
#define DECLARE(result, name, parameters) extern result name parameters;
GRPC_FUNCTIONS(DECLARE)

#define FACTS grpc_facts_theirs
#include "facts.h"
