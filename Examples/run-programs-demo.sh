#!/usr/bin/env bash
# The demo of two small programs: a command-line tool that keeps a token for each host, and the model layer of
# an app on a server. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

bin=$(swift build --show-bin-path)
step() { printf '\n== %s\n' "$1"; }
fail() {
  echo "$1" >&2
  exit 1
}
# run COMMAND...: shows a command of a program and what it prints.
run() {
  echo "\$ $*"
  local name=$1
  shift
  "$bin/${name^}" "$@"
}

step "A tool keeps the token of each host: three processes, one login"
token=$(head -c 18 /dev/urandom | base64)
run forge login code.example --user ada <<<"$token"
run forge status
[[ $(run forge token code.example | tail -1) == "$token" ]] || fail "forge token should print the token"
grep -rqF "$token" "$XDG_DATA_HOME" "$XDG_CONFIG_HOME" && fail "the token is in a file in the clear"

step "Without its key the tool says what happened, and its data stays"
key=$XDG_DATA_HOME/org.example.forge/master.key
mv "$key" "$key.away"
code=0
run forge status || code=$?
((code == 10)) || fail "forge should have ended with 10"
mv "$key.away" "$key"
run forge status
run forge logout code.example

step "The model layer of an app, on a server"
run notebook add 'pears'
run notebook add 'apples'
run notebook list
