# Three members of etcd: sourced by fleet.sh.
# shellcheck shell=bash disable=SC2154
client=() peer=() names=''
for i in 0 1 2; do
  client[i]=http://127.0.0.1:${ports[i]} peer[i]=http://127.0.0.1:${ports[i + 3]}
  names+="${names:+,}m$i=${peer[i]}"
done
export ETCD_ENDPOINTS=${client[0]},${client[1]},${client[2]}

start_member() {
  etcd --name "m$1" --data-dir "$work/engine/m$1" --listen-client-urls "${client[$1]}" \
    --advertise-client-urls "${client[$1]}" --listen-peer-urls "${peer[$1]}" \
    --initial-advertise-peer-urls "${peer[$1]}" --initial-cluster "$names" >>"$work/engine/log$1" 2>&1 &
  members[$1]=$!
}

start_engine() {
  mkdir "$work/engine"
  for i in 0 1 2; do start_member "$i"; done
}

kill_leader() {
  local leader i
  leader=$(ETCDCTL_API=3 etcdctl --endpoints "$ETCD_ENDPOINTS" endpoint status -w fields | awk '
    /"MemberID"/ { member = $NF } /"Leader"/ { leader = $NF }
    /"Endpoint"/ { if (member == leader) { sub(".*:", "", $NF); gsub("\"", "", $NF); print $NF } }')
  for i in 0 1 2; do [[ ${ports[i]} != "$leader" ]] || killed=$i; done
  [[ -n ${killed:-} ]] || fail "no member leads"
  kill -9 "${members[killed]}"
  wait "${members[killed]}" 2>/dev/null || true
}

# The other two choose a leader by themselves.
lead_again() { :; }
rejoin() { start_member "$killed"; }
