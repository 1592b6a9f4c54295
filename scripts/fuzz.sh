#!/usr/bin/env bash
# Builds the fuzzer, and runs its targets for FUZZ_SECONDS each, or one of them on files.
# Usage: scripts/fuzz.sh [TARGET FILE...]
# FUZZ_KEEP=1 adds inputs that reach code no kept one does to Fuzz/Corpus, which `make test` tries too.
# Fails at the first finding; what libFuzzer made is then in Fuzz/.build/findings. Run on that file, the
# script leaves the very input, which may be a neighbour of it, in Fuzz/.build/findings/last.
set -euo pipefail
arguments=("${@:1:1}")
for file in "${@:2}"; do arguments+=("$(realpath "$file")"); done
cd "$(dirname "$0")/../Fuzz"

seconds=${FUZZ_SECONDS:-60}
# What libFuzzer is linked with when the program has a main of its own.
swift=$(dirname "$(realpath "$(command -v swiftc)")")
library=$(find "$swift/../lib/clang" -name "libclang_rt.fuzzer_no_main-$(uname -m).a" -print -quit)
if [[ -z $library ]]; then
  echo "fuzz: this Swift has no libclang_rt.fuzzer_no_main-$(uname -m).a" >&2
  exit 1
fi

# In release, where overflow and bounds are checked as they are in the product, and inputs cost a
# fraction. What reads memory is not public, so it is built as for tests.
flags=(
  -c release -Xswiftc -enable-testing -Xswiftc -sanitize=address
  -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp
  -Xlinker "$library" -Xlinker -lstdc++
)
# The linker says for every function of the sanitizer that it doesn't export it.
swift build --quiet "${flags[@]}" 2>&1 | { grep -v 'Cannot export local symbol' || true; } >&2
program=$(swift build "${flags[@]}" --show-bin-path)/fuzz

# Files in memory: no disk is waited for.
if [[ -z ${TMPDIR:-} && -d /dev/shm && -w /dev/shm ]]; then export TMPDIR=/dev/shm; fi

# Keys' pages are left to the system at exit; a crash is libFuzzer's to report.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:handle_abort=0 SWIFT_BACKTRACE=enable=no
findings=$PWD/.build/findings
mkdir -p "$findings"

if [[ ${#arguments[@]} -gt 0 ]]; then
  export FUZZ_LAST=$findings/last
  exec ../scripts/private-env.sh "$program" run "${arguments[@]}"
fi

# What finds a fault need not tell all about it: whoever runs the input again is told.
ASAN_OPTIONS+=:malloc_context_size=1:quarantine_size_mb=16
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Up to 32 of the short ones that libFuzzer kept beside the seeds, of all lengths.
keep() {
  find "$work/$1" -type f ! -name 'seed-*' -size -1025c -printf '%s %p\n' | sort -n | cut -d ' ' -f 2- |
    awk '{ all[NR] = $0 } END { n = NR < 32 ? NR : 32; for (i = 1; i <= n; i++) print all[int(i * NR / n)] }' |
    while IFS= read -r file; do printf '%s\n' "$(base64 -w 0 "$file")"; done >>"Corpus/$1.txt"
}

for target in ${FUZZ_TARGETS:-$("$program" targets)}; do
  mkdir "$work/$target"
  ../scripts/private-env.sh "$program" seeds "$target" "$work/$target"
  printf 'fuzz: %s, %d s\n' "$target" "$seconds"
  if ! ../scripts/private-env.sh "$program" run "$target" "$work/$target" \
    -max_total_time="$seconds" -reload=0 \
    -artifact_prefix="$findings/$target-" -print_final_stats=1 -verbosity=1 \
    >"$work/log" 2>&1; then
    tail -n 40 "$work/log" >&2
    exit 1
  fi
  awk '/^fuzz: .* inputs$/ { inputs = $2 } /number_of_executed_units/ { calls = $2 }
    /DONE/ { reached = $4 " counters, " $8 " kept" }
    END { print "fuzz: " inputs " inputs in " calls " calls, " reached }' "$work/log"
  [[ -z ${FUZZ_KEEP:-} ]] || keep "$target"
done
