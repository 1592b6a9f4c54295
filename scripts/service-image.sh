#!/usr/bin/env bash
# Builds the example service with Swift's standard library linked statically, and runs it in Debian's smallest
# system with the packages that docs/server.md lists for a container, and no others. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Examples/TokenService
packages=(libssl3 libsqlite3-0)

fail() {
  echo "image: $*" >&2
  exit 1
}
[[ $(id -u) -eq 0 ]] || fail "this needs root, for debootstrap and chroot"

swift build -c release --static-swift-stdlib --package-path "$package" --product token-service
program=$(swift build -c release --static-swift-stdlib --package-path "$package" --show-bin-path)/token-service

# What it is linked with: those packages, and the C and C++ libraries that every image has.
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
echo "image: the program needs $needed"
for library in $needed; do
  case $library in
    libcrypto.so.3 | libsqlite3.so.0 | libc.so.6 | libm.so.6 | libgcc_s.so.1 | libstdc++.so.6 | ld-linux*) ;;
    *) fail "$library is in none of the packages: ${packages[*]}" ;;
  esac
done

work=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# The mirror that this machine uses.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' | awk -v name="$codename" '$2 == name { print $1; exit }')
debootstrap --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" "$codename" "$work/root" "$mirror" \
  >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; fail "debootstrap failed"; }
install -D -m 0755 "$program" "$work/root/usr/local/bin/token-service"
strip "$work/root/usr/local/bin/token-service"
install -d -m 0700 -o 10001 -g 10001 "$work/root/var/lib/token-service"
# A mounted secret, as Docker has it: readable by all, and linked as Kubernetes has it.
install -d "$work/root/run/secrets/..data"
openssl rand -base64 32 >"$work/root/run/secrets/..data/token-service-key"
chmod 0444 "$work/root/run/secrets/..data/token-service-key"
ln -s ..data/token-service-key "$work/root/run/secrets/token-service-key"

inside() {
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    exec chroot --userspec=10001:10001 "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin \
      STATE_DIRECTORY=/var/lib/token-service "$@"' - "$work/root" "$@"
}
port=$((20000 + RANDOM % 20000))
inside token-service serve --http-port "$port" >"$work/said" 2>&1 &
server=$!
for _ in $(seq 200); do
  ! curl -s -o /dev/null "http://127.0.0.1:$port/health" || break
  kill -0 "$server" 2>/dev/null || { cat "$work/said" >&2; fail "the service does not start"; }
  sleep 0.1
done
token=$(inside token-service issue alice)
[[ $(curl -s -H "Authorization: Bearer $token" "http://127.0.0.1:$port/check") == alice ]] ||
  { cat "$work/said" >&2; fail "the service does not know the token that it issued"; }
[[ ! -e $work/root/var/lib/token-service/master.key ]] || fail "the key was made and not taken from the secret"
printf 'image: the service runs with %s; the program has %d MiB, stripped (%d s)\n' \
  "${packages[*]}" $(($(stat -c %s "$work/root/usr/local/bin/token-service") >> 20)) "$SECONDS"
