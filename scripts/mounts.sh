#!/usr/bin/env bash
# Plays how Kubernetes, Docker and systemd mount secrets and volumes: links, modes, owners, groups and
# read-only disks, as users who are made up for it. A program that uses the library says what it gets.
# All of it is in a mount namespace that goes away with this script.
# Usage: scripts/private-env.sh scripts/mounts.sh PROGRAM, which is the VaultTestChild of the tests.
set -euo pipefail

program=$1
if [[ ${2:-} != inside ]]; then
  if ((EUID != 0)) || ! unshare -m --propagation private mount -t tmpfs tmpfs /mnt 2>/dev/null; then
    echo "mounts: ➜ skipped, since it takes root and the right to mount"
    [[ ${CI:-} != true ]]
    exit
  fi
  # Its folder is an empty one outside.
  place=$(mktemp -d)
  trap 'rmdir "$place"' EXIT
  MOUNTS_PLACE=$place unshare -m --propagation private "$0" "$program" inside
  exit
fi

root=$MOUNTS_PLACE
mount -t tmpfs -o mode=0755 tmpfs "$root"
install -m 0755 "$program" "$root/program"
readonly user=65533 group=65531
umask 022
failed=0
count=0

key=$(head -c 32 /dev/urandom | base64)

# A folder of the user's own for data, and a folder of root's for what is mounted.
fresh() {
  count=$((count + 1))
  data=$root/data-$count mounted=$root/mounted-$count
  install -d -m 0700 -o "$user" -g "$user" "$data"
  mkdir -m 0755 "$mounted"
}

read_only() {
  mount --bind "$1" "$1"
  mount -o remount,ro,bind "$1"
}

# what GROUPS SOURCE ACCESS TRUST COMMAND...: one line of what the program says, as a user with such groups.
what() {
  local groups=(--clear-groups)
  [[ $1 == - ]] || groups=(--groups "$1")
  shift
  env XDG_DATA_HOME="$data" XDG_CONFIG_HOME="$data" HOME="$data" \
    setpriv --reuid "$user" --regid "$user" "${groups[@]}" "$root/program" mounted org.example "$@" |
    paste -sd ' '
}

# expect TITLE RESULT GROUPS SOURCE ACCESS TRUST COMMAND...
expect() {
  local title=$1 wanted=$2 got
  shift 2
  got=$(what "$@") || got="ended with $?"
  if [[ $got == "$wanted" ]]; then
    echo "mounts: $title: $got"
  else
    echo "mounts: ✘ $title: \"$got\", and not \"$wanted\"" >&2
    failed=1
  fi
}

# --- Secrets

# secret MODE OWNER:GROUP [TEXT]: a file as it is mounted by itself.
secret() {
  fresh
  printf '%s' "${3-$key}" >"$mounted/key"
  chown "$2" "$mounted/key"
  chmod "$1" "$mounted/key"
}

fresh
mkdir "$mounted/..2024_11_24"
printf '%s' "$key" >"$mounted/..2024_11_24/key"
ln -s ..2024_11_24 "$mounted/..data"
ln -s ..data/key "$mounted/key"
chmod 0644 "$mounted/..2024_11_24/key"
read_only "$mounted"
expect "a Kubernetes secret, by its links" "saved one" - "secret:$mounted/key" readWrite owner one load
expect "the same as a key file" "error denied" - "file:$mounted/key" readWrite owner load
[[ $(ls -A "$mounted" | wc -l) == 3 ]] || { echo "mounts: ✘ something was made beside a secret" >&2; failed=1; }

secret 0444 root:root
read_only "$mounted"
expect "a Docker secret, 0444 and root's" "saved one" - "secret:$mounted/key" readWrite owner one load
expect "the same as a key file" "error denied" - "file:$mounted/key" readWrite owner load

secret 0440 "root:$group"
expect "0440 of a group of the process" "saved one" "$group" "secret:$mounted/key" readWrite owner one load
expect "0440 of another group" "error denied" - "secret:$mounted/key" readWrite owner load

secret 0400 "$user:$user"
expect "0400 of the user" "saved one" - "secret:$mounted/key" readWrite owner one load
chown root:root "$mounted/key"
expect "0400 of root" "error denied" - "secret:$mounted/key" readWrite owner load

