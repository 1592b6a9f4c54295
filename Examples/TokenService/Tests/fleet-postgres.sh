# One server of PostgreSQL: sourced by fleet.sh.
# shellcheck shell=bash disable=SC2154
# PostgreSQL refuses to be run by root.
as=()
[[ $(id -u) -ne 0 ]] || as=(setpriv --reuid postgres --regid postgres --clear-groups)
bin=$(pg_config --bindir)
export POSTGRES_CONNECTION="host=127.0.0.1 port=${ports[0]} user=postgres dbname=postgres"

start_member() {
  "${as[@]}" "$bin/postgres" -D "$work/engine/data" -p "${ports[0]}" -h 127.0.0.1 -k "$work/engine" \
    2>>"$work/server.log" &
  members[0]=$!
}

start_engine() {
  chmod 0711 "$work"
  mkdir "$work/engine"
  [[ $(id -u) -ne 0 ]] || chown postgres: "$work/engine"
  "${as[@]}" "$bin/initdb" -D "$work/engine/data" -A trust -U postgres --no-sync >"$work/log" 2>&1 ||
    fail "initdb fails"
  start_member
  await "postgres does not start" "$bin/pg_isready" -q -h 127.0.0.1 -p "${ports[0]}"
  "$program" tables | psql -q -d "$POSTGRES_CONNECTION"
}

# As a crash ends it.
kill_leader() {
  kill -QUIT "${members[0]}"
  wait "${members[0]}" 2>/dev/null || true
}

lead_again() { start_member; }
rejoin() { :; }
