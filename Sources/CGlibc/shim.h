// What Swift's module Glibc lacks.
#include <spawn.h>
#include <sys/xattr.h>

// unistd.h and spawn.h declare these for _GNU_SOURCE alone, which Swift's module does not set.
extern int pipe2(int descriptors[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