secret 0666 nobody:nogroup
expect "0666 of anybody, which the mount is trusted for" "saved one" - "secret:$mounted/key" readWrite owner \
  one load

secret 0444 root:root ''
expect "an empty one" "error damaged" - "secret:$mounted/key" readWrite owner one
secret 0444 root:root "$(head -c 5000 /dev/zero | tr '\0' x)"
expect "one that is too long" "error damaged" - "secret:$mounted/key" readWrite owner one
secret 0444 root:root
rm "$mounted/key"
expect "none" "error keyUnavailable" - "secret:$mounted/key" readWrite owner one
ln -s ..data/key "$mounted/key"
expect "a link that leads nowhere" "error keyUnavailable" - "secret:$mounted/key" readWrite owner one
ln -sf key "$mounted/key"
expect "a link to itself" "error denied" - "secret:$mounted/key" readWrite owner one
rm "$mounted/key"
mkfifo -m 0666 "$mounted/key"
expect "a pipe, which nobody waits for" "error denied" - "secret:$mounted/key" readWrite owner one
ln -sf /dev/zero "$mounted/key"
expect "a link to a device" "error denied" - "secret:$mounted/key" readWrite owner one
rm "$mounted/key"
mkdir "$mounted/key"
expect "a folder" "error denied" - "secret:$mounted/key" readWrite owner one
expect "a relative path" "error invalid" - "secret:key" readWrite owner one
[[ -z $(ls -A "$mounted/key") && -z $(find "$data" -type f) ]] ||
  { echo "mounts: ✘ something was made for a refused secret" >&2; failed=1; }

secret 0440 "root:$group"
install -d -m 0500 -o "$user" "$mounted/credentials"
install -m 0400 -o "$user" "$mounted/key" "$mounted/credentials/tool-key"
export CREDENTIALS_DIRECTORY=$mounted/credentials
expect "a systemd credential" "saved one" - credential:tool-key readWrite owner one load
unset CREDENTIALS_DIRECTORY

# --- Volumes

# volume MODE OWNER:GROUP: a disk that is mounted where the data is.
volume() {
  secret 0444 root:root
  mount -t tmpfs tmpfs "$data"
  chown "$2" "$data"
  chmod "$1" "$data"
}

volume 2775 "root:$group"
expect "a volume with fsGroup, unless it is trusted" "error denied" "$group" "secret:$mounted/key" readWrite \
  owner one
expect "a volume with fsGroup, trusted" "saved one" "$group" "secret:$mounted/key" readWrite processGroup one load
expect "the same, without the group" "error denied" - "secret:$mounted/key" readWrite processGroup load
# As the kubelet does at each mount.
chmod -R g+rwX "$data"
expect "its files with the group's permissions, unless it is trusted" "error denied" "$group" \
  "secret:$mounted/key" readWrite owner load
expect "its files with the group's permissions, read alone" "one" "$group" "secret:$mounted/key" readOnly \
  processGroup load
expect "its files with the group's permissions, written to" "there saved two" "$group" \
  "secret:$mounted/key" mustExist processGroup must-exist two load
[[ $(stat -c %a "$data/org.example/default.vault") == 600 ]] ||
  { echo "mounts: ✘ the group may still use the vault's file" >&2; failed=1; }
chmod o+w "$data"
expect "a volume that all can write to" "error denied" "$group" "secret:$mounted/key" readWrite processGroup load

# --- The library's own key file

# junk TEXT: the application's key file has this content, and there is no store.
junk() {
  fresh
  install -d -m 0700 -o "$user" -g "$user" "$data/org.example"
  printf '%s' "$1" >"$data/org.example/master.key"
  chmod 0600 "$data/org.example/master.key"
  chown "$user:$user" "$data/org.example/master.key"
}
for content in '' junk "${key:0:30}"; do
  junk "$content"
  expect "a key file of ${#content} bytes, where a new store is made" "error damaged nil" - automatic \
    readWrite owner one load
  [[ $(ls -A "$data/org.example") == master.key ]] ||
    { echo "mounts: ✘ something was made beside a key file without a key" >&2; failed=1; }
done
junk "$key"
expect "a key file that holds a key" "saved one" - automatic readWrite owner one load

# --- Groups, whose members the system's files list

