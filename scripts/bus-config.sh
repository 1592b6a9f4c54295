#!/usr/bin/env bash
# Prints the configuration of a session bus that starts no service by itself.
# Usage: scripts/bus-config.sh ADDRESS
set -euo pipefail

[[ $# -eq 1 ]] || { echo "usage: $0 ADDRESS" >&2; exit 64; }

cat <<XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>$1</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
XML
