#ifndef CPROCESS_H
#define CPROCESS_H

/// Keeps the memory of the process from core dumps and from other processes of the user.
///
/// Also from the backtraces that the Swift runtime writes when a program crashes, which show the
/// memory that registers point to. In C because Swift can't call prctl(2), which is variadic.
/// Returns 0, or the errno of what failed.
int process_protect(void);

/// Waits until `descriptor` is readable, with no signal blocked while it waits.
///
/// Returns 1 when it is readable, 0 when a signal was caught, or the negated errno.
int process_wait_readable(int descriptor);

/// How many bytes the process may lock in memory; ULONG_MAX is no limit.
///
/// RLIMIT_MEMLOCK is a macro that Swift does not see.
unsigned long process_lockable_bytes(void);

#endif
