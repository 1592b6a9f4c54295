#!/usr/bin/env bash
# Programs that use the package as its users do.
# Usage: scripts/client.sh test     Tests/Client with `traits: []`, built where libsecret's headers are hidden: a
#                                   service and its tests, programs of the umbrella and of VaultBackend alone,
#                                   securestore without its keyring, and one model over two packages
#        scripts/client.sh resolve  the dependency as README.md says it
#        scripts/client.sh time     clean release builds, each of which fails beyond its limit
#        scripts/client.sh size     how large static programs are, and how long they take to start
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")
private=("$repository/scripts/private-env.sh")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

fail() {
  echo "client: $*" >&2
  [[ ! -f $log ]] || tail -60 "$log" >&2
  exit 1
}

# Writes a package with a program that uses one product; what is said of the traits goes to the dependency.
write_package() { # FOLDER PRODUCT [TRAITS]
  mkdir -p "$1/Sources/client"
  cat >"$1/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [.package(name: "SecurePropertyStorage", path: "$repository"${3:-})],
  targets: [
    .executableTarget(
      name: "client",
      dependencies: [.product(name: "$2", package: "SecurePropertyStorage")])
  ]
)
SWIFT
}

# --- test

# Runs a command where libsecret's headers and its pkg-config files are not there: in a namespace of mounts of
# its own, so that nobody else misses them.
without_headers() {
  local namespace=(unshare --mount --propagation private) headers files
  [[ $(id -u) -eq 0 ]] || namespace=(unshare --map-root-user --mount --propagation private)
  headers=$(pkg-config --variable=includedir libsecret-1)/libsecret-1
  files=$(pkg-config --variable=pcfiledir libsecret-1)
  mkdir -p "$work/empty" "$work/pkgconfig"
  cp "$files"/*.pc "$work/pkgconfig"
  rm "$work"/pkgconfig/libsecret*.pc
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${namespace[@]}" bash -euc '
    mount --bind "$1" "$2"
    mount --bind "$3" "$4"
    ! pkg-config --exists libsecret-1
    [[ ! -e $2/libsecret/secret.h ]]
    shift 4
    "$@"' - "$work/empty" "$headers" "$work/pkgconfig" "$files" "$@"
}

# Runs a command in a home that the package does not know to be there for tests: what is written, is seen.
in_home() {
  env -u SPS_PRIVATE_ENVIRONMENT -u XDG_DATA_HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME \
    -u STATE_DIRECTORY -u CREDENTIALS_DIRECTORY HOME="$work/home" TMPDIR="$work/tmp" "$@"
}

# Builds the client and securestore, and leaves them at $client and $bin. The package is reached by a link: its
# folder may be named as that of the Apple package, which Examples/ModelLayer has beside it.
build_client() {
  client=$work/client
  linux=$work/securepropertystorage-linux
  ln -s "$repository" "$linux"
  cp -r "$repository/Tests/Client" "$client"
  sed -i "s|path: \"../..\"|path: \"$linux\"|" "$client/Package.swift"
  build=(swift build --package-path "$client")
  without_headers env SPS_TOOL=1 "${build[@]}" --build-tests >"$log" 2>&1 ||
    fail "the client does not build without libsecret"
  # The package manager looks for the pkg-config file of every system library, used or not, and says so:
  # docs/decisions/package.md. Nothing else may be said of it.
  if grep -iE 'libsecret|warning' "$log" |
    grep -vE 'you may be able to install libsecret-1|apt-get install libsecret-1-dev' >&2; then
    fail "the client is warned of the above"
  fi
  without_headers env SPS_TOOL=1 "${build[@]}" --product securestore >"$log" 2>&1 ||
    fail "securestore does not build without libsecret"
  bin=$("${build[@]}" --show-bin-path 2>/dev/null)
  if ldd "$bin"/{program,reader,securestore} | grep -E 'libsecret|libgio'; then
    fail "a program is linked with the above"
  fi
  # All of Foundation adds 45 MB to a program that is linked statically: docs/decisions/package.md.
  if ldd "$bin/reader" | grep -E 'libFoundation\.so|FoundationInternationalization|FoundationICU'; then
    fail "a program of VaultBackend alone is linked with the above"
  fi
}

# What the tests of a service leave and say: storages of their own, real data, a strict test.
check_tests() {
  run_tests() {
    in_home swift test --skip-build --package-path "$client" --cache-path "$work/cache" \
      --filter "$1" >"$log" 2>&1
  }
  data() { find "$work/home" \( -name '*.vault' -o -name '*.secure.plist' -o -name 'master.key' \); }
  mkdir "$work/home" "$work/tmp"
  for suite in InMemory InAFolder CaseTests; do
    run_tests "ServiceTests.$suite" || fail "the tests of $suite fail"
    [[ -z $(data) ]] || fail "$suite wrote into the home folder: $(data)"
    [[ -z $(find "$work/tmp" -name 'SecurePropertyStorage-*') ]] || fail "$suite left a folder"
    ! grep -q 'use the real data' "$log" || fail "$suite is said to use real data"
  done
  run_tests ServiceTests.Real || fail "the test without a trait fails"
  [[ $(grep -c 'these tests use the real data of' "$log") -eq 1 ]] || fail "real data is used unsaid"
  if run_tests ServiceTests.Strict; then fail "a strict test passes without its registration"; fi
  grep -q 'Test run with 2 tests' "$log" || fail "a forgotten registration ends the process"
}

# What a service says: errors that repeat, a schema that changed, a late bootstrap.
check_service() {
  rm -rf "$work/home/.local" "$work/home/.config"
  in_home "$bin/program" store
  in_home "$bin/program" schema >"$log"
  grep -q 'the key "contact.email" is missing' "$log" || fail "a missing key is not named"
  ! grep -q 'a-secret-value' "$log" || fail "a value is said"
  openssl rand -base64 32 >"$work/home/.local/share/program/master.key"
  in_home "$bin/program" read 2>"$log"
  [[ $(wc -l <"$log") -eq 2 ]] || fail "60,000 reads with a wrong key are $(wc -l <"$log") lines"
  grep -q '59999 more times' "$log" || fail "nobody counted the reads with a wrong key"
  if in_home "$bin/program" bootstrap 2>"$log"; then fail "a late bootstrap goes on"; fi
  grep -q 'the property "theme" at Service/Settings.swift:' "$log" ||
    fail "a late bootstrap does not say what came before it"
}

# Programs without libsecret, and what is said of objects of Foundation where StorageFoundation is not linked.
check_programs() {
  for program in program reader; do
    [[ $("${private[@]}" "$bin/$program") == "it works" ]] || fail "$program does not work"
  done
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${private[@]}" bash -euc '
    "$0" -q init --app com.example.tool
    echo x | "$0" -q set A --app com.example.tool
    [[ $("$0" get A --app com.example.tool) == x ]]
    "$0" doctor --app com.example.tool | grep -q "built without the keyring"
    code=0
    "$0" init --vault "$HOME/b.vault" --key keyring:x 2>"$HOME/said" || code=$?
    [[ $code == 18 && ! -e $HOME/b.vault ]]
    grep -q "built without the keyring" "$HOME/said"' "$bin/securestore" ||
    fail "securestore without the keyring does not do its work"
  # The name of the program names the vault.
  mkdir "$work/umbrella" "$work/alone"
  cp "$bin/objects" "$work/umbrella/client"
  cp "$bin/alone" "$work/alone/client"
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${private[@]}" bash -euc '
    refused=$(printf "%s unsupported true\n" object list)
    [[ $("$1") == "$refused" ]] || { echo "without StorageFoundation, objects are stored" >&2; exit 1; }
    said=$("$0")
    [[ $said == "$(printf "%s true\n" object list)" ]] || { echo "with it: $said" >&2; exit 1; }
    said=$("$1" read)
    [[ $said == "$(printf "object unsupported true\nlist true")" ]] ||
      { echo "without StorageFoundation, objects are read: $said" >&2; exit 1; }' \
    "$work/umbrella/client" "$work/alone/client" || fail "objects of Foundation are not stored as they should be"
}

# Comes last: SwiftPM takes what is left of a build that failed for that of another package in its folder.
check_refusal() {
  echo 'let keychain = KeychainStorage.self' >>"$client/Sources/program/main.swift"
  if "${build[@]}" --product program >"$log" 2>&1; then fail "without the trait, there is a KeychainStorage"; fi
  grep -q "cannot find 'KeychainStorage' in scope" "$log" || fail "the client fails for another reason"
}

# Examples/ModelLayer stores with the Apple package on Apple's platforms and with this one on Linux. The side of
# Apple's platforms is compiled, too, over a stand-in for the Apple package.
check_model() {
  # As a user has it: the Apple package under its own name, and this one in a folder of another name.
  cp -r "$repository/Examples/ModelLayer" "$work/ModelLayer"
  mv "$work/ModelLayer/AppleStandIn/SecurePropertyStorage" "$work/SecurePropertyStorage"
  sed -i -e "s|path: \"../..\"|path: \"$linux\"|" \
    -e 's|path: "AppleStandIn/SecurePropertyStorage"|path: "../SecurePropertyStorage"|' \
    "$work/ModelLayer/Package.swift"
  # Compiling any of it on Linux is an error.
  for file in "$work"/SecurePropertyStorage/Sources/*/*.swift; do
    printf '#if os(Linux)\n  #error("this is compiled on Linux")\n#endif\n' >>"$file"
  done
  # In the client's folder, which holds the package as it is built for both.
  local model=(--package-path "$work/ModelLayer" --scratch-path "$client/.build")
  swift build --build-tests "${model[@]}" >"$log" 2>&1 || fail "the model does not build on Linux"
  "${private[@]}" swift test --skip-build --disable-xctest "${model[@]}" >"$log" 2>&1 ||
    fail "the tests of the model fail"
  grep -q 'Test run with 3 tests' "$log" || fail "the tests of the model did not run"
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${private[@]}" bash -euc '
    [[ $("$0") == "signed out, started 1 times" ]]
    [[ $(echo rt-5f1c8e | "$0" sign-in) == "Ada, plan team, started 2 times" ]]
    [[ $("$0") == "Ada, plan team, started 3 times" ]]
    ! grep -rq rt-5f1c8e "$HOME"
    [[ $("$0" sign-out) == "signed out, started 4 times" ]]' "$bin/Server" ||
    fail "the server does not do its work"

  # The other side: the same sources, with the platforms changed places.
  mkdir "$work/apple"
  cp -r "$repository/Examples/ModelLayer/." "$work/apple"
  sed -i 's/\[\.macOS, /[.linux, /; s/platforms: \[\.linux\])/platforms: [.windows])/' "$work/apple/Package.swift"
  sed -i "s|path: \"../..\"|path: \"$linux\"|" "$work/apple/Package.swift"
  sed -i 's/os(Linux)/os(Windows)/' "$work"/apple/Sources/*/*.swift "$work"/apple/Tests/*/*.swift
  swift build --package-path "$work/apple" >"$log" 2>&1 ||
    fail "the model does not build over the stand-in for the Apple package"
  apple=$(swift build --package-path "$work/apple" --show-bin-path 2>/dev/null)/Server
  [[ $(echo token | "$apple" sign-in) == "Ada, plan team, started 1 times" ]] ||
    fail "the model does not work over the stand-in for the Apple package"

  # What the guide says of two packages with one identity.
  ln -s "$repository" "$work/apple/SecurePropertyStorage"
  sed -i "s|path: \"$linux\"|path: \"SecurePropertyStorage\"|" "$work/apple/Package.swift"
  sed -i 's/, traits: \[\])/)/' "$work/apple/Package.swift"
  if swift build --package-path "$work/apple" >"$log" 2>&1; then
    fail "two packages of one identity are resolved"
  fi
  grep -qi 'conflicting identity for securepropertystorage' "$log" ||
    fail "two packages of one identity are refused in other words"
}

