#!/usr/bin/env bash
# Gives the built program keys from other programs, as people do: cat, age, a password manager, set-uid programs,
# with no PATH and no HOME, as another user, in systemd's sandbox; and looks for the secret where none may be.
# What needs root, systemd or a set-uid program is skipped where that can't be had.
# Usage: scripts/private-env.sh commands.sh PROGRAM
set -euo pipefail

export LC_ALL=C.UTF-8
repository=$(realpath "$(dirname "$0")/../../..")
umask 077
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
# Another user has to get to the program and to a place of its own.
chmod 711 "$work"
securestore=$work/securestore
install -m 755 "$1" "$securestore"
cd "$work"
failed=0

fail() {
  echo "commands: $*" >&2
  failed=1
}
skip() {
  echo "commands: ➜ skipped: $*"
}

# Wants an exit code and, in what is said, a text: wants CODE TEXT COMMAND...
wants() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$work/said" 2>&1 </dev/null || got=$?
  [[ $got == "$code" ]] || fail "code $got and not $code: $*: $(cat "$work/said")"
  grep -qF -- "$text" "$work/said" || fail "not said: $text: $*: $(cat "$work/said")"
  if grep -qF -- "$key" "$work/said"; then fail "the key is said: $*"; fi
}
# Makes a vault that a command opens, with a value: makes NAME OPTION...
makes() {
  local vault=$work/$1.vault
  shift
  "$securestore" init -q --vault "$vault" "$@"
  printf value | "$securestore" set A -q --vault "$vault" "$@"
}
# Wants the value of a vault: opens NAME COMMAND... OPTION...
gives() {
  local got
  got=$("$@" 2>"$work/errors" </dev/null) || fail "code $?: $*: $(cat "$work/errors")"
  [[ $got == value ]] || fail "no value: $*"
}

key=$(head -c 32 /dev/urandom | base64)
echo "$key" >key

# A program that prints for ever, or nothing, is tried by the library's tests; one that waits for 30 s goes on
# meanwhile. Without a terminal nobody can type, so it gets no more.
makes cat --key-command "cat $work/key"
setsid -w "$securestore" list --vault cat.vault --key-command 'sleep 1000' >hung 2>&1 </dev/null &
hung=$!

gives "$securestore" get A --vault cat.vault --key-command "cat '$work/key'"
wants 11 'command gave a passphrase that does not open' "$securestore" get A --vault cat.vault --key-command 'head -c 3 key'
wants 10 'exit code 1' "$securestore" get A --vault cat.vault --key-command 'cat nothing'
wants 10 'does not exist' "$securestore" get A --vault cat.vault --key-command /nowhere/program
wants 77 "can't be executed" "$securestore" get A --vault cat.vault --key-command "$work"
wants 64 'relative path' "$securestore" get A --vault cat.vault --key-command ./program
# What a command says on its standard error, its user sees; what it prints, nobody.
wants 10 'ask the administrator' "$securestore" get A --vault cat.vault \
  --key-command "sh -c 'cat $work/key; echo ask the administrator >&2; exit 2'"

# age, with an identity in a file.
age-keygen -o identity 2>recipient
head -c 32 /dev/urandom | age -r "$(sed 's/.* //' recipient)" -o key.age
age=(--key-command "age --decrypt -i $work/identity $work/key.age" --key-command-name age)
makes age "${age[@]}"
gives "$securestore" get A --vault age.vault "${age[0]}" "${age[1]}"
age-keygen -o other 2>recipient
wants 10 'exit code 1' "$securestore" get A --vault age.vault --key-command "age --decrypt -i $work/other $work/key.age"

# A password manager as pass: the first line is the secret, others follow.
cat >pass <<'SH'
#!/bin/sh
[ "$1" = show ] && [ "$2" = tool ] || { echo "Error: $2 is not in the password store." >&2; exit 1; }
printf 'orbit-velvet-canyon\nlogin: me\nurl: https://example.com\n'
SH
chmod 700 pass
makes pass --passphrase-command "$work/pass show tool"
gives "$securestore" get A --vault pass.vault --passphrase-command "$work/pass show tool"
wants 10 'is not in the password store' "$securestore" get A --vault pass.vault --passphrase-command "$work/pass show x"
"$securestore" recovery -q --vault pass.vault --passphrase-command "$work/pass show tool" >paper
gives "$securestore" get A --vault pass.vault --recovery-command "cat $work/paper"

# A time of the caller's own, for all commands of a call.
late() { wants 75 'within 0.5 seconds' env SECURESTORE_KEY_COMMAND="sleep 1000" "$securestore" "$@" --command-timeout 0.5; }
late get A --vault cat.vault
late get A --vault pass.vault --passphrase-command 'sleep 1000'
late get A --vault pass.vault --recovery-command 'sleep 1000'
late slots add --vault cat.vault --key-command "cat $work/key" --new-key-command 'sleep 1000' --new-key-command-name new
late migrate --vault cat.vault --key-command "cat $work/key" --from-vault pass.vault --from-passphrase-command 'sleep 1000'
wants 64 '--command-timeout' "$securestore" get A --vault cat.vault --command-timeout 0

# Without a PATH, a HOME, or any variable, and with a PATH that has a program of the same name.
mkdir planted
printf '#!/bin/sh\necho planted >&2\nexit 1\n' >planted/cat
chmod 700 planted/cat
gives env -i "$securestore" get A --vault cat.vault --key-command "cat $work/key"
gives env "PATH=$work/planted:$PATH" "$securestore" get A --vault cat.vault --key-command "cat $work/key"
gives env "SECURESTORE_KEY_COMMAND=cat $work/key" "$securestore" get A --vault cat.vault

