#!/usr/bin/env bash
# Uses the built program as a person does, in a terminal of tmux: prompts, ^C and ^Z, questions,
# progress, completion. Usage: terminal.sh PROGRAM, in a private environment.
set -euo pipefail

program=$(realpath "$1")
work=$(mktemp -d)
socket=$work/tmux
mkdir "$work/bin"
ln -s "$program" "$work/bin/securestore"

tmux_() { tmux -S "$socket" -f /dev/null "$@"; }
trap 'tmux_ kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

screen() { tmux_ capture-pane -p -J -t test; }

fail() {
  printf 'terminal: %s; the screen is:\n' "$*" >&2
  screen >&2
  exit 1
}

# Waits until the screen has a line that matches, or as many as are wanted.
await() {
  local _
  for _ in {1..2400}; do
    if (($(screen | grep -cE -- "$1") >= ${2:-1})); then return 0; fi
    sleep 0.05
  done
  fail "waited for: $1"
}

never() { if screen | grep -qF -- "$1"; then fail "the screen shows $1"; fi; }
type_() { tmux_ send-keys -t test -l -- "$1"; }
press() { tmux_ send-keys -t test "$@"; }

# Runs a line on a clear screen.
run() {
  press C-l
  # What was there must not be taken for an answer.
  await '^ready> *$'
  until (($(screen | grep -c .) <= 1)); do sleep 0.05; done
  tmux_ clear-history -t test
  type_ "$1"
  press Enter
}

# Runs a line to its end and wants its exit code.
expect_code() {
  await "^code $1\$"
}

cat >"$work/rc" <<RC
PS1='ready> '
PATH=$work/bin:\$PATH
export SECURESTORE_VAULT=$work/test.vault
cd $work
RC
chmod 700 "$work"
tmux_ new-session -d -s test -x 100 -y 30 "bash --noprofile --rcfile '$work/rc' -i"
await '^ready>'

# A new passphrase is asked for twice, and never shown.
run 'securestore init --passphrase; echo code $?'
await '^New passphrase:'
type_ 'correct-horse'
press Enter
await '^The same again:'
type_ 'correct-house'
press Enter
await '^They differ. Once more.'
for number in 3 4; do
  await '^(New passphrase|The same again): *$' "$number"
  type_ 'correct-horse'
  press Enter
done
expect_code 0
never 'correct-'

# A value is asked for, and not shown, nor the passphrase.
run 'securestore set TOKEN --passphrase; echo code $?'
await '^Passphrase: *$'
type_ 'correct-horse'
press Enter
await '^Value of TOKEN: *$'
type_ 'hunter2-value'
press Enter
expect_code 0
never 'correct-'
never 'hunter2'

# Just Enter is no value, and replaces none.
run 'securestore set TOKEN --passphrase; echo code $?'
await '^Passphrase: *$'
type_ 'correct-horse'
press Enter
await '^Value of TOKEN: *$'
press Enter
await 'securestore: malformedInput: key "TOKEN": the value is empty'
expect_code 65

# It is shown when it is asked for, with a line break behind it.
run 'securestore get TOKEN --passphrase; echo code $?'
await '^Passphrase: *$'
type_ 'correct-horse'
press Enter
await '^hunter2-value$'
expect_code 0

run 'securestore get TOKEN --passphrase; echo code $?'
await '^Passphrase: *$'
type_ 'wrong'
press Enter
await 'securestore: wrongKey'
expect_code 11

# ^C ends it, and the terminal shows again what is typed. A list ends with it, so the code comes next.
run 'securestore get TOKEN --passphrase'
await '^Passphrase: *$'
press C-c
await '^ready> *$'
run 'echo code $?; stty -a | grep -o -- "[-]*echo\b"'
expect_code 130
await '^echo$'

# ^Z stops it with the echo on; it asks again when it goes on.
run 'securestore get TOKEN --passphrase'
await '^Passphrase: *$'
press C-z
await 'Stopped'
run 'stty -a | grep -o -- "[-]*echo\b"'
await '^echo$'
run 'fg; echo code $?'
await '^Passphrase: *$'
type_ 'correct-horse'
press Enter
await '^hunter2-value$'
expect_code 0
never 'correct-'

# ^D is no answer.
run 'securestore get TOKEN --passphrase; echo code $?'
await '^Passphrase: *$'
press C-d
await 'securestore: cancelled'
expect_code 4

