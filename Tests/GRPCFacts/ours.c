#include "../../Sources/CGRPC/grpc.h"

#define FACTS grpc_facts_ours
#include "facts.h"
