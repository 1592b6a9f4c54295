#ifndef CPROCESS_H
#define CPROCESS_H

/// Protects the memory of the process from core dumps and from other processes of the user.
///
/// Also disables the backtraces that the Swift runtime writes after a crash, which show the memory that
/// registers point to. In C, because Swift can't call prctl(2), which is variadic. Sets the umask so that
/// new files are for this user alone. With `is_restorable`, `process_execute` can restore the limit of core
/// files. Ignores SIGXFSZ, so that a write beyond the limit for the size of a file fails with EFBIG. Returns 0,
/// or an errno.
int process_protect(int is_restorable);

/// Replaces this program with another one, with the umask, the limit of core files and the handling of
/// SIGPIPE and SIGXFSZ that `process_protect` found.
///
/// `file` is searched as by execvp(3). Returns only on failure, with an errno.
int process_execute(
  const char *_Nonnull file, char *_Nullable const *_Nonnull arguments,
  char *_Nullable const *_Nonnull environment);

/// Creates a file in memory without a name; an exec closes its descriptor.
///
/// memfd_create(2) is not in Glibc's module. Returns a descriptor, or the negated errno.
int process_memory_file(void);

/// Duplicates a descriptor to a number of at least `least`; an exec closes the new descriptor.
///
/// Swift can't call fcntl(2), which is variadic. Returns a descriptor, or the negated errno.
int process_duplicate(int descriptor, int least);

/// Seals a file in memory, so that nobody can change it any more.
///
/// Returns 0, or an errno.
int process_seal(int descriptor);

/// Whether a folder is on a file system that keeps its files in memory, and that exists.
///
/// statfs(2) is not in Glibc's module. Returns 1 or 0.
int process_is_in_memory(const char *_Nonnull folder);

/// Waits until `descriptor` is readable; no signal is blocked during the wait.
///
/// Returns 1 if it is readable, 0 if a signal was caught, or the negated errno.
int process_wait_readable(int descriptor);

/// The number of bytes that the process may lock in memory; ULONG_MAX means no limit.
///
/// RLIMIT_MEMLOCK is a macro that Swift does not see.
unsigned long process_lockable_bytes(void);

#endif
