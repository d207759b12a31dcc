#!/bin/bash
# Unpack packages of this Debian beside the system, without installing anything: programs that would bring a server
# or a service with them.
#   tools/unpack.sh DEST PACKAGE...
# Afterwards their files stand in DEST/usr. Only the packages named are fetched, not what they depend on. A second call
# with the same arguments does nothing.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dest=$(realpath -m "$1")
shift

mark=$dest/.unpacked
[ -f "$mark" ] && [ "$(cat "$mark")" = "$*" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
if ! apt-get -q download "$@" > log 2>&1; then
  tail -n 5 log >&2
  echo "unpack: these packages could not be fetched ('apt-get update' may help): $*" >&2; exit 1
fi
rm -rf "$dest"
mkdir -p "$dest"
for deb in *.deb; do dpkg -x "$deb" "$dest"; done
echo "$*" > "$mark"
