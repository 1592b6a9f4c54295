// The entrance to libFuzzer for a program with a `main` of its own, which Swift's is.
#pragma once
#include <stddef.h>
#include <stdint.h>

// https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));