# --- resolve

# Against a copy of what is committed here: a version that has no tag, or a branch that is not there, is what the
# first user would meet.
resolve() {
  # The tags as they are, and this commit as the main branch, whatever it is called here.
  git clone --quiet --bare "$repository" "$work/SecurePropertyStorage"
  git -C "$work/SecurePropertyStorage" update-ref refs/heads/main "$(git -C "$repository" rev-parse HEAD)"
  line=$(grep -oP '^\.package\(url: .*\)(?= )' "$repository/README.md" | head -1)
  [[ $line == *'"<the URL of this repository>"'* ]] ||
    fail "README.md has no line .package(url: \"<the URL of this repository>\", ...)"
  line=${line/<the URL of this repository>/file:\/\/$work\/SecurePropertyStorage}
  write_package "$work/client" SecurePropertyStorage
  sed -i "s|^  dependencies: .*|  dependencies: [$line],|" "$work/client/Package.swift"
  echo 'print("it resolves")' >"$work/client/Sources/client/main.swift"
  # A cache of its own: SwiftPM keeps repositories by their address.
  swift package --package-path "$work/client" --cache-path "$work/cache" resolve >"$log" 2>&1 ||
    fail "the dependency of README.md does not resolve: $line"
  echo "client: the dependency of README.md resolves"
}

