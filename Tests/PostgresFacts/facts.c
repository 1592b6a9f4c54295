#include "CPostgresFacts.h"

#include <postgresql/libpq-fe.h>
#include <stddef.h>

#include "../../Sources/CPostgres/include/functions.h"

// What this package declares in another way than libpq is an error here.
#define SAME(result, name, parameters, arguments) extern result name parameters;
#define SAME_VOID(name, parameters, arguments) extern void name parameters;
PQ_FUNCTIONS(SAME, SAME_VOID)

#define VALUE(name, value) _Static_assert(name == value, #name);
VALUE(CONNECTION_OK, 0)
VALUE(CONNECTION_BAD, 1)
VALUE(PGRES_POLLING_FAILED, 0)
VALUE(PGRES_POLLING_READING, 1)
VALUE(PGRES_POLLING_WRITING, 2)
VALUE(PGRES_POLLING_OK, 3)
VALUE(PGRES_COMMAND_OK, 1)
VALUE(PGRES_TUPLES_OK, 2)
VALUE(PGRES_SINGLE_TUPLE, 9)
VALUE(PQERRORS_VERBOSE, 2)
VALUE(offsetof(PGnotify, extra), 2 * sizeof(char *))
VALUE(offsetof(PQconninfoOption, keyword), 0)
VALUE(offsetof(PQconninfoOption, val), 3 * sizeof(char *))
VALUE(sizeof(PQconninfoOption), 7 * sizeof(char *))

#define ONE(result, name, parameters, arguments) +1
#define ONE_VOID(name, parameters, arguments) +1
int postgres_facts_count(void) { return 0 PQ_FUNCTIONS(ONE, ONE_VOID); }
