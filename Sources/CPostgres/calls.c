#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIBRARY "libpq.so.5"

// The library's functions, which are there once sps_pq_load() has said so.
#define FIELD(result, name, parameters, arguments) result(*name) parameters;
#define FIELD_VOID(name, parameters, arguments) void(*name) parameters;
static struct {
  PQ_FUNCTIONS(FIELD, FIELD_VOID)
} library;

static int find_functions(void *handle) {
#define FIND_VOID(name, parameters, arguments) \
  if ((*(void **)&library.name = dlsym(handle, #name)) == NULL) return 0;
#define FIND(result, name, parameters, arguments) FIND_VOID(name, parameters, arguments)
  PQ_FUNCTIONS(FIND, FIND_VOID)
  return 1;
}

// A thread may be in libpq when the program ends. OpenSSL then frees what libpq uses, so from that moment on no call
// begins, and those that have begun get some time.
static pthread_rwlock_t calls = PTHREAD_RWLOCK_INITIALIZER;

static void end_calls(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 1;
  pthread_rwlock_timedwrlock(&calls, &end);
}

// Handlers run in the opposite order of their registration, so OpenSSL's must be there first.
static void guard_exit(void *handle) {
  int (*initialize)(uint64_t, const void *) =
      (int (*)(uint64_t, const void *))dlsym(handle, "OPENSSL_init_crypto");
  // OPENSSL_INIT_LOAD_CRYPTO_STRINGS: without an option it registers nothing.
  if (initialize != NULL) initialize(2, NULL);
  atexit(end_calls);
}

int sps_pq_load(char *reason, size_t room) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static int is_loaded = 0;
  pthread_mutex_lock(&one_at_a_time);
  if (!is_loaded) {
    // By its soname alone, so where the system has its libraries.
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_loaded = handle != NULL && find_functions(handle);
    if (is_loaded) {
      guard_exit(handle);
    } else {
      snprintf(reason, room, "%s", dlerror());
      if (handle != NULL) dlclose(handle);
    }
  }
  int result = is_loaded;
  pthread_mutex_unlock(&one_at_a_time);
  return result;
}

#define CALL(result, name, parameters, arguments) \
  result sps_##name parameters {                  \
    pthread_rwlock_rdlock(&calls);                \
    result answer = library.name arguments;       \
    pthread_rwlock_unlock(&calls);                \
    return answer;                                \
  }
#define CALL_VOID(name, parameters, arguments) \
  void sps_##name parameters {                 \
    pthread_rwlock_rdlock(&calls);             \
    library.name arguments;                    \
    pthread_rwlock_unlock(&calls);             \
  }
PQ_FUNCTIONS(CALL, CALL_VOID)