# Two processes at once, and four.
for number in 1 2 3 4; do
  "$securestore" get A --vault cat.vault --key-command "sh -c 'sleep 0.2; cat $work/key'" \
    >"at-once.$number" 2>&1 </dev/null &
  at_once[number]=$!
done
for number in 1 2 3 4; do
  wait "${at_once[number]}" || fail "four at once: $(cat "at-once.$number")"
  [[ $(cat "at-once.$number") == value ]] || fail "four at once: no value"
done

# What the system and others see while a command has printed the key, and waits: no argument and no variable of any
# process has it.
mkfifo gate
"$securestore" get A --vault cat.vault --key-command "sh -c 'cat $work/key; cat $work/gate >&2'" \
  >seen 2>&1 </dev/null &
seen=$!
exec 3>gate
for process in /proc/[0-9]*; do
  for file in cmdline environ; do
    # A process that has ended, or is another user's, has no text to look at.
    if { tr '\0' '\n' <"$process/$file"; } 2>/dev/null | grep -qF -- "$key"; then
      fail "the key is in $process/$file"
    fi
  done
done
exec 3>&-
wait "$seen" || fail "a command that waited: $(cat seen)"

# A process that is asked to end ends the command first.
cat >waiter <<'SH'
#!/bin/sh
echo $$ >"$1"
exec sleep 1000
SH
chmod 700 waiter
for signal in INT TERM HUP; do
  rm -f id
  # A shell ignores SIGINT for what it starts in the background.
  env --default-signal="$signal" "$securestore" get A --vault cat.vault --key-command "$work/waiter $work/id" \
    >ended 2>&1 </dev/null &
  ended=$!
  until [[ -s id ]]; do sleep 0.02; done
  kill "-$signal" "$ended"
  if { wait "$ended"; } 2>/dev/null; then fail "SIG$signal does not end it"; fi
  if kill -0 "$(cat id)" 2>/dev/null; then fail "SIG$signal leaves the command"; fi
done

# As another user, whom the key's file does not belong to, and by a set-uid program that reads it for that user.
if ((EUID == 0)); then
  other=(setpriv --reuid 65533 --regid 65533 --clear-groups)
  install -d -m 700 -o 65533 -g 65533 theirs
  install -m 600 -o 65533 -g 65533 key theirs/key
  "${other[@]}" "$securestore" init -q --vault theirs/a.vault --key-command "cat $work/theirs/key"
  printf value | "${other[@]}" "$securestore" set A -q --vault theirs/a.vault --key-command "cat $work/theirs/key"
  gives "${other[@]}" "$securestore" get A --vault theirs/a.vault --key-command "cat $work/theirs/key"
  wants 10 'exit code 1' "${other[@]}" "$securestore" get A --vault theirs/a.vault --key-command "cat $work/key"
  install -m 4755 /bin/cat set-uid-cat
  if "${other[@]}" ./set-uid-cat key >/dev/null 2>&1; then
    gives "${other[@]}" "$securestore" get A --vault theirs/a.vault --key-command "$work/set-uid-cat $work/key"
    # One that becomes root for good, as sudo does, can't be ended by its user, and is not waited for.
    install -m 4755 "$(command -v setpriv)" set-uid-setpriv
    start=$SECONDS
    if "${other[@]}" timeout -s TERM 1 "$securestore" get A --vault theirs/a.vault \
      --key-command "$work/set-uid-setpriv --reuid 0 --clear-groups sleep 30" >/dev/null 2>&1 </dev/null; then
      fail "it opens without a key"
    fi
    ((SECONDS - start < 20)) || fail "a set-uid program is waited for"
  else
    skip "a set-uid program, which has no rights of its own here"
  fi
else
  skip "another user, which takes root"
fi

# A service of systemd, of a user made for it, that can write to its own folder alone and gets no new privileges.
service() {
  cat <<UNIT
[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
DynamicUser=yes
StateDirectory=tool
ProtectSystem=strict
ProtectHome=yes
PrivateDevices=yes
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX
SystemCallFilter=@system-service
BindReadOnlyPaths=$work/securestore:/run/securestore $work/service.key:/run/service.key
StandardOutput=append:$work/service.out
StandardError=append:$work/service.out
ExecStart=/run/securestore init --vault \${STATE_DIRECTORY}/a.vault --key-command "cat /run/service.key"
ExecStart=/bin/sh -c 'printf value | /run/securestore set A --vault \$STATE_DIRECTORY/a.vault --key-command "cat /run/service.key"'
ExecStart=/run/securestore get A --vault \${STATE_DIRECTORY}/a.vault --key-command "cat /run/service.key"
UNIT
}
if ((EUID == 0)) && [[ -x /lib/systemd/systemd ]]; then
  install -m 644 key service.key
  mkdir units
  service >units/tool.service
  : >service.out
  "$repository/scripts/systemd.sh" "$work" tool.service || fail "systemd: $(cat console service.out)"
  grep -q 'created .*a.vault, which opens with command' service.out || fail "in a service: $(cat service.out)"
  tail -n 1 service.out | grep -qx value || fail "in a service: $(cat service.out)"
else
  skip "systemd's sandbox, which takes root and systemd"
fi

if wait "$hung"; then fail "a command that hangs opens the store"; fi
grep -q 'did not end within 30.0 seconds and was ended' hung || fail "a command that hangs: $(cat hung)"
((failed == 0)) || exit 1
echo "commands: keys come from programs"
