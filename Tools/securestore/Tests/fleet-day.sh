#!/usr/bin/env bash
# Runs the commands of the page "A day with the fleet" word for word, over members of etcd at the addresses that the
# page names, with a folder /srv/shop for each machine. Usage: fleet-day.sh PROGRAM
set -euo pipefail

repository=$(realpath "$(dirname "$0")/../../..")
page=$repository/Sources/EtcdBackend/EtcdBackend.docc/ADayWithTheFleet.md

if [[ ${2:-} != inside ]]; then
  # A network and mounts of its own: the addresses and /srv/shop are nobody else's.
  namespace=(unshare --net --mount --uts --propagation private)
  [[ $(id -u) -eq 0 ]] || namespace+=(--map-root-user)
  exec "${namespace[@]}" "$0" "$(realpath "$1")" inside
fi

program=$1
work=$(mktemp -d)
servers=()
trap '[[ ${#servers[@]} -eq 0 ]] || kill "${servers[@]}" 2>/dev/null || true; wait 2>/dev/null || true
  umount /srv/shop /srv; rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "fleet-day: $*" >&2
  exit 1
}

# --- The machines: each has a folder /srv/shop of its own.

mkdir -p bin srv/shop operator web1 web2 web3
chmod 0700 operator web1 web2 web3
# Folders from here are mounted over the system's, never the other way round: what is here is removed.
mount --bind srv /srv
mount --bind operator /srv/shop

ln -s "$program" bin/securestore
# A command on another machine, and a copy to it.
cat >bin/ssh <<SH
#!/bin/bash
machine=\$1
shift
exec unshare --mount --uts bash -c 'hostname "\$0"; mount --bind "$work/\$0" /srv/shop; exec "\$@"' "\$machine" "\$@"
SH
cat >bin/scp <<SH
#!/bin/bash
[[ \$1 == -p ]] && shift
exec cp -p "\$1" "$work/\${2%%:*}/\${2##*/}"
SH
chmod 755 bin/ssh bin/scp
export PATH=$work/bin:$PATH

# --- Certificates, whose names are users of etcd.

openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=authority -keyout ca.key -out ca.pem 2>/dev/null
certify() { # NAME FOLDER EXTENSIONS
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$2/etcd.key" -out request.pem 2>/dev/null
  openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -out "$2/etcd.pem" \
    -extfile <(echo "$3") 2>/dev/null
  cp ca.pem "$2/etcd-ca.pem"
}
mkdir members
certify member members subjectAltName=IP:10.0.0.5,IP:10.0.0.6,IP:10.0.0.7,IP:10.0.0.8
certify root operator extendedKeyUsage=clientAuth
for machine in web1 web2 web3; do certify "$machine" "$machine" extendedKeyUsage=clientAuth; done

# --- A cluster of three members, and another one of one.

ip link set lo up
for i in 5 6 7 8; do ip address add "10.0.0.$i/32" dev lo; done
names=
for i in 5 6 7; do names+="${names:+,}m$i=http://10.0.0.$i:2380"; done
for i in 5 6 7 8; do
  [[ $i != 8 ]] || names=m8=http://10.0.0.8:2380
  etcd --name "m$i" --data-dir "$work/m$i" --initial-cluster "$names" --initial-cluster-token "${#names}" \
    --listen-client-urls "https://10.0.0.$i:2379" --advertise-client-urls "https://10.0.0.$i:2379" \
    --listen-peer-urls "http://10.0.0.$i:2380" --initial-advertise-peer-urls "http://10.0.0.$i:2380" \
    --cert-file members/etcd.pem --key-file members/etcd.key --trusted-ca-file ca.pem --client-cert-auth \
    >"log$i" 2>&1 &
  servers+=($!)
done

# --- The page's blocks, in their order.

# blocks HEADING: the commands below a heading.
blocks() {
  awk -v heading="## $1" '/^## / { inside = $0 == heading } /^```/ { code = $0 == "```sh"; next } inside && code' "$page"
}
run() { # HEADING
  local commands
  commands=$(blocks "$1")
  [[ -n $commands ]] || fail "the page has no commands below: $1"
  # shellcheck disable=SC1090  # the page's own text
  . <(echo "set -e; $commands")
}

run Overview
for i in 5 6 7 8; do
  for _ in {1..600}; do
    ! ETCDCTL_ENDPOINTS=https://10.0.0.$i:2379 etcdctl get x >/dev/null 2>said || continue 2
    kill -0 "${servers[i - 5]}" || break
    sleep 0.1
  done
  fail "member $i does not start: $(tail -n 3 "log$i" said)"
done

run "Setting it up" >said 2>&1
# shellcheck disable=SC2153,SC2086  # the page sets it, as words
{
  old=($FLEET --key-file /srv/shop/fleet.key)
  new=($FLEET --key-file /srv/shop/fleet-2.key)
}
printf first | securestore -q set db-password "${old[@]}"
for machine in web1 web2 web3; do
  [[ $(ssh "$machine" securestore get db-password "${old[@]}") == first ]] || fail "$machine reads something else"
done
# What the thief has.
cp -r web3 thief

blocks "The dashboard" | grep -v curl >doctor
# shellcheck disable=SC1091
said=$(. ./doctor)
for machine in web1 web2 web3; do
  [[ $said == *"machine $machine"*"opened slot 1"* ]] || fail "doctor does not show $machine: $said"
done

run "A machine was stolen" >said 2>&1
grep -q "all of them open" said || fail "at the end there is: $(<said)"
! grep -q "machine web3" said || fail "web3 is still there: $(<said)"
[[ $(ssh web1 securestore get db-password "${new[@]}") != first ]] || fail "the password is the old one"
if ssh web3 securestore get db-password "${old[@]}" 2>denied; then fail "the stolen machine still reads etcd"; fi
grep -q denied denied || fail "the stolen machine is told: $(<denied)"
# Even with access to etcd, such as by a snapshot, the stolen key opens nothing.
cp thief/fleet.key operator/stolen.key
mkdir elsewhere && cp thief/fleet.key elsewhere/fleet.key
if securestore get db-password $FLEET --key-file elsewhere/fleet.key 2>opened; then fail "the stolen key still opens the store"; fi
grep -q "opens\|only with" opened || fail "the stolen key is refused with: $(<opened)"

run "Another cluster" >said 2>&1
grep -q restored said || fail "the restore says: $(<said)"
# shellcheck disable=SC2153,SC2086
other=($OTHER --key-file /srv/shop/fleet-2.key)
[[ $(securestore get db-password "${other[@]}") == $(securestore get db-password "${new[@]}") ]] ||
  fail "the other cluster has another password"
echo "fleet-day: the page's commands do what it says"
