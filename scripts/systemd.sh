#!/usr/bin/env bash
# Runs systemd as the first process of a machine of its own, which is a namespace, and starts a unit there. The
# machine ends by the unit's SuccessAction=exit-force or FailureAction=exit-force, and its code is that of the unit.
# Its units are those of the folder FOLDER/units. Its disk is read-only, but for FOLDER, /tmp and /var/tmp, and for
# /run and /var/lib, which are in memory. What systemd says is in FOLDER/console.
# Usage, as root: scripts/systemd.sh FOLDER UNIT
set -euo pipefail

folder=$(realpath "$1")
unit=$2
if [[ ${3:-} == inside ]]; then
  for place in /tmp /var/tmp "$folder"; do mount --bind "$place" "$place"; done
  mount -o remount,bind,ro /
  # systemd mounts a credential elsewhere than where its service sees it.
  mount --make-rshared /
  mount -t proc proc /proc
  mount -t tmpfs tmpfs /run
  mount -t tmpfs -o mode=0755 tmpfs /var/lib
  mount -t tmpfs tmpfs /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  [[ ! -e /dev/console ]] || mount --bind "$folder/console" /dev/console
  export container=unshare SYSTEMD_UNIT_PATH=$folder/units
  export SYSTEMD_GENERATOR_PATH=/dev/null SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/dev/null
  exec /lib/systemd/systemd --system --unit="$unit" --log-target=console --show-status=no
fi

: >"$folder/console"
group=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET)/systemd-of-a-test.$$
mkdir "$group"
code=0
# shellcheck disable=SC2016  # the inner shell's
bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" \
  timeout -s KILL 60 unshare --mount --pid --fork --kill-child --uts --ipc --cgroup --propagation private \
  "$0" "$folder" "$unit" inside || code=$?
# The last of its processes may be about to end.
for _ in {1..50}; do
  ! find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || break
  sleep 0.1
done
exit "$code"
