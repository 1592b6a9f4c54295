#!/usr/bin/env bash
# Starts a member of etcd below the folder $work, sets $client to its port and $server to its process,
# and waits until it answers. To be sourced.

# Two free ports; another program may take one before etcd does.
server=
for _ in 1 2 3; do
  { read -r client; read -r peer; } < <("$(dirname "${BASH_SOURCE[0]}")/../../../scripts/free-ports.py" 2)
  etcd --data-dir "${work:?}/data" --listen-client-urls "http://127.0.0.1:$client" \
    --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$work/log" 2>&1 &
  server=$!
  until ETCDCTL_API=3 etcdctl --endpoints "http://127.0.0.1:$client" get x >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || { server=; break; }
    sleep 0.1
  done
  [[ -z $server ]] || break
done
