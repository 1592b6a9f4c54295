#!/usr/bin/env bash
# Runs `make install` into a folder and looks at what is there. Usage: install.sh PROGRAM, which is
# installed in the place of a release build, in a private environment.
set -euo pipefail

program=$(realpath "$1")
repository=$(realpath "$(dirname "$0")/../../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "install: line $LINENO failed" >&2' ERR

fail() {
  echo "install: $*" >&2
  exit 1
}

# Without what a make around this one, or whoever runs it, says of the place.
install_into() {
  env -u MAKEFLAGS -u MAKEOVERRIDES -u PREFIX -u DESTDIR SPS_PROGRAM="$program" \
    make --no-print-directory -C "$repository" install "$@"
}

# All that is there, with modes, whatever the umask says.
expected='755 bin/securestore
644 share/bash-completion/completions/securestore
644 share/fish/vendor_completions.d/securestore.fish
644 share/man/man1/securestore.1
644 share/zsh/site-functions/_securestore'
umask 077
for prefix in /usr /usr/local; do
  root=$work/root$prefix
  arguments=(DESTDIR="$work/root")
  # /usr/local is what there is without a PREFIX.
  [[ $prefix == /usr/local ]] || arguments+=(PREFIX="$prefix")
  said=$(install_into "${arguments[@]}")
  [[ $said == *"installed $root/bin/securestore"* ]] || fail "it says: $said"
  found=$(cd "$root" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k 2)
  [[ $found == "$expected" ]] || fail "under $prefix there is: $found"
  bad=$(find "$work/root" -mindepth 1 -type d ! -perm 755)
  [[ -z $bad ]] || fail "others can't get into: $bad"

  # The installed program does its work, and needs nothing of what was built.
  installed=$root/bin/securestore
  mkdir -m 700 "$work/data"
  "$installed" init --vault "$work/data/a.vault" --key-file "$work/data/key" --quiet
  printf 'a value' |
    "$installed" set NAME --vault "$work/data/a.vault" --key-file "$work/data/key" --quiet
  value=$("$installed" get NAME --vault "$work/data/a.vault" --key-file "$work/data/key")
  [[ $value == "a value" ]] || fail "the installed program gives: $value"
  if readelf -S "$installed" | grep ' \.symtab'; then fail "the installed program has its symbols"; fi

  cmp -s "$root/share/man/man1/securestore.1" "$repository/Tools/securestore/securestore.1" ||
    fail "the manual page is another one"
  bash -n "$root/share/bash-completion/completions/securestore"
  # shellcheck source=/dev/null
  (
    set +u
    source "$root/share/bash-completion/completions/securestore"
    complete -p securestore >/dev/null
  ) || fail "bash completes nothing"
  grep -q '^#compdef securestore$' "$root/share/zsh/site-functions/_securestore" ||
    fail "the completion of zsh is not one"
  grep -q '^complete -c .securestore.' "$root/share/fish/vendor_completions.d/securestore.fish" ||
    fail "the completion of fish is not one"
  rm -rf "$work/root" "$work/data"
done

# Without a program there is an error, and nothing is installed.
if SPS_PROGRAM=$work/none DESTDIR=$work/root "$repository/scripts/install-tool.sh" install 2>/dev/null; then
  fail "it installs what is not there"
fi
[[ ! -e $work/root ]] || fail "it has installed something in spite of an error"

echo "install: program, manual page and completions are where they belong"
