#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int process_protect(void) {
  static const int crashes[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  const struct rlimit none = {0, 0};
  for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
    struct sigaction action;
    // What somebody had ignored has no handler of the Swift runtime.
    if (sigaction(crashes[i], 0, &action) != 0) return errno;
    if (action.sa_handler != SIG_IGN && signal(crashes[i], SIG_DFL) == SIG_ERR) return errno;
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
  return 0;
}

int process_wait_readable(int descriptor) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  sigset_t none;
  sigemptyset(&none);
  // The mask is changed and the wait begins in one step: no signal is caught before it, unseen.
  if (ppoll(&entry, 1, 0, &none) >= 0) return 1;
  return errno == EINTR ? 0 : -errno;
}

unsigned long process_lockable_bytes(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ULONG_MAX;
  return limit.rlim_cur;
}
