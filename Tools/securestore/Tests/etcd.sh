#!/usr/bin/env bash
# Uses securestore on a store in a real member of etcd, and between that and a vault.
# Usage: etcd.sh PROGRAM
set -euo pipefail

program=$1
work=$(mktemp -d)
chmod 0700 "$work"
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
  echo "etcd: $*" >&2
  exit 1
}

# shellcheck source=start-etcd.sh
. "$(dirname "$0")/start-etcd.sh"
[[ -n $server ]] || fail "etcd does not start: $(tail -n 3 "$work/log")"

store=(--etcd "http://127.0.0.1:$client" --prefix /apps/shop --key-file "$work/fleet.key")

# gives STATUS EXPECTED COMMAND...: the exit code, and a text that the answer contains.
gives() {
  local status=0 said expected=$1 text=$2
  shift 2
  said=$("$program" "$@" 2>&1) || status=$?
  [[ $status -eq $expected ]] || fail "$* ends with $status: $said"
  [[ $said == *"$text"* ]] || fail "$* says: $said"
}

# Runs a command where gRPC's library is not installed: in a namespace of mounts of its own.
without_grpc() {
  local namespace=(unshare --mount --propagation private) folder
  [[ $(id -u) -eq 0 ]] || namespace=(unshare --map-root-user --mount --propagation private)
  folder=$(dirname "$(ldconfig -p | sed -n 's/.*libgrpc\.so\.29 .*=> //p' | head -n 1)")
  if [[ ! -d $work/links ]]; then
    mkdir "$work/links" "$work/system"
    for file in "$folder"/*; do ln -sf "$work/system/${file##*/}" "$work/links/${file##*/}"; done
    rm "$work/links"/libgrpc.so*
  fi
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${namespace[@]}" bash -euc '
    mount --bind "$1" "$2"
    mount --bind "$3" "$1"
    shift 3
    exec "$@"' - "$folder" "$work/system" "$work/links" "$@"
}

# No program is linked with gRPC; what needs its library says which package has it, and the rest works.
if ldd "$program" | grep -i grpc; then fail "the program is linked with the above"; fi
whole=$program
program=without_grpc
gives 18 "install the package libgrpc29" "$whole" get A "${store[@]}"
gives 18 "libgrpc.so.29: cannot open shared object file" "$whole" init "${store[@]}"
gives 2 "libgrpc29" "$whole" doctor "${store[@]}"
gives 0 created "$whole" init --vault "$work/without.vault" --key-file "$work/without.key"
program=$whole
mkdir "$work/other"
# A library of this name that is another one, and one that is damaged.
ln -s "$(ldconfig -p | sed -n 's/.*libsqlite3\.so\.0 .*=> //p' | head -n 1)" "$work/other/libgrpc.so.29"
LD_LIBRARY_PATH=$work/other gives 18 "undefined symbol: gpr_set_log_verbosity" get A "${store[@]}"
rm "$work/other/libgrpc.so.29"
echo nothing >"$work/other/libgrpc.so.29"
LD_LIBRARY_PATH=$work/other gives 18 "file too short" get A "${store[@]}"

# Only init makes the store.
gives 69 unavailable get A "${store[@]}"
gives 0 "created /apps/shop" init "${store[@]}"
gives 23 duplicate init "${store[@]}"
printf secret1 | "$program" -q set A "${store[@]}"
gives 0 secret1 get A "${store[@]}"
printf 'B=2\nC=three\n' >"$work/env"
gives 0 "imported 2 values" import "$work/env" "${store[@]}"
gives 0 C=three export --format dotenv --stdout "${store[@]}"
# shellcheck disable=SC2016  # the started program expands it
gives 0 "B is 2" run --only B "${store[@]}" -- sh -c 'echo B is $B'
[[ $("$program" list "${store[@]}" | paste -sd ' ') == "A B C" ]] || fail "list gives something else"

# Keys.
gives 0 "added slot 2" slots add --new-key-file "$work/two.key" "${store[@]}"
gives 0 "file two.key" slots "${store[@]}"
gives 0 secret1 get A "${store[@]:0:4}" --key-file "$work/two.key"
gives 64 "machines share" slots change --new-key-file "$work/three.key" "${store[@]}"
gives 64 "machines share" rotate --root --new-key-file "$work/three.key" --yes "${store[@]}"
gives 64 "nothing was changed: this would remove these keys: slot 1" \
  rotate --root --same-key "${store[@]:0:4}" --key-file "$work/two.key"
gives 0 "sealed 3 records" rotate "${store[@]}"
gives 0 "sealed 0 records" rotate --resume --readmit "${store[@]}"
gives 0 "all of them open" verify --expect A "${store[@]}"
gives 2 "absent: D" verify --expect D "${store[@]}"