# What can't be taken back is asked for.
printf 'correct-horse' >"$work/pass"
chmod 600 "$work/pass"
run 'securestore backup copy.vault; echo code $?'
expect_code 0
run 'securestore restore copy.vault --passphrase-file pass; echo code $?'
await 'Replace everything in .*\[y/N\]'
press Enter
expect_code 4
run 'securestore restore copy.vault --passphrase-file pass; echo code $?'
await 'Replace everything in .*\[y/N\]'
type_ 'y'
press Enter
expect_code 0

# Keys that end are named, and asked for.
run 'securestore slots add --passphrase-file pass --new-key-file more.key -q; securestore recovery -q --passphrase-file pass >/dev/null; echo code $?'
expect_code 0
run 'securestore slots remove 2 --passphrase-file pass; echo code $?'
await 'These keys will no longer open .*test.vault:'
await 'slot 2, file more.key \(the key file of programs'
await 'Remove this key\? \[y/N\]'
press Enter
await 'securestore: cancelled: .*nothing was changed'
expect_code 4
run 'securestore slots change --passphrase-file pass --new-key-file last.key; echo code $?'
await 'slot 1, passphrase \(the key of people who type it'
await 'slot 2, file more.key'
await 'Remove these keys\? \[y/N\]'
type_ 'n'
press Enter
expect_code 4
run 'ls last.key; securestore slots; echo code $?'
await 'ls: cannot access .last.key'
await '^1  passphrase$'
await '^2  file more.key$'
expect_code 0
run 'securestore slots remove 2 --passphrase-file pass; echo code $?'
await 'Remove this key\? \[y/N\]'
type_ 'y'
press Enter
await 'securestore: removed slot 2'
expect_code 0
# Also where another slot came meanwhile, which nobody has seen.
run 'securestore slots add --passphrase-file pass --new-key-file more.key -q; echo code $?'
expect_code 0
run 'securestore slots change --passphrase-file pass --new-key-file last.key; echo code $?'
await 'Remove these keys\? \[y/N\]'
(cd "$work" && "$program" slots add -q --vault test.vault --passphrase-file pass --new-key-file other.key)
type_ 'y'
press Enter
await 'securestore: busy: .*changed meanwhile'
expect_code 75
run 'securestore passphrase --passphrase-file pass; echo code $?'
await '^New passphrase:'
for number in 1 2; do
  await '^(New passphrase|The same again): *$' "$number"
  type_ 'password123'
  press Enter
done
await 'the new passphrase is easy to guess'
await 'Only a passphrase will be left'
await 'Remove these keys\? \[y/N\]'
press Enter
expect_code 4
never 'password123'

# Long work shows how far it is.
for number in {1..3000}; do echo "NAME_$number=value"; done >"$work/many.env"
run 'securestore import many.env --passphrase-file pass; echo code $?'
await '^import \[#{30}\] 100% \(3000 of 3000\) *$'
expect_code 0
run 'securestore verify --passphrase-file pass; echo code $?'
await '^verify \[#{30}\] 100% \(3001 of 3001\) *$'
await '3001 values, nothing wrong'
expect_code 0
run 'securestore rotate --passphrase-file pass; echo code $?'
await '^rotate \[#{30}\] 100% \(3001 of 3001\) *$'
expect_code 0
run 'securestore export --to out.env --passphrase-file pass; echo code $?'
await '^export \[#{30}\] 100% \(3001 of 3001\) *$'
await 'exported 3001 values'
run 'securestore restore copy.vault --yes --passphrase-file pass; echo code $?'
await '^restore \[#{30}\] 100% \(1 of 1\) *$'
expect_code 0

# So does a large file, by its path and as standard input.
truncate -s 300M "$work/large"
run 'securestore files init -q --folder files --key-file f.key; echo code $?'
expect_code 0
run 'securestore files put large large --folder files --key-file f.key; echo code $?'
await '^put \[#{30}\] 100% \(314572800 of 314572800\) *$'
expect_code 0
run 'securestore files put again --folder files --key-file f.key < large; echo code $?'
await '^put \[#{30}\] 100% \(314572800 of 314572800\) *$'
expect_code 0
run 'securestore files get again --folder files --key-file f.key --to out; cmp out large; echo code $?'
await '^get \[#{30}\] 100% \(314572800 of 314572800\) *$'
expect_code 0
rm -rf "$work/files" "$work/large" "$work/out"

