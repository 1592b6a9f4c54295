#!/usr/bin/env bash
# The demo of typed storage: an inventory declares its data, a report shows it, and an operator audits it and
# finds a foreign file. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
inventory=$(swift build "${flags[@]}" --show-bin-path)/Inventory
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$1"; }

step "The program stores a value for each domain and policy"
"$inventory" fill

step "The declarations, for a reviewer: plaintext is marked"
"$inventory" catalog >"$work/catalog.json"
"$inventory" report | grep -A4 -E '/(theme|safe-code|margins|contracts|last-visit)'

step "An operator audits the data with the catalog: nothing is found"
"$securestore" audit "$work/catalog.json" --html "$work/before.html" | tail -1

step "Somebody adds a file, and replaces a sealed file with a readable one: the audit names both"
documents=$XDG_DATA_HOME/org.example.inventory/Documents
printf 'a copy of the margins' >"$documents/margins-copy"
printf '{"tea": 1}' >"$documents/margins"
chmod 0600 "$documents"/*
if "$securestore" audit "$work/catalog.json" --html "$work/after.html" | sed -n '/^Findings/,$p'; then
  echo "the exit code did not report the findings" >&2
  exit 1
fi

step "The page for the reviewer: one file, no script, no value"
wc -c <"$work/before.html" | sed 's/^/  bytes: /'
if grep -qE '<script|https?://|bank-token-1b7f|signing-key-77|safe-code-4711' "$work"/*.html "$work/catalog.json"; then
  echo "the report contains a value or an active element" >&2
  exit 1
fi
if [[ -n ${AUDIT_REPORT:-} ]]; then cp "$work/before.html" "$AUDIT_REPORT"; fi