# Machines: none that has said what it opens is locked out.
gives 0 "web1 opens slot 1" slots acknowledge --machine web1 "${store[@]}"
gives 0 "web2 opens slot 2" slots acknowledge --machine web2 "${store[@]:0:4}" --key-file "$work/two.key"
gives 0 "machine web2" doctor "${store[@]}"
[[ $("$program" list "${store[@]}" | paste -sd ' ') == "A B C" ]] || fail "list shows the machines"
# shellcheck disable=SC2016  # the started program expands it
gives 0 "all of secret1" run --all "${store[@]}" -- sh -c 'echo all of $A'
gives 24 web1 slots promote 2 "${store[@]}"
gives 24 web2 slots promote 1 "${store[@]}"
gives 66 "no machine" slots forget web3 "${store[@]}"
gives 24 web2 rotate --root --same-key --yes "${store[@]}"
gives 0 "forgot web2" slots forget web2 "${store[@]}"
gives 0 "from now on" slots promote 1 "${store[@]}"
gives 10 "only with" get A "${store[@]:0:4}" --key-file "$work/two.key"
gives 0 "web2 opens slot 1" slots acknowledge --machine web2 "${store[@]}"
gives 0 "added slot 2" slots add --new-key-file "$work/three.key" "${store[@]}"
gives 24 web1 slots promote 2 "${store[@]}"
gives 0 "removed slot 2" slots remove 2 "${store[@]}"
# Another key gets the number that web3's key had.
gives 0 "added slot 2" slots add --new-key-file "$work/four.key" "${store[@]}"
gives 0 "web3 opens slot 2" slots acknowledge --machine web3 "${store[@]:0:4}" --key-file "$work/four.key"
gives 24 web3 slots remove 2 "${store[@]}"
gives 0 "web3 opens slot 1" slots acknowledge --machine web3 "${store[@]}"
gives 0 "removed slot 2" slots remove 2 "${store[@]}"
gives 0 "added slot 2" slots add --new-key-file "$work/two.key" "${store[@]}"
for machine in web1 web2 web3; do gives 0 "forgot $machine" slots forget "$machine" "${store[@]}"; done
gives 64 "only a store that machines share" slots promote 1 --vault "$work/none.vault"

# Vaults.
gives 0 "3 copied" backup "$work/copy.vault" "${store[@]}"
gives 0 "nothing wrong" verify --vault "$work/copy.vault" --key-file "$work/fleet.key"
gives 0 "" remove C "${store[@]}"
printf later | "$program" -q set A "${store[@]}"
gives 0 restored restore "$work/copy.vault" --yes "${store[@]}"
gives 0 three get C "${store[@]}"
gives 0 secret1 get A "${store[@]}"
"$program" -q init --vault "$work/v.vault" --key-file "$work/v.key"
printf moved | "$program" -q set M --vault "$work/v.vault" --key-file "$work/v.key"
gives 0 "1 copied" migrate --from-vault "$work/v.vault" --from-key-file "$work/v.key" "${store[@]}"
gives 0 moved get M "${store[@]}"
[[ -z $("$program" list --vault "$work/v.vault" --key-file "$work/v.key") ]] || fail "M is still there"
gives 64 "goes with no" migrate --to-vault "$work/w.vault" --from-vault "$work/v.vault" "${store[@]}"
gives 64 "--etcd" migrate --to-vault "$work/w.vault" --vault "$work/v.vault" --key-file "$work/v.key"
gives 0 "4 copied" migrate --to-vault "$work/w.vault" --keep "${store[@]}"
gives 0 moved get M --vault "$work/w.vault" --key-file "$work/fleet.key"
gives 0 three get C "${store[@]}"
# Vaults that open with what a command prints, in both directions.
command=(--to-key-command "cat $work/fleet.key" --to-vault "$work/x.vault")
gives 0 "4 copied" migrate "${command[@]}" --keep "${store[@]}"
gives 0 "4 already there" migrate "${command[@]}" --keep "${store[@]}"
gives 0 "command" slots list --vault "$work/x.vault"
gives 0 "4 already there" migrate --from-vault "$work/x.vault" --from-key-command "cat $work/fleet.key" "${store[@]}"
gives 64 "need --to-vault" migrate "${command[@]:0:2}" "${store[@]}"
gives 64 "only one" migrate "${command[@]}" --to-key-file "$work/fleet.key" "${store[@]}"
gives 0 "4 already there" migrate --to-vault "$work/w.vault" "${store[@]}"
[[ -z $("$program" list "${store[@]}") ]] || fail "values are still in etcd"
gives 0 "4 copied" migrate --from-vault "$work/w.vault" --from-key-file "$work/fleet.key" "${store[@]}"

# What is not so.
gives 0 "version 3" doctor "${store[@]}"
gives 24 "--unacknowledged" slots promote 1 "${store[@]}"
gives 24 "--unacknowledged" slots remove 2 "${store[@]}"
gives 0 "removed slot 2" slots remove 2 --unacknowledged "${store[@]}"
# All keys are replaced once every machine opens the one that stays.
gives 0 "added slot 2" slots add --new-key-file "$work/five.key" "${store[@]}"
gives 24 "--unacknowledged" rotate --root --same-key --yes "${store[@]}"
gives 0 "web1 opens slot 1" slots acknowledge --machine web1 "${store[@]}"
gives 0 "slot 2, file five.key" rotate --root --same-key --yes "${store[@]}"
gives 10 "only with" get A "${store[@]:0:4}" --key-file "$work/five.key"
gives 0 three get C "${store[@]}"
gives 10 "only with file fleet.key" get A "${store[@]:0:4}" --key-file "$work/v.key"
gives 18 "etcdctl del --prefix" reset --yes "${store[@]}"
gives 64 "need --etcd" get A --prefix /x
gives 64 "--prefix" get A --etcd "http://127.0.0.1:$client" --key-file "$work/fleet.key"
gives 64 "one of" get A --vault "$work/v.vault" "${store[@]}"
kill "$server"
wait "$server" 2>/dev/null || true
server=
gives 69 "127.0.0.1:$client" get A "${store[@]}" --wait 1
gives 2 BAD doctor "${store[@]}" --wait 1
if grep -rqa secret1 "$work/data"; then fail "etcd's folder holds a value"; fi
grep -rqa /apps/shop/h "$work/data" || fail "etcd's folder does not hold the store"

echo "etcd: securestore works on a store in etcd, and between that and vaults"
