#!/usr/bin/env bash
# Runs the keyring's tests against the real KeePassXC or KWallet, on a bus, a display and in a home of
# their own; or a command, which finds the bus in SPS_SECRET_SERVICE_ADDRESS.
# Usage: scripts/keyring-daemons.sh keepassxc|kwallet [COMMAND [ARGUMENT...]]
# `scripts/deps.sh daemons` installs what it needs. FILTER=regex picks tests.
set -euo pipefail
cd "$(dirname "$0")/.."

daemon=${1:-}
shift || true
[[ $daemon == keepassxc || $daemon == kwallet ]] || {
  echo "usage: $0 keepassxc|kwallet [COMMAND [ARGUMENT...]]" >&2
  exit 64
}

if [[ -z ${SPS_KEYRING_DAEMONS_INSIDE:-} ]]; then
  if [[ $# -eq 0 ]]; then
    read -r -a flags <<<"${SWIFT_FLAGS:-}"
    export SPS_TOOL=1
    swift build --build-tests "${flags[@]}"
    # The tests of failures and prompts have a fake service of their own. All are given the way to the
    # bus in their own variable: one that asks for the session's bus is to find none.
    set -- env -u DBUS_SESSION_BUS_ADDRESS -u DISPLAY swift test --skip-build --disable-xctest \
      "${flags[@]}" --no-parallel --filter "${FILTER:-^KeyringBackendTests\.}" \
      --skip 'Soak|FailureTests|PromptTests|CancellationTests'
  fi
  SPS_KEYRING_DAEMONS_INSIDE=1 exec scripts/private-env.sh "$0" "$daemon" "$@"
fi
unset SPS_KEYRING_DAEMONS_INSIDE WAYLAND_DISPLAY DISPLAY XAUTHORITY

# --- What is started here ends here, and with this script however that ends.

# Not where the session's own would be.
here=$XDG_RUNTIME_DIR/daemons
mkdir -m 0700 "$here"
children=()
end() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  for child in "${children[@]}"; do
    holds 3 has_ended "$child" || kill -KILL "$child" 2>/dev/null || true
  done
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts a program that dies with this script; what it says goes to a log.
start() { # NAME COMMAND...
  local name=$1
  shift
  # In the background it has no standard input unless that is handed on.
  setpriv --pdeathsig KILL -- "$@" <&0 >"$here/$name.log" 2>&1 &
  children+=("$!")
}

# Whether a command succeeds within some seconds.
holds() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

fail() { # LOG MESSAGE
  echo "keyring-daemons: $2" >&2
  tail -n 20 "$here/$1.log" >&2 || true
  exit 70
}

# --- The bus. It starts no service by itself.

export DBUS_SESSION_BUS_ADDRESS=unix:path=$here/bus
scripts/bus-config.sh "$DBUS_SESSION_BUS_ADDRESS" >"$here/bus.conf"
start bus dbus-daemon --config-file="$here/bus.conf" --nofork --nopidfile

call() { # NAME PATH METHOD [ARGUMENT...]
  gdbus call --session --timeout 5 --dest "$1" --object-path "$2" --method "${@:3}"
}
bus() { call org.freedesktop.DBus /org/freedesktop/DBus "org.freedesktop.DBus.$1" "${@:2}"; }
is_served() { bus NameHasOwner "$1" | grep -q true; }
holds 5 bus GetId || fail bus "dbus-daemon does not answer"

# --- The display.

start display Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3>"$here/display"
holds 10 grep -q . "$here/display" || fail display "Xvfb does not start"
DISPLAY=:$(<"$here/display")
export DISPLAY QT_QPA_PLATFORM=xcb LANG=C.UTF-8

# --- The daemons. All that can be is set so that nobody is asked.

secret() { call org.freedesktop.secrets "$@"; }
is_unlocked() { # COLLECTION
  secret "$1" org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Locked |
    grep -q false
}
default_collection() {
  secret /org/freedesktop/secrets org.freedesktop.Secret.Service.ReadAlias default |
    sed -n "s/.*'\(.*\)'.*/\1/p"
}
serves_unlocked() {
  local path
  path=$(default_collection)
  [[ $path == /?* ]] && is_unlocked "$path"
}

start_keepassxc() {
  # A database of which the root group is exposed: a setting that is kept in the database itself.
  cat >"$here/database.xml" <<XML
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<KeePassFile>
  <Meta>
    <DatabaseName>Passwords</DatabaseName>
    <CustomData><Item>
      <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{00112233-4455-6677-8899-aabbccddeeff}</Value>
    </Item></CustomData>
  </Meta>
  <Root><Group><UUID>ABEiM0RVZneImaq7zN3u/w==</UUID><Name>Root</Name></Group></Root>
</KeePassFile>
XML
  printf 'password\npassword\n' | QT_QPA_PLATFORM=offscreen timeout 30 keepassxc-cli import \
    --quiet --decryption-time 100 --set-password "$here/database.xml" "$here/Passwords.kdbx" \
    >/dev/null 2>"$here/import.log" || fail import "no database was made"
  # Not saved after every change, as it is by default: KeePassXC 2.7.4 saves on a thread of its own and
  # goes on changing the database meanwhile, and ends with a segmentation fault before long.
  cat >"$here/keepassxc.ini" <<INI
[General]
ConfigVersion=2
UpdateCheckMessageShown=true
SingleInstance=false
AutoSaveAfterEveryChange=${SPS_KEEPASSXC_AUTOSAVE:-false}
[GUI]
CheckForUpdates=false
[Security]
LockDatabaseIdle=false
LockDatabaseScreenLock=false
LockDatabaseMinimize=false
[FdoSecrets]
Enabled=true
ShowNotification=false
ConfirmAccessItem=${SPS_KEEPASSXC_CONFIRM:-false}
ConfirmDeleteItem=false
UnlockBeforeSearch=${SPS_KEEPASSXC_UNLOCK_BEFORE_SEARCH:-true}
INI
  start keepassxc keepassxc --config "$here/keepassxc.ini" --localconfig "$here/local.ini" \
    --pw-stdin "$here/Passwords.kdbx" < <(echo password)
  # It asks all the same before a program replaces what another one has made: "Allow Selected".
  start answers bash -c 'while sleep 0.1; do
    for window in $(xdotool search --onlyvisible --name "Access Request" 2>/dev/null); do
      xdotool windowfocus "$window" key --clearmodifiers Return
    done
  done'
}

start_kwallet() {
  cat >"$XDG_CONFIG_HOME/kwalletrc" <<INI
[Wallet]
Enabled=true
First Use=false
Use One Wallet=true
Default Wallet=kdewallet
Prompt on Open=false
Leave Open=true
Close When Idle=false
[org.freedesktop.secrets]
apiEnabled=true
INI
  # What kwalletd5 makes of the password "password": PBKDF2 with the salt of the wallet.
  mkdir -p "$XDG_DATA_HOME/kwalletd"
  head -c 56 /dev/urandom >"$XDG_DATA_HOME/kwalletd/kdewallet.salt"
  local salt hash
  salt=$(od -An -v -tx1 "$XDG_DATA_HOME/kwalletd/kdewallet.salt" | tr -d ' \n')
  hash=$(openssl kdf -keylen 56 -kdfopt digest:SHA512 -kdfopt pass:password \
    -kdfopt "hexsalt:$salt" -kdfopt iter:50000 PBKDF2)
  wallet_key="[0x${hash//:/,0x}]"
  # The wallet is made by the first one. It serves the wallets alone that are there when it starts.
  run_kwallet
  kill "${children[-1]}"
  holds 5 has_ended "${children[-1]}" || fail kwallet "kwalletd5 does not end"
  run_kwallet
  holds 20 is_served org.freedesktop.secrets || fail kwallet "no Secret Service is on the bus"
  # The Secret Service starts locked all the same; its prompt ends at once where the wallet is open.
  unlock /org/freedesktop/secrets/collection/kdewallet
}

unlock() { # COLLECTION
  local prompt
  prompt=$(secret /org/freedesktop/secrets org.freedesktop.Secret.Service.Unlock "['$1']" |
    sed -n "s/.*objectpath '\(.*\)').*/\1/p; s/.*, '\(.*\)').*/\1/p")
  [[ $prompt != /?* ]] || secret "$prompt" org.freedesktop.Secret.Prompt.Prompt "" >/dev/null
}

run_kwallet() {
  start kwallet kwalletd5
  holds 20 is_served org.kde.kwalletd5 || fail kwallet "kwalletd5 does not start"
  # As pam_kwallet does it at login, without a dialog.
  call org.kde.kwalletd5 /modules/kwalletd5 org.kde.KWallet.pamOpen kdewallet "$wallet_key" 0 \
    >/dev/null
}

"start_$daemon"
holds 20 is_served org.freedesktop.secrets || fail "$daemon" "no Secret Service is on the bus"
holds 20 serves_unlocked || fail "$daemon" "no collection is unlocked"

export SPS_SECRET_SERVICE_ADDRESS=$DBUS_SESSION_BUS_ADDRESS SPS_KEYRING_FOLDER=$here
export SPS_SECRET_SERVICE=$daemon SPS_WALLET_KEY=${wallet_key:-}
"$@"