# What can't say how far it is shows that it goes on; here it waits for another program.
hold='import sqlite3, sys; held = sqlite3.connect("test.vault", isolation_level=None)
held.execute("BEGIN IMMEDIATE"); print(flush=True); sys.stdin.read()'
coproc holder { cd "$work" && exec python3 -c "$hold"; }
# shellcheck disable=SC2154  # coproc sets it
read -r -u "${holder[0]}"
run 'securestore compact --passphrase-file pass; echo code $?'
await '^compact, [1-9][0-9]* s *$'
exec {holder[1]}>&-
await '^code [0-9]+$'
run 'securestore verify --passphrase-file pass 2>&1 | cat; echo code $?'
expect_code 0
never '100%'

# A program that prints the key asks for a PIN, as that of a token does: twice for a new key.
cat >"$work/pin" <<'SH'
#!/bin/sh
exec 3<>/dev/tty
stty -echo <&3
printf 'PIN: ' >&3
read -r pin <&3
stty echo <&3
echo >&3
[ "$pin" = 4711 ] || exit 1
echo the key of the token
SH
chmod 700 "$work/pin"
by_pin="--vault pin.vault --key-command '$work/pin'"
run "securestore init -q $by_pin; echo code \$?"
for number in 1 2; do
  await '^PIN: *$' "$number"
  type_ '4711'
  press Enter
done
expect_code 0
never '4711'
for pin in 4711:0 1234:10; do
  run "securestore list $by_pin | cat; echo code \${PIPESTATUS[0]}"
  await '^PIN: *$'
  type_ "${pin%:*}"
  press Enter
  expect_code "${pin#*:}"
  never "${pin%:*}"
done
# ^C and ^Z end the program, and the terminal shows again what is typed.
for key in C-c C-z; do
  run "securestore list $by_pin; echo code \$?; stty -a | grep -o -- '[-]*echo\b'"
  await '^PIN: *$'
  press "$key"
  expect_code 10
  await '^echo$'
done
# In the background nobody can be asked.
run "securestore list $by_pin & wait; echo code \$?"
await 'wants to ask at the terminal'
await '^code 0$'

# age, with an identity that a passphrase protects.
(cd "$work" && age-keygen -o identity 2>recipient && head -c 32 /dev/urandom >plain &&
  age -r "$(sed 's/.* //' recipient)" -o key.age plain)
run 'age -p -o identity.age identity; echo code $?'
for prompt in Enter Confirm; do
  await "^$prompt passphrase.*: *\$"
  type_ 'correct-horse'
  press Enter
done
expect_code 0
run "securestore init -q --vault age.vault --key-command 'cat $work/plain'; echo code \$?"
expect_code 0
run "securestore list --vault age.vault --key-command 'age -d -i identity.age key.age'; echo code \$?"
await '^Enter passphrase.*: *$'
type_ 'correct-horse'
press Enter
expect_code 0
never 'correct-'

# Commands and options are completed.
run 'source <(securestore --generate-completion-script bash); echo code $?'
expect_code 0
run ''
type_ 'securestore pass'
press Tab
await 'ready> securestore passphrase'
press C-u
type_ 'securestore list --lo'
press Tab
await 'ready> securestore list --long'
press C-u
type_ 'securestore export --format do'
press Tab
await 'ready> securestore export --format dotenv'
press C-u
type_ 'securestore init --cipher x'
press Tab
await 'ready> securestore init --cipher xaes-256-gcm'
press C-u
type_ 'securestore init --key k'
press Tab
await 'ready> securestore init --key keyring'
press C-u
type_ 'securestore set NAME --type do'
press Tab
await 'ready> securestore set NAME --type double'
press C-u

# So are names of values, where that asks nobody.
run 'securestore init -q --vault k.vault --key-file k.key; echo x | securestore set -q LAUNCHES --vault k.vault --key-file k.key; echo code $?'
expect_code 0
run ''
type_ 'securestore get --vault k.vault --key-file k.key LA'
press Tab
await 'ready> securestore get --vault k.vault --key-file k.key LAUNCHES'
press C-u
type_ 'securestore run --vault k.vault --key-file k.key --only LA'
press Tab
await 'ready> securestore run --vault k.vault --key-file k.key --only LAUNCHES'
press C-u
# This vault has a passphrase: nothing is offered, and nothing asked.
run ''
type_ 'securestore get TO'
press Tab Tab
type_ 'x'
await '^ready> securestore get TOx *$'
never 'Passphrase'
press C-u

echo "terminal: prompts, signals, questions, progress and completion are as they should be"
