#!/usr/bin/env bash
# Runs the commands of the guide "Keys in the machine's TPM" word for word, on machines whose TPMs are swtpm's: the
# store opens on one machine alone and in its state alone, and a recovery key moves it. systemd itself starts the
# guide's service.
# Usage: scripts/private-env.sh scripts/tpm-guide.sh PROGRAM, which is securestore.
set -euo pipefail

scripts=$(realpath "$(dirname "$0")")
page=$scripts/../Sources/StorageCore/StorageCore.docc/KeysInTheTPM.md
work=$(mktemp -d)
trap 'end_tpm; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/units"
ln -s "$(realpath "$1")" "$work/bin/securestore"
export PATH=$work/bin:$PATH XDG_DATA_HOME=$work/data
mkdir -m 700 "$XDG_DATA_HOME"
cd "$work"

fail() {
  echo "tpm-guide: $*" >&2
  exit 1
}

# The commands below a heading, the lines that are indented.
commands() {
  awk -v heading="## $1" '/^## / { found = $0 == heading } found && /^    / { print substr($0, 5) }' "$page"
}

# Sends a command, in hexadecimal digits, to the TPM, and wants success.
send() { # COMMAND
  python3 - "${SYSTEMD_TPM2_DEVICE##*=}" "$1" <<'PY'
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as tpm:
    tpm.sendall(bytes.fromhex(sys.argv[2]))
    assert tpm.recv(4096)[6:10] == bytes(4), "the TPM refuses a command"
PY
}

# Ends the machine in order, by TPM2_Shutdown: a TPM takes anything else for an attack, and locks itself in time.
end_tpm() {
  [[ -n ${tpm:-} ]] || return 0
  send 80010000000c000001450000 || true
  { kill "$tpm" && wait "$tpm" || true; } 2>/dev/null
  tpm=
}

# Starts a machine: its TPM, with what the firmware has measured of secure boot in register 7.
boot() { # MACHINE STATE
  end_tpm
  mkdir -p "$work/$1"
  local port _
  for _ in {1..20}; do
    port=$((20000 + RANDOM % 10000))
    rm -f "$work/$1/pid"
    swtpm socket --tpm2 --tpmstate "dir=$work/$1" --server "type=tcp,bindaddr=127.0.0.1,port=$port" \
      --ctrl "type=tcp,bindaddr=127.0.0.1,port=$((port + 1))" --flags not-need-init,startup-clear \
      --pid "file=$work/$1/pid" 2>/dev/null &
    tpm=$!
    # Another process may have the port; the TPM then ends at once.
    while kill -0 "$tpm" 2>/dev/null && [[ ! -s $work/$1/pid ]]; do sleep 0.02; done
    kill -0 "$tpm" 2>/dev/null && break
  done
  export SYSTEMD_TPM2_DEVICE=swtpm:host=127.0.0.1,port=$port
  # TPM2_PCR_Extend of register 7, with the empty password: the TPM library, part 3.
  local digest
  digest=$(printf %s "$2" | sha256sum | cut -d ' ' -f 1)
  send "80020000004100000182000000070000000940000009000000000000000001000b$digest"
}

# Runs a text as an operator's shell does. A TPM without the kernel's manager has three sessions, so the machine
# starts anew before each line.
run() { # MACHINE STATE TEXT
  local line
  while IFS= read -r line; do
    boot "$1" "$2"
    bash -euo pipefail -c "$line" </dev/null
  done <<<"$3"
}

