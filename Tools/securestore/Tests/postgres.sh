#!/usr/bin/env bash
# Uses securestore on a store in a real PostgreSQL server, and between that, a vault and etcd.
# Usage: postgres.sh PROGRAM
set -euo pipefail

program=$1
work=$(mktemp -d)
chmod 0711 "$work"
server='' database=''
end() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  [[ -z $database ]] || kill -INT "$database" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

fail() {
  echo "postgres: $*" >&2
  exit 1
}

# gives STATUS EXPECTED COMMAND...: the exit code, and a text that the answer contains.
gives() {
  local status=0 said expected=$1 text=$2
  shift 2
  said=$("$program" "$@" 2>&1) || status=$?
  [[ $status -eq $expected ]] || fail "$* ends with $status: $said"
  [[ $said == *"$text"* ]] || fail "$* says: $said"
}

# A server whose role shop has a password. PostgreSQL refuses to be run by root.
as=()
mkdir "$work/db"
echo of-the-owner >"$work/db/password"
if [[ $(id -u) -eq 0 ]]; then
  as=(setpriv --reuid postgres --regid postgres --clear-groups)
  chown -R postgres: "$work/db"
fi
bin=$(pg_config --bindir)
port=$("$(dirname "$0")/../../../scripts/free-ports.py" 1)
"${as[@]}" "$bin/initdb" -D "$work/db/data" -A scram-sha-256 -U owner --no-sync \
  --pwfile "$work/db/password" >"$work/log" 2>&1 || fail "initdb fails: $(tail -n 3 "$work/log")"
"${as[@]}" "$bin/postgres" -D "$work/db/data" -c "port=$port" -c listen_addresses=127.0.0.1 \
  -c "unix_socket_directories=$work/db" >"$work/log" 2>&1 &
database=$!
for _ in {1..600}; do
  ! "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" || break
  kill -0 "$database" 2>/dev/null || fail "PostgreSQL does not start: $(tail -n 3 "$work/log")"
  sleep 0.1
done

export PGPASSFILE=$work/passwords
(umask 077 && echo "127.0.0.1:$port:*:owner:of-the-owner" >"$PGPASSFILE")
connection="host=127.0.0.1 port=$port dbname=postgres user"
owner=(--postgres "$connection=owner" --store shop --key-file "$work/fleet.key")

# Without libpq, or with a password that everybody sees, nothing is asked.
if ldd "$program" | grep libpq; then fail "the program is linked with the above"; fi
mkdir "$work/other"
echo nothing >"$work/other/libpq.so.5"
LD_LIBRARY_PATH=$work/other gives 18 "install the package libpq5" get A "${owner[@]}"
gives 64 "everybody on this machine can see" get A --postgres "$connection=owner password=of-the-owner" --store shop
gives 64 "everybody on this machine can see" get A --store shop \
  --postgres "postgresql://owner:of-the-owner@127.0.0.1:$port/postgres"
gives 64 "need --postgres" get A --store shop
gives 64 "--store NAME" get A --postgres "$connection=owner"
gives 64 "one of" get A "${owner[@]}" --vault "$work/v.vault"

# Only init makes the tables and the store; --sql shows what it runs, and makes nothing.
gives 69 "" get A "${owner[@]}"
gives 0 "CREATE ROLE" init --sql "${owner[@]}"
gives 64 "--sql needs --postgres" init --sql --vault "$work/v.vault" --key-file "$work/v.key"
gives 69 "" get A "${owner[@]}"
gives 0 "created shop" init "${owner[@]}"
gives 23 duplicate init "${owner[@]}"
printf secret1 | "$program" -q set A "${owner[@]}"
[[ $("$program" get A "${owner[@]}" 2>&1) == secret1 ]] || fail "get says more than the value"

# A program's role, whose password comes from a program.
PGPASSWORD=of-the-owner psql -q "$connection=owner" -c \
  "CREATE ROLE shop LOGIN PASSWORD 'of-shop'; GRANT securestore_writer TO shop;
   CREATE ROLE stranger LOGIN PASSWORD 'of-shop'"
