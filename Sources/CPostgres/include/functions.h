#ifndef SPS_CPOSTGRES_FUNCTIONS_H
#define SPS_CPOSTGRES_FUNCTIONS_H

// The functions of libpq that this package calls: result, name, parameters and arguments. f is for those with a
// result, g for those without.
#define PQ_FUNCTIONS(f, g)                                                                            \
  f(PGconn *, PQconnectStartParams, (const char *const *names, const char *const *values, int expand), \
    (names, values, expand))                                                                          \
  f(PostgresPollingStatusType, PQconnectPoll, (PGconn * connection), (connection))                    \
  f(ConnStatusType, PQstatus, (const PGconn *connection), (connection))                               \
  f(PQconninfoOption *, PQconninfo, (PGconn * connection), (connection))                              \
  f(PQconninfoOption *, PQconninfoParse, (const char *text, char **message), (text, message))         \
  g(PQconninfoFree, (PQconninfoOption * options), (options))                                          \
  f(char *, PQerrorMessage, (const PGconn *connection), (connection))                                 \
  f(int, PQserverVersion, (const PGconn *connection), (connection))                                   \
  f(PGVerbosity, PQsetErrorVerbosity, (PGconn * connection, PGVerbosity verbosity),                   \
    (connection, verbosity))                                                                          \
  f(PQnoticeReceiver, PQsetNoticeReceiver,                                                            \
    (PGconn * connection, PQnoticeReceiver receiver, void *context), (connection, receiver, context)) \
  f(int, PQsocket, (const PGconn *connection), (connection))                                          \
  f(int, PQsetnonblocking, (PGconn * connection, int is_on), (connection, is_on))                     \
  f(int, PQsendQueryParams,                                                                           \
    (PGconn * connection, const char *sql, int count, const Oid *types, const char *const *values,    \
     const int *lengths, const int *formats, int format),                                             \
    (connection, sql, count, types, values, lengths, formats, format))                                \
  f(int, PQsetSingleRowMode, (PGconn * connection), (connection))                                     \
  f(int, PQflush, (PGconn * connection), (connection))                                                \
  f(int, PQconsumeInput, (PGconn * connection), (connection))                                         \
  f(int, PQisBusy, (PGconn * connection), (connection))                                               \
  f(PGresult *, PQgetResult, (PGconn * connection), (connection))                                     \
  f(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                               \
  f(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))                 \
  f(int, PQntuples, (const PGresult *result), (result))                                               \
  f(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))           \
  f(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))         \
  f(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))           \
  f(PGnotify *, PQnotifies, (PGconn * connection), (connection))                                      \
  g(PQclear, (PGresult * result), (result))                                                           \
  g(PQfreemem, (void *memory), (memory))                                                              \
  g(PQfinish, (PGconn * connection), (connection))

#endif
