#!/usr/bin/env bash
# Three programs share a setting in etcd, of which three members run here. The setting changes, the leader
# is killed, and the setting changes again. Prints what each program saw, and when.
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a flags <<<"${SWIFT_FLAGS:-}"
program=$(swift build --package-path Examples "${flags[@]}" --show-bin-path)/Fleet
work=$(mktemp -d)
chmod 0700 "$work"
declare -a members=() followers=()
end() {
  kill -9 "${followers[@]}" "${members[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

fail() {
  echo "fleet demo: $*" >&2
  exit 1
}

await() { # SECONDS MESSAGE COMMAND...: until the command succeeds
  local limit=$((SECONDS + $1)) message=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < limit)) || fail "$message"
    sleep 0.05
  done
}

echo "== Three members of etcd, and a store that three programs share"
mapfile -t ports < <(scripts/free-ports.py 6)
peers=
for i in 0 1 2; do peers+="${peers:+,}m$i=http://127.0.0.1:${ports[i + 3]}"; done
start_member() {
  local client=http://127.0.0.1:${ports[$1]} peer=http://127.0.0.1:${ports[$1 + 3]}
  etcd --name "m$1" --data-dir "$work/m$1" --listen-client-urls "$client" \
    --advertise-client-urls "$client" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "$peers" >>"$work/log$1" 2>&1 &
  members[$1]=$!
}
for i in 0 1 2; do start_member "$i"; done
endpoints=http://127.0.0.1:${ports[0]},http://127.0.0.1:${ports[1]},http://127.0.0.1:${ports[2]}
etcdctl_() { ETCDCTL_API=3 etcdctl --endpoints "$endpoints" "$@"; }
await 60 "etcd does not answer: $(tail -n 2 "$work/log0" 2>/dev/null)" etcdctl_ get x

fleet() { "$program" "$endpoints" "$work/fleet.key" "$@"; }
fleet create
fleet set db-password secret-marker-1 >/dev/null
for name in web1 web2 batch; do
  # Not through the function, whose shell would be killed in its place.
  "$program" "$endpoints" "$work/fleet.key" follow db-password >"$work/$name" 2>&1 &
  followers+=($!)
done
everyone_sees() {
  for name in web1 web2 batch; do grep -q "= $1" "$work/$name" || return 1; done
}
await 30 "the programs do not see the password" everyone_sees secret-marker-1

echo "== A fourth program changes the password once"
fleet set db-password secret-marker-2 >"$work/change1"
await 30 "a program does not see the change" everyone_sees secret-marker-2

echo "== The member that leads is killed, and the password changes again"
leader=$(etcdctl_ endpoint status -w fields | awk '
  /"MemberID"/ { member = $NF } /"Leader"/ { leader = $NF }
  /"Endpoint"/ { if (member == leader) { sub(".*:", "", $NF); gsub("\"", "", $NF); print $NF } }')
for i in 0 1 2; do [[ ${ports[i]} != "$leader" ]] || killed=$i; done
[[ -n ${killed:-} ]] || fail "no member leads"
python3 -c 'import time; print(time.monotonic(), end="")' >"$work/etcd"
echo " the leader, m$killed, is killed" >>"$work/etcd"
{ kill -9 "${members[killed]}" && wait "${members[killed]}"; } 2>/dev/null || true
fleet set db-password secret-marker-3 >"$work/change2"
await 30 "a program does not see the change" everyone_sees secret-marker-3
start_member "$killed"

echo "== What happened (seconds from the first change; each program's reads came from its memory)"
begin=$(awk '{ print $1; exit }' "$work/change1")
for name in web1 web2 batch change1 change2 etcd; do
  title=$name
  [[ $name != change* ]] || title="a fourth program"
  sed "s/^\([0-9.]*\) /\1|$title|/" "$work/$name"
done | sort -n | awk -F '|' -v begin="$begin" '{
    gsub("secret-marker-", "password "); printf "  %+8.3f s  %-17s %s\n", $1 - begin, $2, $3 }'

# etcd's folders hold the rows, and neither a name nor a value.
grep -rqaF /demo/shop/h "$work/m0" || fail "the search of etcd's folder finds nothing"
if grep -rlaE 'secret-marker|db-password' "$work"/m0 "$work"/m1 "$work"/m2; then
  fail "etcd's folder holds the password or its name"
fi
echo "== etcd's folders hold neither the password nor its name"
