#ifndef CPROCESS_H
#define CPROCESS_H

/// Keeps the memory of the process from core dumps and from other processes of the user.
///
/// Also from the backtraces that the Swift runtime writes when a program crashes, which show the
/// memory that registers point to. In C because Swift can't call prctl(2), which is variadic.
/// What it makes is for its user alone. With `is_restorable` the limit of core files can be lifted again
/// by `process_execute`. Returns 0, or the errno of what failed.
int process_protect(int is_restorable);

/// Puts another program in the place of this one, with the umask, the limit of core files and the
/// handling of SIGPIPE that `process_protect` found.
///
/// `file` is looked for as by execvp(3). Returns an errno, and only where that failed.
int process_execute(
  const char *_Nonnull file, char *_Nullable const *_Nonnull arguments,
  char *_Nullable const *_Nonnull environment);

/// A file in memory without a name, which is closed by an exec.
///
/// memfd_create(2) is not in Glibc's module. Returns a descriptor, or the negated errno.
int process_memory_file(void);

/// Another descriptor of a file, `least` or larger, which is closed by an exec.
///
/// Swift can't call fcntl(2), which is variadic. Returns a descriptor, or the negated errno.
int process_duplicate(int descriptor, int least);

/// Lets nobody change a file in memory any more.
///
/// Returns 0, or the errno of what failed.
int process_seal(int descriptor);

/// Waits until `descriptor` is readable, with no signal blocked while it waits.
///
/// Returns 1 when it is readable, 0 when a signal was caught, or the negated errno.
int process_wait_readable(int descriptor);

/// How many bytes the process may lock in memory; ULONG_MAX is no limit.
///
/// RLIMIT_MEMLOCK is a macro that Swift does not see.
unsigned long process_lockable_bytes(void);

#endif
