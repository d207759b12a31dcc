#!/bin/bash
# Unpack packages of another Debian suite beside the system, without installing anything: servers of other versions,
# for tests.
#   tools/side-apt.sh DEST SUITE PACKAGE...
#   tools/side-apt.sh target/servers/mysql sid mysql-server-core mysql-client-core
#   tools/side-apt.sh target/servers/mariadb trixie mariadb-server-core mariadb-server mariadb-client-core mariadb-client
# Afterwards the packages' programs stand in DEST/usr/bin and DEST/usr/sbin, as wrappers that use the suite's own libc.
# Packages come from the mirror that this machine's apt uses. A second call with the same arguments does nothing.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dest=$(realpath -m "$1") suite=$2
shift 2

mark=$dest/.side-apt
[ -f "$mark" ] && [ "$(cat "$mark")" = "$suite $*" ] && exit 0

# The first Debian mirror in apt's sources, in either of their two formats.
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null || true; } |
  sed -n 's/^URIs: *\([^ ]*\/debian\)\/\{0,1\}$/\1/p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\/debian\)\/\{0,1\} .*/\2/p' |
  head -n 1)
[ -n "$mirror" ] || { echo "side-apt: no Debian mirror in apt's sources" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,state}
if [ -d "$dest" ] && [ -n "$(ls -A "$dest")" ] && [ ! -d "$dest/.real" ]; then
  echo "side-apt: $dest holds something else" >&2; exit 1
fi
rm -rf "$dest"
mkdir -p "$dest/.real"
# With an empty status file nothing counts as installed: apt fetches the whole closure, libc included.
: > "$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > "$work/sources.list"
get=(apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$work/state" -o Dir::State::Lists="$work/lists"
  -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o Debug::NoLocking=1
  -o APT::Install-Recommends=0 -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none
  -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
"${get[@]}" update
"${get[@]}" -y --download-only install "$@"
for deb in "$work"/cache/archives/*.deb; do dpkg -x "$deb" "$dest"; done

machine=$(uname -m)
libraries=$dest/usr/lib/$machine-linux-gnu:$dest/lib/$machine-linux-gnu
loader=$(find "$dest" -name 'ld-linux*.so.*' \( -type f -o -type l \) -exec test -e {} \; -print -quit)
[ -n "$loader" ] || { echo "side-apt: the packages hold no loader" >&2; exit 1; }

wrap() { # FILE: moves an ELF program aside and puts a script in its place
  local file=$1 real
  [ "$(head -c4 "$file" | tail -c3)" = ELF ] || return 0
  real=$dest/.real/$(basename "$file")
  mv "$file" "$real"
  # shellcheck disable=SC2016  # the wrapper expands them
  printf '#!/bin/sh\nexec %s --argv0 "$0" --library-path %s %s "$@"\n' "$loader" "$libraries" "$real" > "$file"
  chmod +x "$file"
}

for package in "$@"; do
  dpkg-deb -c "$work/cache/archives/${package}"_*.deb | awk '$1 ~ /^-..x/ {print $6}' |
    { grep -E '^\./usr/s?bin/' || true; } | while read -r path; do wrap "$dest/${path#./}"; done
done
echo "$suite $*" > "$mark"
