#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

// The state at the start of the program; written once, before anything else runs.
static mode_t old_mask;
static struct rlimit old_limit;
static int was_pipe_ignored, was_size_ignored;

int process_protect(int is_restorable) {
  static const int crashes[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  struct rlimit none = {0, 0};
  for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
    struct sigaction action;
    // If the caller ignored the signal, the Swift runtime has no handler for it.
    if (sigaction(crashes[i], 0, &action) != 0) return errno;
    if (action.sa_handler != SIG_IGN && signal(crashes[i], SIG_DFL) == SIG_ERR) return errno;
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  if (getrlimit(RLIMIT_CORE, &old_limit) != 0) return errno;
  if (is_restorable) none.rlim_max = old_limit.rlim_max;
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
  struct sigaction pipe;
  if (sigaction(SIGPIPE, 0, &pipe) != 0) return errno;
  was_pipe_ignored = pipe.sa_handler == SIG_IGN;
  // A write beyond the limit for the size of a file then fails with EFBIG, and says so.
  struct sigaction size;
  if (sigaction(SIGXFSZ, 0, &size) != 0) return errno;
  was_size_ignored = size.sa_handler == SIG_IGN;
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return errno;
  old_mask = umask(077);
  return 0;
}

int process_execute(
  const char *file, char *const *arguments, char *const *environment) {
  umask(old_mask);
  if (setrlimit(RLIMIT_CORE, &old_limit) != 0) return errno;
  // GLib ignores SIGPIPE, and the other program would inherit that.
  if (!was_pipe_ignored && signal(SIGPIPE, SIG_DFL) == SIG_ERR) return errno;
  if (!was_size_ignored && signal(SIGXFSZ, SIG_DFL) == SIG_ERR) return errno;
  execvpe(file, arguments, environment);
  return errno;
}

int process_memory_file(void) {
  int descriptor = memfd_create("securestore", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return descriptor >= 0 ? descriptor : -errno;
}

int process_duplicate(int descriptor, int least) {
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, least);
  return copy >= 0 ? copy : -errno;
}

int process_seal(int descriptor) {
  int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  return fcntl(descriptor, F_ADD_SEALS, seals) == 0 ? 0 : errno;
}

int process_is_in_memory(const char *folder) {
  struct statfs system;
  // TMPFS_MAGIC and RAMFS_MAGIC of statfs(2).
  return statfs(folder, &system) == 0
    && ((unsigned)system.f_type == 0x01021994 || (unsigned)system.f_type == 0x858458f6);
}

int process_wait_readable(int descriptor) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  sigset_t none;
  sigemptyset(&none);
  // Changes the mask and starts the wait in one step, so that no signal arrives unnoticed in between.
  if (ppoll(&entry, 1, 0, &none) >= 0) return 1;
  return errno == EINTR ? 0 : -errno;
}

unsigned long process_lockable_bytes(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ULONG_MAX;
  return limit.rlim_cur;
}
