// The least that AES-256-GCM costs through OpenSSL's EVP: what the library is measured against.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Two contexts, one that seals and one that opens, which keep their expanded key.
typedef struct floor_contexts floor_contexts;

// NULL when OpenSSL fails.
floor_contexts *floor_new(const uint8_t key[32]);
void floor_free(floor_contexts *contexts);

// Seals `text` `times` times over, each time under a nonce counted up. `output` gets the nonce (12
// bytes), the ciphertext and the tag (16). Returns 0, or -1 when OpenSSL fails.
int floor_seal(floor_contexts *contexts, size_t times, const uint8_t *data, int data_count,
               const uint8_t *text, int count, uint8_t *output);

// Opens what floor_seal left, `times` times over; `count` bytes of text.
int floor_open(floor_contexts *contexts, size_t times, const uint8_t *data, int data_count,
               const uint8_t *sealed, int count, uint8_t *output);

// The same, with the nonce set by a parameter, as the library does it.
int floor_open_by_parameter(floor_contexts *contexts, size_t times, const uint8_t *data,
                            int data_count, const uint8_t *sealed, int count, uint8_t *output);

// OpenSSL's version at run time.
const char *floor_library_version(void);