# people USERS GROUPS: what is in /etc/passwd and /etc/group besides root, in this mount namespace.
people() {
  printf 'root:x:0:0::/:/bin/sh\n%b' "$1" >"$root/passwd"
  printf 'root:x:0:\n%b' "$2" >"$root/group"
}
people '' ''
mount --bind "$root/passwd" /etc/passwd
mount --bind "$root/group" /etc/group

# own MODE: a folder of the user and of the user's group.
own() {
  fresh
  chmod "$1" "$data"
}
readonly me="me:x:$user:$user::/:/bin/sh\\n" mine="me:x:$user:\\n"

own 0775
key_file=file:$data/org.example/master.key
people "$me" "$mine"
expect "a folder of a group without other members" "saved one" - "$key_file" readWrite owner one load
python3 -c 'import os, struct, sys
entries = [(1, 7, -1), (2, 7, 12345), (4, 7, -1), (16, 7, -1), (32, 5, -1)]
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, rights, who & 0xFFFFFFFF) for tag, rights, who in entries))' "$data"
expect "the same with an access list for another user" "error denied" - "$key_file" readWrite owner load
own 2770
key_file=file:$data/org.example/master.key
expect "one with the setgid bit" "saved one" - "$key_file" readWrite owner one load
people "$me" "me:x:$user:me,root\n"
expect "one whose group lists the user and root" "one" - "$key_file" readWrite owner load

own 0775
key_file=file:$data/org.example/master.key
refused() { expect "$1, which is refused" "error denied error denied" - "$key_file" readWrite owner one load; }
people "${me}other:x:65530:$user::/:/bin/sh\n" "$mine"
refused "a folder of the first group of another user, too"
people "$me" "me:x:$user:other\n"
refused "a folder of a group with another member"
people "$me" "me:x:$user:\nalso:x:$user:other\n"
refused "a folder of a group with a second name"
people "me:x:$user:99::/:/bin/sh\n" "me:x:$user:\n"
refused "a folder of a group without members"
people "$me" ''
refused "a folder of a group that is not listed"
people "$me" "me:x:$user:\n"
chown "$user:root" "$data"
refused "a folder of root's group, in which the user is not"
chown "$user:$user" "$data"
people "$me+::::::\n" "$mine"
refused "a folder whose group may have members on another machine"
[[ -z $(ls -A "$data") ]] || { echo "mounts: ✘ something was made in a refused folder" >&2; failed=1; }

own 0700
people '' ''
install -d -m 0777 -o "$user" "$data/shared"
outer=$data data=$data/shared
expect "a folder of all, below one that nobody else can enter" "saved one" - \
  "file:$data/org.example/master.key" readWrite owner one load
chmod 0711 "$outer"
expect "the same, once others can enter it" "error denied" - "file:$data/org.example/master.key" \
  readWrite owner load
umount /etc/passwd /etc/group

# --- Stores that have to be there, and disks that can't be written to

fresh
secret 0444 root:root
volume 0700 "$user:$user"
expect "a disk that is there" "saved" - "secret:$mounted/key" readWrite owner one
expect "a vault that has to be there, and is" "there one saved two" - "secret:$mounted/key" mustExist owner \
  must-exist load two load
read_only "$data"
expect "a vault on a read-only disk, without further ado" "two two two-region two-region error readOnly" - \
  "secret:$mounted/key" readWrite owner load live property default three
expect "the same, for reading alone" "there two two error readOnly" - "secret:$mounted/key" readOnly owner \
  must-exist load live three
expect "the same, where it has to be there" "there two error readOnly" - "secret:$mounted/key" mustExist owner \
  must-exist load three
umount "$data" && umount "$data"
install -d -m 0700 -o "$user" -g "$user" "$data"
expect "a disk that was not mounted" "error unavailable error unavailable error unavailable" - \
  "secret:$mounted/key" mustExist owner must-exist load three
expect "the same, for reading alone" "nil error unavailable error unavailable" - "secret:$mounted/key" \
  readOnly owner load must-exist three
[[ -z $(ls -A "$data") ]] || { echo "mounts: ✘ something was made where a disk is missing" >&2; failed=1; }

umount -l "$root"
((failed == 0)) && echo "mounts: all $count layouts gave what they should"
exit "$failed"
