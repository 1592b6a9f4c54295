#!/usr/bin/env bash
# Builds the documentation of all library modules and the guides as one static site, .build/docs.
# A warning is an error: a broken link, a parameter that is not there. Modules whose trait is off are left
# out; DOCS_TRAITS=Keyring,... builds with those traits, in a folder of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(dirname "$(realpath "$(command -v swift)")")
docc=$tools/docc
[[ -x $docc ]] || { echo "docs: no docc beside swift: $docc" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# swift and docc leave files there.
mkdir "$work/tmp" "$work/graphs"
export TMPDIR=$work/tmp

# The flags are those of the other builds, or everything would be built again.
read -r -a flags <<<"${SWIFT_FLAGS:-}"
if [[ -n ${DOCS_TRAITS:-} ]]; then
  flags+=(--traits "$DOCS_TRAITS" --scratch-path .build-docs)
fi
export SPS_TOOL=1
swift build "${flags[@]}"
built=$(swift build "${flags[@]}" --show-bin-path)

# In the order of the manifest, where a module comes after those it links to: ``/CryptoCore/SymmetricKey``
# finds its archive.
mapfile -t products < <(swift package "${flags[@]}" dump-package |
  python3 -c 'import json, sys; print(*(p["name"] for p in json.load(sys.stdin)["products"] if "library" in p["type"]), sep="\n")')
includes=(-I "$built/Modules")
for folder in Sources/*/; do
  [[ ! -f $folder/module.modulemap ]] || includes+=(-I "$folder")
done
# Those of packages that a trait needs.
while IFS= read -r map; do
  includes+=(-Xcc "-fmodule-map-file=$map")
done < <(find "$built/../../checkouts" "$built" -maxdepth 5 -name module.modulemap \
  \( -path '*/Sources/*/include/*' -o -path '*.build/module.modulemap' \) 2>/dev/null || true)
for folder in $(pkg-config --cflags-only-I libcrypto sqlite3 libsecret-1); do
  includes+=(-Xcc "$folder")
done

target=$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -n 1)
modules=()
for module in "${products[@]}"; do
  "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$target" "${includes[@]}" \
    -minimum-access-level public -emit-extension-block-symbols -output-dir "$work/graphs"
  # The umbrella has no symbols of its own.
  if [[ $module == SecurePropertyStorage ]] ||
    grep -q '"symbols":\[{' "$work/graphs/$module.symbols.json"; then
    modules+=("$module")
  else
    echo "docs: $module is left out, as its trait is off"
  fi
done
scripts/docs-catalogs.py prepare "$work" "${modules[@]}"
scripts/docs-plots.py tables "$work/Guides.docc/benchmarks.md"

failed=0
archives=()
convert() {
  local name=$1
  shift
  echo "docs: $name"
  if "$docc" convert "$work/$name.docc" "$@" --warnings-as-errors \
    --fallback-display-name "$name" --fallback-bundle-identifier "SecurePropertyStorage.$name" \
    --fallback-default-module-kind Module \
    --enable-experimental-external-link-support --enable-inherited-docs \
    "${archives[@]}" --output-path "$work/$name.doccarchive"; then
    archives+=(--dependency "$work/$name.doccarchive")
  else
    failed=1
  fi
}
for module in "${modules[@]}"; do
  scripts/docs-catalogs.py inherit "$work" "$module"
  convert "$module" --additional-symbol-graph-dir "$work/$module.graphs"
done
convert Guides
[[ $failed -eq 0 ]] || exit 1

archives=("${modules[@]/#/$work/}")
"$docc" merge "$work/Guides.doccarchive" "${archives[@]/%/.doccarchive}" \
  --synthesized-landing-page-name SecurePropertyStorage --output-path "$work/site"
scripts/docs-catalogs.py navigator "$work/site"

# The front page is the guides'. Without settings of a theme, each page would ask for them in vain.
cp docs/site/index.html docs/site/theme-settings.json "$work/site"
rm -rf .build/docs
mv "$work/site" .build/docs
echo "docs: to read it: python3 -m http.server --bind 127.0.0.1 --directory .build/docs"
