// Counts allocations: the executable's malloc and its kin stand before the C library's.
#pragma once
#include <stdint.h>

// How many blocks the calling thread has asked for since it began. realloc counts as one.
uint64_t allocations_of_thread(void);
