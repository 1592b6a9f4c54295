#!/usr/bin/env bash
# Times a clean release build of three small programs that use the library, and runs them.
# A build that takes longer than its limit is a failure: SPS_CLIENT_LIMIT seconds with the module of
# @Singleton alone, and with that of @Etcd alone, SPS_CLIENT_UMBRELLA_LIMIT with the umbrella. They are for
# two cores that have nothing else to do; on a busy machine, set more.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")
declare -A limits=(
  [SingletonBackend]=${SPS_CLIENT_LIMIT:-60}
  [EtcdBackend]=${SPS_CLIENT_LIMIT:-60}
  [SecurePropertyStorage]=${SPS_CLIENT_UMBRELLA_LIMIT:-120}
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

write_client() {
  local product=$1 folder=$2
  mkdir -p "$folder/Sources/client"
  cat >"$folder/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [.package(name: "SecurePropertyStorage", path: "$repository")],
  targets: [
    .executableTarget(
      name: "client",
      dependencies: [.product(name: "$product", package: "SecurePropertyStorage")])
  ]
)
SWIFT
  if [[ $product == EtcdBackend ]]; then
    # Where etcd is, it has not been told.
    cat >"$folder/Sources/client/main.swift" <<'SWIFT'
import EtcdBackend

struct Settings {
  @Etcd("x") var x: String?
}

do {
  _ = try Settings().$x.load()
} catch {
  print(error.code == .unavailable ? "EtcdBackend works" : "\(error)")
}
SWIFT
    return
  fi
  cat >"$folder/Sources/client/main.swift" <<SWIFT
import $product

struct Settings {
  @Singleton("x") var x: String?
}

let settings = Settings()
settings.x = "$product works"
print(settings.x ?? "nothing was stored")
SWIFT
}

for product in SingletonBackend EtcdBackend SecurePropertyStorage; do
  client=$work/$product
  write_client "$product" "$client"
  start=$(date +%s%N)
  swift build --quiet -c release --package-path "$client"
  milliseconds=$((($(date +%s%N) - start) / 1000000))
  limit=${limits[$product]}
  printf 'client: %s built from clean in %d.%d s, at most %d\n' \
    "$product" $((milliseconds / 1000)) $((milliseconds % 1000 / 100)) "$limit"

  program=$(swift build -c release --package-path "$client" --show-bin-path)/client
  said=$("$repository/scripts/private-env.sh" "$program")
  if [[ $said != "$product works" ]]; then
    echo "client: the program printed: $said" >&2
    failed=1
  fi
  if ((milliseconds > limit * 1000)); then
    echo "client: that is more than $limit s; the load was $(cut -d ' ' -f 1-3 /proc/loadavg)" >&2
    failed=1
  fi
done
exit "$failed"
