#!/usr/bin/env bash
# Looks at what scripts/deps.sh would install, on a Debian that has nothing yet: for `make tool` what a build
# needs, and no test's package; with KEYRING=no no libsecret.
set -euo pipefail

repository=$(realpath "$(dirname "$0")/../../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "deps: $*" >&2
  exit 1
}

# Programs that stand for those of a Debian: nothing is installed, and what would be is written down.
mkdir "$work/bin"
cat >"$work/bin/dpkg-query" <<'SH'
#!/bin/sh
exit 1
SH
cat >"$work/bin/apt-get" <<SH
#!/bin/sh
case \$1 in
  update) ;;
  *) for word; do case \$word in -*|install) ;; *) echo "\$word" ;; esac; done >>"$work/installed" ;;
esac
SH
cat >"$work/bin/sudo" <<'SH'
#!/bin/sh
exec "$@"
SH
cat >"$work/bin/swift" <<'SH'
#!/bin/sh
echo "Swift version 6.3.1"
SH
chmod 755 "$work"/bin/*

installed() {
  rm -f "$work/installed"
  env PATH="$work/bin:$PATH" "$@" 2>/dev/null
  LC_ALL=C sort "$work/installed" | paste -sd ' '
}

found=$(installed "$repository/scripts/deps.sh" build)
[[ $found == "libsecret-1-dev libsqlite3-dev libssl-dev pkg-config" ]] ||
  fail "for a build it installs: $found"
found=$(installed env KEYRING=no "$repository/scripts/deps.sh" build)
[[ $found == "libsqlite3-dev libssl-dev pkg-config" ]] ||
  fail "for a build without the keyring it installs: $found"
found=$(installed "$repository/scripts/deps.sh")
[[ $found == *gnome-keyring*libssl-dev*tmux* ]] || fail "for the tests it installs: $found"

# What make runs is that.
said=$(env -u MAKEFLAGS make -n -C "$repository" tool)
[[ $said == *"scripts/deps.sh build"* ]] || fail "make tool runs: $said"
if grep -E 'scripts/deps.sh *$' <<<"$said"; then fail "make tool installs what tests need"; fi
said=$(env -u MAKEFLAGS make -n -C "$repository" tool KEYRING=no)
[[ $said == *'KEYRING="no" scripts/install-tool.sh build'* ]] || fail "make tool KEYRING=no runs: $said"

echo "deps: a build of the tool installs what a build needs"
