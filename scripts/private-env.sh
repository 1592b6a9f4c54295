#!/usr/bin/env bash
# Runs a command with a home, XDG folders and a session of its own, and passes on its exit code.
# Usage: scripts/private-env.sh COMMAND [ARGUMENT...]
# With SPS_CHECK_LEFTOVERS=1 it fails when the command leaves something in the temporary folder.
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: $0 COMMAND [ARGUMENT...]" >&2; exit 64; }

root=$(mktemp -d "${TMPDIR:-/tmp}/sps.XXXXXX")
trap 'rm -rf "$root" || true' EXIT
mkdir -m 0700 "$root"/{home,config,data,state,cache,runtime}
# What is left here goes with the rest; some tests run a program as another user, who has to get here.
mkdir -m 1777 "$root/tmp"
chmod 0711 "$root"
export TMPDIR=$root/tmp

# git, which SwiftPM calls, keeps the user's own settings.
if [[ -z ${GIT_CONFIG_GLOBAL:-} && -f ${HOME:-}/.gitconfig ]]; then
  export GIT_CONFIG_GLOBAL=$HOME/.gitconfig
fi

# Foundation asks the user database for the home and not HOME, unless CFFIXED_USER_HOME is set.
export HOME=$root/home CFFIXED_USER_HOME=$root/home
export XDG_CONFIG_HOME=$root/config XDG_DATA_HOME=$root/data XDG_STATE_HOME=$root/state
export XDG_CACHE_HOME=$root/cache XDG_RUNTIME_DIR=$root/runtime
# Tests of the standard folders run only where these are not the user's own.
export SPS_PRIVATE_ENVIRONMENT=1
# ldconfig and pgbouncer are in a folder that only root's PATH names.
export PATH=$PATH:/usr/sbin
# secret-tool takes its arguments for text of the locale, which may be ASCII.
export LC_ALL=C.UTF-8
# The Makefile sets it for SwiftPM; what is tested hashes as it does for its users.
unset SWIFT_DETERMINISTIC_HASHING
unset DBUS_SESSION_BUS_ADDRESS CREDENTIALS_DIRECTORY STATE_DIRECTORY CONFIGURATION_DIRECTORY

code=0
"$@" || code=$?

# Tests leave nothing in the temporary folder; SwiftPM and Thread Sanitizer leave their own there.
if [[ -n ${SPS_CHECK_LEFTOVERS:-} ]]; then
  left=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name 'TemporaryDirectory.*' ! -name '*.lock' ! -name 'tsan.rodata.*' \
    -printf '%f\n' | sort)
  if [[ -n $left ]]; then
    echo "private-env: left in the temporary folder:" >&2
    while IFS= read -r name; do
      find "$TMPDIR/$name" -maxdepth 2 -printf '  %P\n' | sed "1s|.*|  $name|" | head -6 >&2
    done <<<"$left"
    ((code != 0)) || code=1
  fi
fi
exit "$code"