# Runs a text as root's shell does on a machine that runs systemd.
manage() { # MACHINE STATE TEXT
  boot "$1" "$2"
  cat >"$work/units/main.service" <<UNIT
[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
Environment="PATH=$PATH"
ExecStart=/bin/bash -euo pipefail $work/text
StandardOutput=file:$work/printed
StandardError=file:$work/said
UNIT
  rm -f printed said
  printf 'systemctl set-environment "XDG_DATA_HOME=%s"\n%s\n' "$XDG_DATA_HOME" "$3" >text
  "$scripts/systemd.sh" "$work" main.service
}

# What opens the store, for the test alone: the guide's own command.
opens() { securestore get TOKEN --app com.example.tool --key-command "systemd-creds --name=tool-key decrypt $HOME/tool-key.cred -"; }
refused() {
  local code=0
  opens >said 2>&1 </dev/null || code=$?
  [[ $code == 10 ]] || fail "$1: code $code: $(cat said)"
  grep -q 'the key command systemd-creds ended with exit code 1' said || fail "$1: $(cat said)"
}

# A tool's store, made with the page's commands; the last says the recovery key.
text=$(commands 'A tool, a program on a desktop')
[[ $(wc -l <<<"$text") == 3 ]] || fail "the page's commands are not those that were expected: $text"
run machine on "$text" >paper 2>said || fail "$(cat said)"
boot machine on
printf secret | securestore set TOKEN -q --app com.example.tool \
  --key-command "systemd-creds --name=tool-key decrypt $HOME/tool-key.cred -"
boot machine on
[[ $(opens 2>said) == secret ]] || fail "the machine's own store: $(cat said)"

boot thief on
refused "another machine"
boot machine off
refused "secure boot that was turned off"
boot machine on
[[ $(opens 2>said) == secret ]] || fail "the state that was sealed: $(cat said)"

# New firmware, then another machine: a new key, which the recovery key admits. The page's command asks for it at
# the terminal; here it reads a line.
for state in machine:off other:on; do
  text=$(commands 'Another machine, new firmware')
  [[ $text == *' --recovery '* ]] || fail "the page does not open the store with the recovery key"
  run "${state%:*}" "${state#*:}" "${text/ --recovery / --yes --recovery-command \"cat $work/paper\" }" >said 2>&1 ||
    fail "$state: $(cat said)"
  boot "${state%:*}" "${state#*:}"
  [[ $(opens 2>said) == secret ]] || fail "$state: $(cat said)"
done
boot machine off
refused "the former machine"

# A store that a key file opens gets the TPM's key, too.
rm -r "$XDG_DATA_HOME/com.example.tool"
securestore init -q --app com.example.tool
printf secret | securestore set TOKEN -q --app com.example.tool
text=$(commands 'A store that exists')
[[ $text == *'slots remove 1 '* ]] || fail "the page does not remove the old key"
run other on "${text/slots remove 1/slots remove 1 --yes}" >said 2>&1 || fail "a store that exists: $(cat said)"
boot other on
[[ $(opens 2>said) == secret ]] || fail "a store that exists: $(cat said)"
[[ $(securestore slots list --app com.example.tool) != *master.key* ]] || fail "the key file still opens the store"

# The service: the page's unit, without a network, by which alone this TPM can be asked. The key is sealed into a
# folder of this script and not into /etc.
if ((EUID == 0)); then
  rm -r "$XDG_DATA_HOME/com.example.tool"
  text=$(commands 'A service')
  text=${text//\/etc\//$work/}
  unit=$(grep -E '^(\[|[A-Z][A-Za-z]*=)' <<<"$text")
  mapfile -t lines < <(grep -vE '^(\[|[A-Z][A-Za-z]*=|$)' <<<"$text")
  [[ ${#lines[@]} == 2 ]] || fail "the page's commands for a service are not those that were expected: $text"
  # What systemd-run needs: the bus, and what each unit waits for.
  ln -s /lib/systemd/system/dbus.{service,socket} units
  for target in sysinit basic shutdown; do printf '[Unit]\nDefaultDependencies=no\n' >"units/$target.target"; done
  printf '%s\n' "$unit" Type=oneshot PrivateNetwork=yes "ExecStart=/bin/bash -euo pipefail $work/program" \
    "StandardOutput=append:$work/printed" "StandardError=append:$work/said" >units/tool.service
  securestore="securestore -q --app com.example.tool --credential tool-key"

  run machine on "${lines[0]}" 2>said || fail "$(cat said)"
  echo "PATH=$PATH; $securestore init; printf secret | $securestore set TOKEN" >program
  manage machine on 'systemctl start tool' || fail "the service's first start: $(cat said console)"
  echo "PATH=$PATH; $securestore get TOKEN" >program
  manage machine on 'systemctl start tool' || fail "the service: $(cat said console)"
  [[ $(cat printed) == secret ]] || fail "the service reads: $(cat printed)"
  manage machine on "systemctl start dbus; ${lines[1]}" || fail "the service's recovery key: $(cat said console)"
  mv printed paper
  [[ $(securestore get TOKEN --app com.example.tool --recovery-command "cat $work/paper") == secret ]] ||
    fail "the service's recovery key opens nothing"
  # On another machine the program is not even started: 243 is systemd's code for credentials.
  manage thief on 'systemctl start tool || systemctl show --property ExecMainStatus tool' || fail "$(cat said console)"
  [[ $(cat printed) == ExecMainStatus=243 ]] || fail "the service of another machine: $(cat printed said)"
else
  echo "tpm-guide: ➜ skipped the service, since systemd takes root"
fi

echo "tpm-guide: the page's commands do what the page says"
