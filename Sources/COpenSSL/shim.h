// The part of OpenSSL that CryptoCore uses. No macro needs wrapping: the ones used are
// plain constants, which Swift imports.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
