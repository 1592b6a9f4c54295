// The part of libpq that this package calls, as libpq.so.5 declares it (libpq-fe.h, PostgreSQL License). The
// soname stands for its declarations, so nothing of PostgreSQL is needed to build. A test compares them with
// PostgreSQL's own header.
#ifndef SPS_CPOSTGRES_H
#define SPS_CPOSTGRES_H

#include <stddef.h>

#ifndef LIBPQ_FE_H
typedef unsigned int Oid;
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 } ConnStatusType;
typedef enum {
  PGRES_POLLING_FAILED = 0,
  PGRES_POLLING_READING = 1,
  PGRES_POLLING_WRITING = 2,
  PGRES_POLLING_OK = 3
} PostgresPollingStatusType;
typedef enum { PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2, PGRES_SINGLE_TUPLE = 9 } ExecStatusType;
typedef enum { PQERRORS_VERBOSE = 2 } PGVerbosity;
typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);
typedef struct pgNotify {
  char *relname;
  int be_pid;
  char *extra;
  struct pgNotify *next;
} PGnotify;
typedef struct _PQconninfoOption {
  char *keyword;
  char *envvar;
  char *compiled;
  char *val;
  char *label;
  char *dispchar;
  int dispsize;
} PQconninfoOption;
#endif

#include "functions.h"

/// Loads libpq, once for the process: 1, or 0 with the reason.
int sps_pq_load(char *reason, size_t room);

// Each function of libpq under a name of its own, so that a program may link libpq itself, too.
#define PQ_DECLARE(result, name, parameters, arguments) result sps_##name parameters;
#define PQ_DECLARE_VOID(name, parameters, arguments) void sps_##name parameters;
PQ_FUNCTIONS(PQ_DECLARE, PQ_DECLARE_VOID)

#endif
