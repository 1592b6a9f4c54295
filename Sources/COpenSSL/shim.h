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
#include <string.h>

// Not a wrapper: what only C can do.
//
// OpenSSL's ChaCha20 keeps the key in vector registers and, by processor, on the stack, and leaves it in
// both: its AVX-512 code clears registers 0 to 15 and has the key in 16 to 31. From registers it comes into
// memory later, as when the dynamic linker saves them during the first call of some function. So after
// ChaCha20 this clears the registers and then the part of the stack that OpenSSL's functions had.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static inline void sps_clear_wide_registers(void) {
  __asm__ volatile(
      "vpxorq %%zmm16, %%zmm16, %%zmm16\n\tvpxorq %%zmm17, %%zmm17, %%zmm17\n\t"
      "vpxorq %%zmm18, %%zmm18, %%zmm18\n\tvpxorq %%zmm19, %%zmm19, %%zmm19\n\t"
      "vpxorq %%zmm20, %%zmm20, %%zmm20\n\tvpxorq %%zmm21, %%zmm21, %%zmm21\n\t"
      "vpxorq %%zmm22, %%zmm22, %%zmm22\n\tvpxorq %%zmm23, %%zmm23, %%zmm23\n\t"
      "vpxorq %%zmm24, %%zmm24, %%zmm24\n\tvpxorq %%zmm25, %%zmm25, %%zmm25\n\t"
      "vpxorq %%zmm26, %%zmm26, %%zmm26\n\tvpxorq %%zmm27, %%zmm27, %%zmm27\n\t"
      "vpxorq %%zmm28, %%zmm28, %%zmm28\n\tvpxorq %%zmm29, %%zmm29, %%zmm29\n\t"
      "vpxorq %%zmm30, %%zmm30, %%zmm30\n\tvpxorq %%zmm31, %%zmm31, %%zmm31\n\t"
      "vzeroall"
      :
      :
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",
        "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30",
        "xmm31");
}

static inline void sps_clear_registers(void) {
  if (__builtin_cpu_supports("avx512f")) return sps_clear_wide_registers();
#define SPS_CLEAR(number) "pxor %%xmm" number ", %%xmm" number "\n\t"
  __asm__ volatile(
      SPS_CLEAR("0") SPS_CLEAR("1") SPS_CLEAR("2") SPS_CLEAR("3") SPS_CLEAR("4") SPS_CLEAR("5")
      SPS_CLEAR("6") SPS_CLEAR("7") SPS_CLEAR("8") SPS_CLEAR("9") SPS_CLEAR("10") SPS_CLEAR("11")
      SPS_CLEAR("12") SPS_CLEAR("13") SPS_CLEAR("14") SPS_CLEAR("15")
      :
      :
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#undef SPS_CLEAR
}
#else
static inline void sps_clear_registers(void) {}
#endif

// Four KiB: the dynamic linker saves up to three of registers below OpenSSL's own frames. By memset(3), since
// OPENSSL_cleanse(3) takes a third of a microsecond for it.
__attribute__((noinline, unused)) static void sps_clear_after_chacha20(void) {
  unsigned char below[4096];
  sps_clear_registers();
  memset(below, 0, sizeof below);
  __asm__ volatile("" : : "r"(below) : "memory");
}