(umask 077 && echo of-shop >"$work/password")
store=(--postgres "$connection=shop" --store shop --key-file "$work/fleet.key"
  --postgres-password-command "cat $work/password")
gives 0 secret1 get A "${store[@]}"
gives 64 "for a shell" get A "${store[@]:0:6}" --postgres-password-command 'cat a | b'
echo wrong >"$work/wrong"
gives 77 denied get A "${store[@]:0:6}" --postgres-password-command "cat $work/wrong"
gives 75 "within 0.5 seconds" get A "${store[@]:0:6}" --postgres-password-command 'sleep 1000' --command-timeout 0.5
gives 77 denied get A --postgres "$connection=stranger" --store shop --key-file "$work/fleet.key" \
  --postgres-password-command "cat $work/password"
printf 'B=2\nC=three\n' >"$work/env"
gives 0 "imported 2 values" import "$work/env" "${store[@]}"
[[ $("$program" list "${store[@]}" | paste -sd ' ') == "A B C" ]] || fail "list gives something else"
gives 0 "PostgreSQL keeps no account" verify --expect A "${store[@]}"
gives 2 "absent: D" verify --expect D "${store[@]}"

# Keys and machines, as in etcd.
gives 0 "added slot 2" slots add --new-key-file "$work/two.key" "${store[@]}"
gives 0 "web1 opens slot 1" slots acknowledge --machine web1 "${store[@]}"
gives 24 web1 slots promote 2 "${store[@]}"
gives 0 '"machine":"web1"' slots acknowledge --machine web1 --json "${store[@]}"
gives 0 "from now on" slots promote 1 "${store[@]}"
gives 0 "sealed" rotate --root --same-key --yes "${store[@]}"
gives 2 "has acknowledged none" doctor "${store[@]}"
gives 0 secret1 get A "${store[@]}"
gives 18 "" reset --yes "${store[@]}"

gives 64 "service" get A --postgres "service=nowhere" --store shop --key-file "$work/fleet.key"

# Doctor: one server has no standby that keeps its commits.
gives 2 "PostgreSQL 127.0.0.1:$port" doctor "${store[@]}"
gives 2 primary doctor "${store[@]}"
[[ $("$program" doctor "${store[@]}" 2>&1 | grep -c standby) == 1 ]] || fail "doctor does not say it once"

# Between PostgreSQL, a vault and etcd.
gives 0 "copied" backup "$work/copy.vault" "${store[@]}"
gives 0 "nothing wrong" verify --vault "$work/copy.vault" --key-file "$work/fleet.key"
gives 0 "" remove C "${store[@]}"
gives 0 restored restore "$work/copy.vault" --yes "${store[@]}"
gives 0 three get C "${store[@]}"
# shellcheck source=start-etcd.sh
. "$(dirname "$0")/start-etcd.sh"
[[ -n $server ]] || fail "etcd does not start: $(tail -n 3 "$work/log")"
etcd=(--etcd "http://127.0.0.1:$client" --prefix /apps/shop --key-file "$work/fleet.key")
gives 0 created init "${etcd[@]}"
gives 0 copied migrate --to-vault "$work/w.vault" "${store[@]}"
[[ -z $("$program" list "${store[@]}") ]] || fail "values are still in PostgreSQL"
gives 0 copied migrate --from-vault "$work/w.vault" --from-key-file "$work/fleet.key" "${etcd[@]}"
gives 0 three get C "${etcd[@]}"
gives 0 copied migrate --to-vault "$work/w.vault" "${etcd[@]}"
gives 0 copied migrate --from-vault "$work/w.vault" --from-key-file "$work/fleet.key" "${store[@]}"
gives 0 secret1 get A "${store[@]}"

kill -INT "$database"
wait "$database" 2>/dev/null || true
database=
gives 69 "127.0.0.1:$port" get A "${store[@]}" --wait 1
if grep -rqaE 'secret1|three' "$work/db/data"; then fail "PostgreSQL's folder holds a value"; fi
echo "postgres: securestore works on a store in PostgreSQL, and between that, vaults and etcd"
