#!/usr/bin/env bash
# Installs the Debian packages that the build and the tests need and that are missing.
# Where nothing is missing it only looks; where it cannot install, it says what to install.
# With the argument "build" it sees to what a build needs and no test; with KEYRING=no in the environment
# that is without the keyring's library. With "bench" it sees to what the benchmarks compare with as well,
# with "service" to what looks at the example service, with "docs" to the browser that looks at the documentation,
# with "daemons" to the other keyrings and a display for them.
set -euo pipefail

# Alternatives are separated by a bar; the first is the one that is installed.
build_packages=(libssl-dev libsqlite3-dev libsecret-1-dev 'pkg-config|pkgconf')
test_packages=(
  python3 python3-venv util-linux iproute2 openssl binutils tmux groff-base strace e2fsprogs
  dbus gnome-keyring libsecret-tools python3-secretstorage python3-keyring
  etcd-server etcd-client libgrpc-dev age postgresql pgbouncer libpq-dev
  # a TPM in software, and what systemd-creds loads to speak to it
  systemd swtpm 'libtss2-tcti-swtpm0|libtss2-tcti-swtpm0t64'
  'libtss2-esys-3.0.2-0|libtss2-esys-3.0.2-0t64' 'libtss2-rc0|libtss2-rc0t64' 'libtss2-mu0|libtss2-mu-4.0.1-0t64'
)

# The same needs by what they provide, for systems without dpkg.
build_libraries=(libcrypto sqlite3 libsecret-1)
test_commands=(
  python3 setpriv ip openssl tmux groff strace mkfs.ext4 dbus-daemon gnome-keyring-daemon secret-tool
  gdbus unshare readelf strip etcd etcdctl pg_config psql pgbouncer age swtpm systemd-creds
)

case ${1:-} in
  build)
    test_packages=()
    test_commands=()
    if [[ ${KEYRING:-yes} == no ]]; then
      build_packages=("${build_packages[@]/libsecret-1-dev/}")
      build_libraries=("${build_libraries[@]/libsecret-1/}")
    fi
    ;;
  service)
    test_packages+=(curl wrk debootstrap systemd)
    test_commands+=(curl wrk debootstrap systemd-analyze)
    ;;
  bench)
    build_packages+=(libsqlcipher-dev gocryptfs)
    build_libraries+=(sqlcipher)
    ;;
  daemons)
    test_packages+=(keepassxc libkf5wallet-bin libqca-qt5-2-plugins xvfb xdotool)
    test_commands+=(keepassxc keepassxc-cli kwalletd5 Xvfb xdotool)
    ;;
  docs)
    test_packages=(python3 'chromium|google-chrome-stable')
    test_commands=(python3 chromium)
    ;;
esac

swift_minimum=6.2

check_swift() {
  local version
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
  if [[ -z $version ]]; then
    echo "deps: no swift on PATH; install Swift $swift_minimum or newer: https://swift.org/install" >&2
    return 1
  fi
  if [[ $(printf '%s\n' "$swift_minimum" "$version" | sort -V | head -n 1) != "$swift_minimum" ]]; then
    echo "deps: swift is $version; Swift $swift_minimum or newer is needed: https://swift.org/install" >&2
    return 1
  fi
}

is_installed() {
  local name
  for name in ${1//|/ }; do
    # shellcheck disable=SC2016  # the format is dpkg-query's, not the shell's
    if dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed; then
      return 0
    fi
  done
  return 1
}

install_packages() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "deps: missing: $*; as root, run: apt-get install $*" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "deps: installing $*" >&2
  "${as_root[@]}" apt-get update -q || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "$@" || return 1
  # Debian starts servers on their usual ports; the tests start their own.
  local service
  for service in etcd-server:etcd postgresql:postgresql pgbouncer:pgbouncer; do
    if [[ " $* " == *" ${service%:*} "* ]] && command -v systemctl >/dev/null; then
      "${as_root[@]}" systemctl disable --now "${service#*:}" 2>/dev/null || true
    fi
  done
}

check_debian() {
  local package missing=()
  for package in "${build_packages[@]}" "${test_packages[@]}"; do
    [[ -n $package ]] || continue
    is_installed "$package" || missing+=("${package%%|*}")
  done
  [[ ${#missing[@]} -eq 0 ]] || install_packages "${missing[@]}"
}

check_elsewhere() {
  local name missing=()
  if command -v pkg-config >/dev/null; then
    for name in "${build_libraries[@]}"; do
      [[ -n $name ]] || continue
      pkg-config --exists "$name" || missing+=("$name (headers and pkg-config file)")
    done
  else
    missing+=(pkg-config)
  fi
  for name in "${test_commands[@]}"; do
    command -v "$name" >/dev/null || missing+=("$name")
  done
  [[ ${#missing[@]} -eq 0 ]] && return 0
  echo "deps: this is not a Debian; install these with your package manager:" >&2
  printf 'deps:   %s\n' "${missing[@]}" >&2
  echo "deps: on Debian they come from: ${build_packages[*]%%|*} ${test_packages[*]}" >&2
  return 1
}

failed=0
check_swift || failed=1
if command -v dpkg-query >/dev/null; then
  check_debian || failed=1
else
  check_elsewhere || failed=1
fi
exit "$failed"
