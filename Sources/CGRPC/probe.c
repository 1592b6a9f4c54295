#include "CGRPC.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// gRPC tells a call nothing of why a connection can't be made: the call ends with its deadline. This
// makes the same handshake once more, and says what the other end is.

static int sps_probe_left(int64_t end) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t left = end - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
  return left < 0 ? 0 : (int)left;
}

static int sps_probe_wait(int socket, short events, int64_t end) {
  struct pollfd waited = {.fd = socket, .events = events};
  int result;
  do result = poll(&waited, 1, sps_probe_left(end));
  while (result < 0 && errno == EINTR);
  return result > 0;
}

/// A connection to an address; -1 if there is none in time.
static int sps_probe_connect(const char *host, const char *port, int64_t end) {
  struct addrinfo hints, *all = NULL;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host, port, &hints, &all) != 0) return -1;
  int found = -1;
  for (struct addrinfo *one = all; one != NULL && found < 0; one = one->ai_next) {
    int made = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    if (connect(made, one->ai_addr, one->ai_addrlen) == 0 ||
        (errno == EINPROGRESS && sps_probe_wait(made, POLLOUT, end) &&
         getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0))
      found = made;
    else
      close(made);
  }
  freeaddrinfo(all);
  return found;
}

/// What an end says first of all: its settings, in HTTP/2. -1 when nothing is said.
static int sps_probe_is_settings(const uint8_t *bytes, ssize_t count) {
  if (count >= 4 && bytes[0] == 0 && bytes[3] == 4) return SPS_PROBE_GOOD;
  return count >= 4 ? SPS_PROBE_STRANGE : SPS_PROBE_UNKNOWN;
}

static const char sps_probe_greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";

/// What an address answers without TLS.
static int sps_probe_clear(const char *host, const char *port, int64_t end) {
  int socket = sps_probe_connect(host, port, end);
  if (socket < 0) return SPS_PROBE_UNKNOWN;
  uint8_t bytes[64];
  ssize_t count = -1;
  // With the 0 that ends the text, the greeting is complete.
  if (send(socket, sps_probe_greeting, sizeof sps_probe_greeting, MSG_NOSIGNAL) > 0 &&
      sps_probe_wait(socket, POLLIN, end))
    count = recv(socket, bytes, sizeof bytes, 0);
  close(socket);
  return sps_probe_is_settings(bytes, count);
}

static int sps_probe_again(SSL *ssl, int socket, int result, int64_t end) {
  switch (SSL_get_error(ssl, result)) {
  case SSL_ERROR_WANT_READ: return sps_probe_wait(socket, POLLIN, end);
  case SSL_ERROR_WANT_WRITE: return sps_probe_wait(socket, POLLOUT, end);
  default: return 0;
  }
}

/// What the failure of a handshake means.
static int sps_probe_failure(SSL *ssl, char *reason, size_t room) {
  long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) {
    snprintf(reason, room, "%s", X509_verify_cert_error_string(verdict));
    return SPS_PROBE_REFUSED;
  }
  unsigned long error = ERR_peek_error();
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return SPS_PROBE_UNKNOWN;
  int code = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;
  int is_of_certificates = (code >= SSL_AD_BAD_CERTIFICATE && code <= SSL_AD_CERTIFICATE_UNKNOWN) ||
                           code == SSL_AD_UNKNOWN_CA || code == SSL_AD_ACCESS_DENIED ||
                           code == SSL_AD_CERTIFICATE_REQUIRED;
  if (!is_of_certificates) return SPS_PROBE_UNKNOWN;
  const char *text = ERR_reason_error_string(error);
  snprintf(reason, room, "%s", text == NULL ? "no reason" : text);
  return SPS_PROBE_REFUSES;
}

static void sps_probe_trust(SSL_CTX *context, const char *roots) {
  BIO *source = BIO_new_mem_buf(roots, -1);
  X509 *one;
  while (source != NULL && (one = PEM_read_bio_X509(source, NULL, NULL, NULL)) != NULL) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one);
    X509_free(one);
  }
  BIO_free(source);
}

static void sps_probe_show(
    SSL_CTX *context, const char *certificate, const char *key) {
  BIO *source = BIO_new_mem_buf(certificate, -1);
  X509 *one = source == NULL ? NULL : PEM_read_bio_X509(source, NULL, NULL, NULL);
  if (one != NULL) SSL_CTX_use_certificate(context, one);
  X509_free(one);
  while (source != NULL && (one = PEM_read_bio_X509(source, NULL, NULL, NULL)) != NULL)
    if (SSL_CTX_add0_chain_cert(context, one) != 1) X509_free(one);
  BIO_free(source);
  source = BIO_new_mem_buf(key, -1);
  EVP_PKEY *secret = source == NULL ? NULL : PEM_read_bio_PrivateKey(source, NULL, NULL, NULL);
  if (secret != NULL) SSL_CTX_use_PrivateKey(context, secret);
  EVP_PKEY_free(secret);
  BIO_free(source);
}