# --- time

# A build that takes longer than its limit is a failure: SPS_CLIENT_LIMIT seconds with one backend,
# SPS_CLIENT_UMBRELLA_LIMIT with the umbrella. They are for two cores that have nothing else to do.
measure_time() {
  local product=$1 traits=$2 limit=$3 start milliseconds packages program
  rm -rf "$work/client"
  write_package "$work/client" "$product" "$traits"
  printf 'import %s\n\nprint("it works")\n' "$product" >"$work/client/Sources/client/main.swift"
  start=$(date +%s%N)
  swift build --quiet -c release --package-path "$work/client" >"$log" 2>&1 || fail "$product does not build"
  milliseconds=$((($(date +%s%N) - start) / 1000000))
  packages=$(grep -c '"identity"' "$work/client/Package.resolved" 2>/dev/null || true)
  [[ $traits == *\"* || -z $packages ]] || fail "$product resolves $packages packages without a trait"
  [[ $traits != *\"* || -n $packages ]] || fail "$product resolves nothing with its trait"
  program=$(swift build -c release --package-path "$work/client" --show-bin-path 2>/dev/null)/client
  [[ $("${private[@]}" "$program") == "it works" ]] || fail "a program of $product does not work"
  printf 'client: %-22s%-28s %2d packages, built from clean in %3d.%d s, at most %d\n' "$product" "$traits" \
    "$((packages))" $((milliseconds / 1000)) $((milliseconds % 1000 / 100)) "$limit"
  ((milliseconds <= limit * 1000)) ||
    fail "that is more than $limit s; the load was $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

# --- size

# Fails if a reader that needs only VaultBackend links Foundation, or has more than SPS_SIZE_LIMIT bytes.
measure_size() {
  mkdir -p "$work"/size/Sources/{nothing,idle,reader,umbrella} "$work/home"
  cat >"$work/size/Package.swift" <<SWIFT
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
  echo 'print("value")' >"$work/size/Sources/nothing/main.swift"
  printf 'import VaultBackend\n\nprint("value")\n' >"$work/size/Sources/idle/main.swift"
  for program in reader umbrella; do
    module=VaultBackend
    [[ $program == reader ]] || module=SecurePropertyStorage
    cat >"$work/size/Sources/$program/main.swift" <<SWIFT
import $module

struct Settings { @Vault("key") var value: String? }

let settings = Settings()
if CommandLine.arguments.count > 1 { try settings.\$value.save("value") }
print(settings.value ?? "nothing")
SWIFT
  done

  build=(swift build -c release --static-swift-stdlib -Xlinker -s --package-path "$work/size")
  "${build[@]}" >"$log" 2>&1 || fail "the programs do not build"
  bin=$("${build[@]}" --show-bin-path 2>/dev/null)
  for program in reader umbrella; do
    [[ $(env -i HOME="$work/home" "$bin/$program" save) == value ]] || fail "$program does not work"
  done

  python3 - "$work/home" "${SPS_SIZE_LIMIT:-45000000}" "$bin"/{nothing,idle,reader,umbrella} <<'PYTHON'
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
    sys.exit("client: the reader has more than %d bytes" % limit)
PYTHON
}

case ${1:-} in
  test)
    build_client
    check_tests
    check_service
    check_programs
    check_model
    check_refusal
    echo "client: what users build without libsecret, and their tests, are as they should be ($SECONDS s)"
    ;;
  resolve) resolve ;;
  time)
    measure_time SingletonBackend "" "${SPS_CLIENT_LIMIT:-60}"
    measure_time VaultBackend "" "${SPS_CLIENT_LIMIT:-60}"
    measure_time EtcdBackend "" "${SPS_CLIENT_LIMIT:-60}"
    measure_time SecurePropertyStorage "" "${SPS_CLIENT_UMBRELLA_LIMIT:-120}"
    measure_time SecureConfiguration ', traits: ["Configuration"]' "${SPS_CLIENT_UMBRELLA_LIMIT:-120}"
    measure_time SecureService ', traits: ["Server"]' "${SPS_CLIENT_UMBRELLA_LIMIT:-120}"
    ;;
  size) measure_size ;;
  *)
    echo "usage: $0 test | resolve | time | size" >&2
    exit 64
    ;;
esac
