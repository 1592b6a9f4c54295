#!/usr/bin/env bash
# Checks the unit file of the example service: that systemd takes each line, and how exposed the service is.
# systemd itself need not run.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A program is looked for; which user there is, is a matter of the machine.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$(command -v true)|" -e '/^User=/d' -e '/^Group=/d' \
  Examples/TokenService/deploy/token-service.service >"$work/token-service.service"

said=$(systemd-analyze verify --man=no "$work/token-service.service" 2>&1 | grep token-service || true)
[[ -z $said ]] || { echo "unit: $said" >&2; exit 1; }
# The original's user counts.
cp Examples/TokenService/deploy/token-service.service "$work"
level=$(systemd-analyze security --offline=true --threshold=20 --no-pager "$work/token-service.service" |
  grep 'Overall exposure level') || { echo "unit: it is exposed beyond 2.0, of 10" >&2; exit 1; }
echo "unit: $level"
