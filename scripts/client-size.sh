#!/usr/bin/env bash
# Builds programs with Swift's libraries linked in and without symbols, as one installs them: one that does
# nothing, and readers of a vault. Prints their sizes and how long they take to start and read one value.
# Fails if a reader that needs only VaultBackend links Foundation, or has more than SPS_SIZE_LIMIT bytes.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")
limit=${SPS_SIZE_LIMIT:-45000000}

fail() {
  echo "client-size: $*" >&2
  [[ ! -f $work/log ]] || tail -40 "$work/log" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/Sources/{nothing,idle,reader,umbrella} "$work/home"
cat >"$work/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let vault = Target.Dependency.product(name: "VaultBackend", package: "SecurePropertyStorage")
let umbrella = Target.Dependency.product(
  name: "SecurePropertyStorage", package: "SecurePropertyStorage")
let package = Package(
  name: "size",
  dependencies: [.package(name: "SecurePropertyStorage", path: "$repository", traits: [])],
  targets: [
    .executableTarget(name: "nothing"),
    .executableTarget(name: "idle", dependencies: [vault]),
    .executableTarget(name: "reader", dependencies: [vault]),
    .executableTarget(name: "umbrella", dependencies: [umbrella]),
  ]
)
SWIFT
echo 'print("value")' >"$work/Sources/nothing/main.swift"
printf 'import VaultBackend\n\nprint("value")\n' >"$work/Sources/idle/main.swift"
for program in reader umbrella; do
  module=VaultBackend
  [[ $program == reader ]] || module=SecurePropertyStorage
  cat >"$work/Sources/$program/main.swift" <<SWIFT
import $module

struct Settings { @Vault("key") var value: String? }

let settings = Settings()
if CommandLine.arguments.count > 1 { try settings.\$value.save("value") }
print(settings.value ?? "nothing")
SWIFT
done

build=(swift build -c release --static-swift-stdlib -Xlinker -s --package-path "$work")
"${build[@]}" >"$work/log" 2>&1 || fail "the programs do not build"
bin=$("${build[@]}" --show-bin-path 2>/dev/null)
for program in reader umbrella; do
  [[ $(env -i HOME="$work/home" "$bin/$program" save) == value ]] || fail "$program does not work"
done

python3 - "$work/home" "$limit" "$bin"/{nothing,idle,reader,umbrella} <<'PYTHON'
import os, statistics, subprocess, sys, time

home, limit, programs = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
times = {program: [] for program in programs}
# In turn, so that a slow moment of the machine slows all of them.
for _ in range(300):
    for program in programs:
        start = time.perf_counter()
        subprocess.run([program], env={"HOME": home}, stdout=subprocess.DEVNULL, check=True)
        times[program].append((time.perf_counter() - start) * 1000)
titles = {
    "nothing": "prints a text, imports nothing",
    "idle": "imports VaultBackend and prints a text",
    "reader": "imports VaultBackend and reads one value",
    "umbrella": "imports SecurePropertyStorage and reads one value",
}
sizes = {program: os.path.getsize(program) for program in programs}
print("| program | size, MB | start to end, ms |\n|---|---:|---:|")
for program in programs:
    print("| %s | %.1f | %.1f |" % (
        titles[os.path.basename(program)], sizes[program] / 1e6,
        statistics.median(times[program])))
if sizes[programs[2]] > limit:
    sys.exit("client-size: the reader has more than %d bytes" % limit)
PYTHON
