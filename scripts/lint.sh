#!/usr/bin/env bash
# Checks what a reviewer should not have to: format, imports, scripts, links, README, markers. Builds nothing:
# a warning is an error wherever a build is made.
# Runs every check before it fails, so that one run shows everything.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
fail() {
  echo "lint: $*" >&2
  failed=1
}

swift_sources=()
for path in Sources Tests Tools Examples Benchmarks Fuzz Package.swift; do
  [[ ! -e $path ]] || swift_sources+=("$path")
done
swift format lint --strict --recursive "${swift_sources[@]}" ||
  fail "swift format found the above; it mends layout with: swift format -i -r ${swift_sources[*]}"

scripts/check-imports.sh || fail "an import crosses a line that it may not cross"

scripts/public-names.py ||
  fail "public names differ from docs/public-names.txt; if they shall, write it anew: scripts/public-names.py --write"

# The package index documents every product that builds without libraries or traits beyond the default.
diff <(sed -n 's/^ \{8\}- //p' .spi.yml | sort) \
  <(sed -n '/^let modules/,/^]/p' Package.swift | grep -oP '"\K\w+' | grep -vxE 'Secure(Configuration|Service)' | sort) ||
  fail ".spi.yml lists other products than Package.swift"

for script in scripts/*.sh .ci/run Examples/*.sh Tools/*/Tests/*.sh; do
  [[ ! -e $script ]] || bash -n "$script" || fail "$script does not parse"
done

if [[ ! -f README.md ]]; then
  fail "there is no README.md"
else
  [[ $(wc -w <README.md) -le 1400 ]] || fail "README.md has $(wc -w <README.md) words; 1400 is the limit"
  ! grep -nE '^.{111}' README.md || fail "the lines above of README.md have more than 110 columns"
fi

# Every target is run by CI, by the night, or by hand, and CONTRIBUTING.md says by which.
runs=$(sed -n '/^CI runs/,/^$/p' CONTRIBUTING.md)
while IFS= read -r target; do
  grep -qE "\`(make )?$target\`" <<<"$runs" || fail "CONTRIBUTING.md does not say who runs make $target"
done < <(sed -nE 's/^([a-z-]+):.*## .*/\1/p' Makefile | grep -vxE 'help|nightly')
for target in $(sed -n 's/^NIGHTLY = //p' Makefile) $(grep -oP 'targets\+?=\(\K[a-z ]+' .ci/run); do
  grep -qE "\`(make )?$target\`" <<<"${runs%By hand*}" || fail "CONTRIBUTING.md does not say that $target is run"
done

# Links to files of the repository, outside code; what comes behind a # is not looked at.
while IFS= read -r page; do
  while IFS= read -r link; do
    target=${link%%#*}
    [[ -z $target || $target == *:* || -e ${page%/*}/$target ]] ||
      fail "$page links to $link, which is not there"
  done < <(awk '/^ *```/ { code = !code; next } !code' "$page" | sed 's/`[^`]*`//g' |
    grep -oP '(\]\(|^ *\[[^]]+\]: *)\K[^)\s]+')
done < <(find . \( -name '.build*' -o -name .git \) -prune -o -name '*.md' -print)

scripts/client.sh resolve || fail "README.md names a dependency that does not resolve"

# Bytes that are no UTF-8 would become U+FFFD, and two paths one.
if grep -rn --include='*.swift' 'String(cString' Sources Tools/*/Sources | grep -v '/SystemText.swift:'; then
  fail "the lines above may change a text of the system; use SystemText"
fi

# Objects and dumps of memory are no source, and a dump may hold secrets. What is binary on purpose says so in
# .gitattributes.
if git ls-files --eol | grep '^i/-text' | grep -v 'attr/-text'; then
  fail "the files above are not text; remove them from the commit"
fi

if grep -rnwE 'TODO|FIXME|XXX|HACK' Sources Tools/*/Sources; then
  fail "the lines above leave work undone; open an issue instead"
fi

exit "$failed"
