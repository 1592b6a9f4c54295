#include "floor.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

struct floor_contexts {
  EVP_CIPHER *cipher;
  EVP_CIPHER_CTX *sealing;
  EVP_CIPHER_CTX *opening;
  EVP_CIPHER_CTX *opening_by_parameter;
  uint64_t counter;
};

floor_contexts *floor_new(const uint8_t key[32]) {
  floor_contexts *contexts = calloc(1, sizeof *contexts);
  if (contexts == NULL) return NULL;
  contexts->cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
  contexts->sealing = EVP_CIPHER_CTX_new();
  contexts->opening = EVP_CIPHER_CTX_new();
  contexts->opening_by_parameter = EVP_CIPHER_CTX_new();
  uint8_t fixed[4] = {0};
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, fixed, sizeof fixed),
    OSSL_PARAM_END};
  if (contexts->cipher == NULL || contexts->sealing == NULL || contexts->opening == NULL ||
      contexts->opening_by_parameter == NULL ||
      EVP_EncryptInit_ex2(contexts->sealing, contexts->cipher, key, NULL, NULL) != 1 ||
      EVP_DecryptInit_ex2(contexts->opening, contexts->cipher, key, NULL, NULL) != 1 ||
      EVP_DecryptInit_ex2(contexts->opening_by_parameter, contexts->cipher, key, NULL, NULL) != 1 ||
      EVP_CIPHER_CTX_set_params(contexts->opening_by_parameter, parameters) != 1) {
    floor_free(contexts);
    return NULL;
  }
  return contexts;
}

void floor_free(floor_contexts *contexts) {
  EVP_CIPHER_CTX_free(contexts->sealing);
  EVP_CIPHER_CTX_free(contexts->opening);
  EVP_CIPHER_CTX_free(contexts->opening_by_parameter);
  EVP_CIPHER_free(contexts->cipher);
  free(contexts);
}

// The tag goes in and out by a parameter, as in the library: EVP_CIPHER_CTX_ctrl makes one of its
// arguments, and takes longer.
#define TAG_PARAMETERS(tag) \
  {OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, (tag), 16), OSSL_PARAM_END}

int floor_seal(floor_contexts *contexts, size_t times, const uint8_t *data, int data_count,
               const uint8_t *text, int count, uint8_t *output) {
  EVP_CIPHER_CTX *context = contexts->sealing;
  for (size_t time = 0; time < times; time++) {
    uint8_t nonce[12] = {0};
    OSSL_PARAM parameters[] = TAG_PARAMETERS(output + 12 + count);
    int written, rest;
    contexts->counter++;
    memcpy(nonce, &contexts->counter, sizeof contexts->counter);
    memcpy(output, nonce, sizeof nonce);
    if (EVP_EncryptInit_ex2(context, NULL, NULL, output, NULL) != 1 ||
        EVP_EncryptUpdate(context, NULL, &written, data, data_count) != 1 ||
        EVP_EncryptUpdate(context, output + 12, &written, text, count) != 1 ||
        EVP_EncryptFinal_ex(context, output + 12 + count, &rest) != 1 ||
        EVP_CIPHER_CTX_get_params(context, parameters) != 1)
      return -1;
  }
  return 0;
}

int floor_open(floor_contexts *contexts, size_t times, const uint8_t *data, int data_count,
               const uint8_t *sealed, int count, uint8_t *output) {
  EVP_CIPHER_CTX *context = contexts->opening;
  for (size_t time = 0; time < times; time++) {
    OSSL_PARAM parameters[] = TAG_PARAMETERS((void *)(sealed + 12 + count));
    int written, rest;
    if (EVP_DecryptInit_ex2(context, NULL, NULL, sealed, parameters) != 1 ||
        EVP_DecryptUpdate(context, NULL, &written, data, data_count) != 1 ||
        EVP_DecryptUpdate(context, output, &written, sealed + 12, count) != 1 ||
        EVP_DecryptFinal_ex(context, output + count, &rest) != 1)
      return -1;
  }
  return 0;
}

int floor_open_by_parameter(floor_contexts *contexts, size_t times, const uint8_t *data,
                            int data_count, const uint8_t *sealed, int count, uint8_t *output) {
  EVP_CIPHER_CTX *context = contexts->opening_by_parameter;
  for (size_t time = 0; time < times; time++) {
    OSSL_PARAM parameters[] = {
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, (void *)(sealed + 12 + count), 16),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, (void *)sealed, 12),
      OSSL_PARAM_END};
    int written, rest;
    if (EVP_CIPHER_CTX_set_params(context, parameters) != 1 ||
        EVP_DecryptUpdate(context, NULL, &written, data, data_count) != 1 ||
        EVP_DecryptUpdate(context, output, &written, sealed + 12, count) != 1 ||
        EVP_DecryptFinal_ex(context, output + count, &rest) != 1)
      return -1;
  }
  return 0;
}

const char *floor_library_version(void) { return OpenSSL_version(OPENSSL_VERSION); }
