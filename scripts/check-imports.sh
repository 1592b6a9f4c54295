#!/usr/bin/env bash
# Checks the lines between modules that the package manager does not: who may import what.
# Prints each import that breaks a rule and exits 1 if there is any.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0

# Imports of modules that match $1 in the files under the folders that follow.
imports() {
  local modules=$1 folder folders=()
  shift
  for folder in "$@"; do [[ ! -d $folder ]] || folders+=("$folder"); done
  [[ ${#folders[@]} -gt 0 ]] || return 0
  grep -rnE --include='*.swift' --exclude-dir='.build*' \
    "^[[:space:]]*(@[A-Za-z_]+(\([^)]*\))?[[:space:]]+)*([a-z]+[[:space:]]+)?import[[:space:]]+([a-z]+[[:space:]]+)?($modules)([[:space:].;/]|\$)" \
    "${folders[@]}" || true
}

refuse() {
  local why=$1 found=$2
  [[ -n $found ]] || return 0
  printf '%s\n' "$found" >&2
  echo "imports: $why" >&2
  failed=1
}

# A C library belongs to one module; that module's own tests may look at it too.
only_in() {
  local library=$1 owners
  shift
  owners=$(IFS="|"; echo "$*")
  refuse "$library is imported by $* alone" \
    "$(imports "$library" Sources Tests Tools Examples |
      grep -vE "^(Sources/($owners)|Tests/($owners)Tests)/" || true)"
}
only_in COpenSSL CryptoCore
# The tests of what a leaked key is worth change the rows of every kind of vault.
only_in CSQLite VaultBackend Leak
only_in CLibsecret KeyringBackend KeyringTesting
only_in CGRPC EtcdBackend
only_in CPostgres PostgresBackend

for backend in Sources/*Backend; do
  # A sealed folder is a place built on a vault, and not beside it; etcd and PostgreSQL are engines of
  # RemoteBackend's place.
  [[ -d $backend && ! $backend =~ /(File|Etcd|Postgres)Backend$ ]] || continue
  refuse "a backend imports no other backend" \
    "$(imports '[A-Za-z]+Backend' "$backend" | grep -vE "import.* ${backend##*/}([. ]|\$)" || true)"
done

refuse "FileBackend is built on VaultBackend alone" \
  "$(imports '[A-Za-z]+Backend' Sources/FileBackend |
    grep -vE "import.* (FileBackend|VaultBackend)([. ]|\$)" || true)"

for engine in EtcdBackend PostgresBackend; do
  refuse "$engine is built on RemoteBackend alone" \
    "$(imports '[A-Za-z]+Backend' "Sources/$engine" |
      grep -vE "import.* ($engine|RemoteBackend)([. ]|\$)" || true)"
done

refuse "the umbrella holds no test doubles" \
  "$(imports '[A-Za-z]+Testing' Sources/SecurePropertyStorage)"

ours=$(for folder in Sources/*/; do basename "$folder"; done | paste -sd '|')
refuse "InjectRegistry imports no module of ours" "$(imports "$ours" Sources/InjectRegistry)"

# Inside StorageCore there are no modules to keep apart what is below from what is above.
scripts/check-rooms.py || failed=1

exit "$failed"
