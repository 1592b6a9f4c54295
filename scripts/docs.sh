#!/usr/bin/env bash
# Builds the documentation of every library module into .build/docs/<Module>.
# A warning is an error: a broken link, a parameter that is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

docc=$(dirname "$(realpath "$(command -v swift)")")/docc
[[ -x $docc ]] || { echo "docs: no docc beside swift: $docc" >&2; exit 1; }

read -r -a flags <<<"${SWIFT_FLAGS:-}"
# The flags are those of the other builds, or everything would be built again. The tests are built
# as well: without them no symbol graph can be made of the package.
swift build --build-tests "${flags[@]}"
swift package "${flags[@]}" dump-symbol-graph --minimum-access-level public \
  --skip-inherited-docs --emit-extension-block-symbols
graphs=$(swift build "${flags[@]}" --show-bin-path)/../symbolgraph

# A module comes after those it links to: ``/CryptoCore/SymmetricKey`` finds its archive.
modules=(CryptoCore StorageCore)
for folder in Sources/*/; do
  module=$(basename "$folder")
  case $module in
    CryptoCore | StorageCore | SecurePropertyStorage) ;;
    *) [[ -f $folder/module.modulemap ]] || modules+=("$module") ;;
  esac
done
modules+=(SecurePropertyStorage)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf .build/docs
mkdir -p .build/docs
failed=0
archives=()
for module in "${modules[@]}"; do
  mkdir "$work/$module"
  cp "$graphs/$module".symbols.json "$work/$module"
  find "$graphs" -name "$module@*.symbols.json" -exec cp {} "$work/$module" \;
  inputs=(--additional-symbol-graph-dir "$work/$module")
  [[ ! -d Sources/$module/$module.docc ]] || inputs=("Sources/$module/$module.docc" "${inputs[@]}")
  echo "docs: $module"
  if "$docc" convert "${inputs[@]}" --warnings-as-errors \
    --fallback-display-name "$module" --fallback-bundle-identifier "SecurePropertyStorage.$module" \
    --enable-experimental-external-link-support "${archives[@]}" \
    --output-path ".build/docs/$module"; then
    archives+=(--dependency ".build/docs/$module")
  else
    failed=1
  fi
done
exit "$failed"
