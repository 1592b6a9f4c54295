#!/usr/bin/env bash
# Builds securestore in release, or installs it with its manual page and shell completions.
# Usage: scripts/install-tool.sh build | install, with PREFIX and DESTDIR in the environment, and
# SPS_PROGRAM for a program that was built elsewhere. With KEYRING=no it is built without the keyring, and
# needs no libsecret.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Tools/securestore
export SPS_TOOL=1

# Swift's own libraries are linked in, so that the program runs without the toolchain. In a folder of its own,
# since the tests' build has other flags.
build=(swift build -c release --product securestore --static-swift-stdlib --scratch-path .build-tool)
[[ ${KEYRING:-yes} != no ]] || build+=(--disable-default-traits)

case ${1:-} in
  build)
    "${build[@]}"
    program=$("${build[@]}" --show-bin-path)/securestore
    stripped=$(mktemp)
    trap 'rm -f "$stripped"' EXIT
    strip -o "$stripped" "$program"
    echo "built $program: $(($(stat -c %s "$stripped") / 1048576)) MiB when it is installed"
    ;;
  install)
    program=${SPS_PROGRAM:-$("${build[@]}" --show-bin-path)/securestore}
    # Not built here: installing is often done as root, building should not be.
    [[ -x $program ]] || { echo "install: nothing is built yet; run: make tool" >&2; exit 1; }
    root=${DESTDIR:-}${PREFIX:-/usr/local}
    completions=$(mktemp -d)
    trap 'rm -rf "$completions"' EXIT
    for shell in bash zsh fish; do
      "$program" --generate-completion-script "$shell" >"$completions/$shell"
    done
    install -D -s -m 755 "$program" "$root/bin/securestore"
    install -D -m 644 "$package/securestore.1" "$root/share/man/man1/securestore.1"
    install -D -m 644 "$completions/bash" "$root/share/bash-completion/completions/securestore"
    install -D -m 644 "$completions/zsh" "$root/share/zsh/site-functions/_securestore"
    install -D -m 644 "$completions/fish" \
      "$root/share/fish/vendor_completions.d/securestore.fish"
    echo "installed $root/bin/securestore"
    ;;
  *)
    echo "usage: $0 build | install" >&2
    exit 64
    ;;
esac