/// What an address answers over TLS. Without roots, whether it speaks TLS at all.
static int sps_probe_encrypted(
    const char *host, const char *port, const char *roots,
    const char *certificate, const char *key, int64_t end,
    char *reason, size_t room) {
  int socket = sps_probe_connect(host, port, end);
  SSL_CTX *context = socket < 0 ? NULL : SSL_CTX_new(TLS_client_method());
  SSL *ssl = NULL;
  int result = SPS_PROBE_UNKNOWN;
  if (context != NULL) {
    if (roots != NULL) sps_probe_trust(context, roots);
    if (certificate != NULL && key != NULL) sps_probe_show(context, certificate, key);
    SSL_CTX_set_verify(context, roots == NULL ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    ssl = SSL_new(context);
  }
  ERR_clear_error();
  if (ssl != NULL && SSL_set_fd(ssl, socket) == 1) {
    SSL_set_alpn_protos(ssl, (const unsigned char *)"\2h2", 3);
    // A number is compared with the addresses of the certificate, a name with its names.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1) {
      SSL_set1_host(ssl, host);
      SSL_set_tlsext_host_name(ssl, host);
    }
    ERR_clear_error();
    int done;
    while ((done = SSL_connect(ssl)) != 1 && sps_probe_again(ssl, socket, done, end)) continue;
    uint8_t bytes[64];
    int count = -1;
    if (done == 1) {
      do count = SSL_write(ssl, sps_probe_greeting, sizeof sps_probe_greeting);
      while (count <= 0 && sps_probe_again(ssl, socket, count, end));
      // Also where it can't be sent: what the other end said before it closed is there to be read.
      ERR_clear_error();
      do count = SSL_read(ssl, bytes, sizeof bytes);
      while (count <= 0 && sps_probe_again(ssl, socket, count, end));
    }
    // In TLS 1.3 the other end refuses our certificate after our part of the handshake.
    result = count > 0 ? sps_probe_is_settings(bytes, count) : sps_probe_failure(ssl, reason, room);
    if (roots == NULL && (done == 1 || result == SPS_PROBE_REFUSES)) result = SPS_PROBE_GOOD;
  }
  ERR_clear_error();
  SSL_free(ssl);
  SSL_CTX_free(context);
  if (socket >= 0) close(socket);
  return result;
}

static int sps_probe_both(
    const char *host, const char *port, const char *roots,
    const char *certificate, const char *key, int64_t end,
    char *reason, size_t room) {
  if (roots != NULL) {
    int result = sps_probe_encrypted(host, port, roots, certificate, key, end, reason, room);
    if (result != SPS_PROBE_UNKNOWN) return result;
    result = sps_probe_clear(host, port, end);
    return result == SPS_PROBE_GOOD ? SPS_PROBE_CLEAR : result;
  }
  int result = sps_probe_clear(host, port, end);
  if (result == SPS_PROBE_GOOD) return result;
  int other = sps_probe_encrypted(host, port, NULL, NULL, NULL, end, reason, room);
  return other == SPS_PROBE_GOOD ? SPS_PROBE_ENCRYPTED : result;
}

int sps_probe(
    const char *host, const char *port, const char *roots,
    const char *certificate, const char *key, int milliseconds,
    char *reason, size_t room) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t end = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
  // OpenSSL writes to a socket without a word about the signal.
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  int result = sps_probe_both(host, port, roots, certificate, key, end, reason, room);
  struct timespec none = {0, 0};
  if (!sigismember(&before, SIGPIPE)) sigtimedwait(&broken, NULL, &none);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return result;
}

int sps_certificate_validity(
    const char *text, int64_t *begin, int64_t *end) {
  BIO *source = BIO_new_mem_buf(text, -1);
  X509 *certificate = source == NULL ? NULL : PEM_read_bio_X509(source, NULL, NULL, NULL);
  struct tm first, last;
  memset(&first, 0, sizeof first);
  memset(&last, 0, sizeof last);
  int is_read = certificate != NULL &&
                ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &first) == 1 &&
                ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &last) == 1;
  if (certificate == NULL) ERR_clear_error();
  X509_free(certificate);
  BIO_free(source);
  if (is_read) {
    *begin = (int64_t)timegm(&first);
    *end = (int64_t)timegm(&last);
  }
  return is_read;
}

