#!/usr/bin/env bash
# Looks at the documentation site in .build/docs: every link, and pages in headless Chromium.
# Builds the site first. DOCS_EVERY=1 looks at all pages of symbols, and not at every fortieth.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh docs
scripts/docs.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
scripts/docs-links.py .build/docs || failed=1
scripts/docs-browser.py --every "${DOCS_EVERY:-40}" .build/docs "$folder" || failed=1
exit "$failed"
