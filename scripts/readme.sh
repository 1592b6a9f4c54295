#!/usr/bin/env bash
# Builds the README's programs from the page's own text, and runs them as the page says: the tool prints what the
# page shows, the server gets its key as from systemd. Examples/run-desktop-demo.sh runs the desktop's program, which
# needs a keyring. Usage: scripts/readme.sh, after the examples were built.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")
read -r -a flags <<<"${SWIFT_FLAGS:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "readme: $*" >&2; exit 1; }

# One program for each listing that begins with an import, in the page's order.
python3 - "$repository/README.md" "$work" session server desktop <<'PYTHON'
import pathlib, re, sys

page, work, names = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2]), sys.argv[3:]
listings = re.findall(r"```swift\n(import .*?)```", page, re.S)
if len(listings) != len(names):
    sys.exit(f"readme: {len(listings)} programs, not {len(names)}")
for name, listing in zip(names, listings):
    if len(listing.splitlines()) > 10:
        sys.exit(f"readme: the program for the {name} has more than ten lines")
    folder = work / "page/Sources" / name
    folder.mkdir(parents=True)
    (folder / "main.swift").write_text(listing)
shown = re.search(r"(?:^    .*\n)+", page, re.M).group()
(work / "shown").write_text(re.sub(r"^    ", "", shown, flags=re.M))
dependency, product = (
    re.search(rf"^\.{kind}.*?\)(?=  )", page, re.M).group() for kind in (r"package\(name:", r"product\("))
targets = ", ".join(f'.executableTarget(name: "{name}", dependencies: [{product}])' for name in names)
(work / "page/Package.swift").write_text(
    "// swift-tools-version: 6.2\nimport PackageDescription\n"
    f'let package = Package(name: "page", dependencies: [{dependency}], targets: [{targets}])\n'.replace(
        '"..."', f'"{pathlib.Path(sys.argv[1]).parent}"'))
PYTHON

# In the examples' folder, which holds the package as it was built for them.
swift build --package-path "$work/page" --scratch-path "$repository/Examples/.build" "${flags[@]}"
bin=$(swift build --package-path "$work/page" --scratch-path "$repository/Examples/.build" "${flags[@]}" --show-bin-path)

cd "$bin"
# shellcheck disable=SC2016  # the inner shell expands its own arguments
"$repository/scripts/private-env.sh" bash -euc '
  while IFS= read -r line; do
    if [[ $line == "\$ "* ]]; then echo "$line"; eval "${line#\$ }"; fi
  done <"$1" >"$HOME/said" 2>&1
  diff "$1" "$HOME/said"
  ls "$XDG_DATA_HOME/session/"{default.vault,master.key} "$XDG_CONFIG_HOME/session.secure.plist"
  ! grep -rqa gho_5f1c8e "$XDG_DATA_HOME" "$XDG_CONFIG_HOME"' - "$work/shown" ||
  fail "the tool does not print and leave what README.md shows"

# shellcheck disable=SC2016  # the inner shell expands its own arguments
"$repository/scripts/private-env.sh" bash -euc '
  if ./server 2>"$HOME/said"; then echo "it starts without its key"; exit 1; fi
  grep -q shop-key "$HOME/said"
  mkdir -m 0700 "$HOME/credentials"
  export CREDENTIALS_DIRECTORY=$HOME/credentials
  (umask 077; head -c 32 /dev/urandom >"$CREDENTIALS_DIRECTORY/shop-key")
  [[ $(./server) == "port 8080, password missing" ]]
  echo 9000 | "$1" set port --app com.example.shop --credential shop-key
  echo pw-1c8e | "$1" set db-password --app com.example.shop --credential shop-key
  [[ $(./server) == "port 9000, password set" ]]' - \
  "$(SPS_TOOL=1 swift build --package-path "$repository" "${flags[@]}" --show-bin-path)/securestore" ||
  fail "the server does not do what README.md says"
echo "readme: the programs of the page do what it says"
