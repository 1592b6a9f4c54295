#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

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

int sps_pq_load(char *reason, size_t room) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static int is_loaded = 0;
  pthread_mutex_lock(&one_at_a_time);
  if (!is_loaded) {
    // By its soname alone, so where the system has its libraries.
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
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

#define CALL(result, name, parameters, arguments) \
  result sps_##name parameters { return library.name arguments; }
#define CALL_VOID(name, parameters, arguments) \
  void sps_##name parameters { library.name arguments; }
PQ_FUNCTIONS(CALL, CALL_VOID)
