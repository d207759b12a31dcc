#!/bin/bash
# Drivers of many languages directly and through the proxy, compared step by step, against servers of its own:
# Debian's MariaDB and an Oracle MySQL, which tools/side-apt.sh fetches to target/servers if it is not there.
#   drivers/run.sh [DRIVER...]                          some, or all; --help lists them
#   drivers/run.sh suites [SUITE...]                    drivers' own test suites; --help lists them
#   drivers/run.sh orm [--part] [SUITE...]              those of Django and SQLAlchemy, with the query cache on
#   drivers/run.sh --server mysql [--root DIR] [DRIVER...]  only one of the servers; or another, unpacked to DIR
# The program under test is named by $NUTHATCH (target/release/nuthatch otherwise). What the drivers need is installed
# from Debian where it is missing, and fetched to drivers/.cache in pinned versions.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
cache=$here/.cache

# Each line: the package, and what shows that it is not needed (a program, or a file).
python="
mariadb-server-core   /usr/sbin/mariadbd
mariadb-client-core   mariadb
python3-dev           /usr/include/python3.11/Python.h
python3-venv          /usr/share/doc/python3-venv
gcc                   gcc
libc6-dev             /usr/include/stdlib.h
pkg-config            pkg-config
libmariadb-dev        /usr/include/mariadb/mysql.h
libssl-dev            /usr/include/openssl/evp.h
openssl               openssl
"
others="
nodejs                node
npm                   npm
maven                 mvn
default-jdk-headless  javac
php-cli               php
php-mysql             /usr/share/doc/php-mysql
golang-go             go
libdbd-mariadb-perl   /usr/share/doc/libdbd-mariadb-perl
libtest-deep-perl     /usr/share/doc/libtest-deep-perl
"
packages=$python
[ "${1:-}" = orm ] || packages+=$others

is_there() { case $1 in /*) [ -e "$1" ] ;; *) command -v "$1" > /dev/null ;; esac; }

as_root() {
  if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"
  else sudo -n env DEBIAN_FRONTEND=noninteractive "$@"; fi
}

missing=()
while read -r package sign; do
  [ -z "$package" ] || is_there "$sign" || missing+=("$package")
done <<< "$packages"
if [ "${#missing[@]}" != 0 ]; then
  echo "drivers: installing ${missing[*]}"
  get=(apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  mkdir -p "$cache"
  if ! { as_root "${get[@]}" update && as_root "${get[@]}" install --no-install-recommends "${missing[@]}"; } \
    > "$cache/apt.log" 2>&1 < /dev/null; then
    tail -n 10 "$cache/apt.log" >&2
    echo "drivers: these packages are needed and could not be installed: ${missing[*]}" >&2
    exit 1
  fi
fi
command -v cargo > /dev/null || { echo "drivers: Rust is needed; 'make deps' says how to get it" >&2; exit 1; }

# Python's drivers live in an environment of their own; the runner uses it too.
venv=$cache/python
if ! cmp -s "$here/python/requirements.txt" "$venv/installed"; then
  mkdir -p "$cache"
  if ! { /usr/bin/python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check \
      -r "$here/python/requirements.txt"; } > "$cache/pip.log" 2>&1 < /dev/null; then
    tail -n 10 "$cache/pip.log" >&2
    echo "drivers: Python's drivers could not be installed (see drivers/.cache/pip.log)" >&2
    exit 1
  fi
  cp "$here/python/requirements.txt" "$venv/installed"
fi
if [ "${1:-}" = orm ]; then exec "$venv/bin/python" -B "$here/orm/run.py" "${@:2}"; fi
if [ "${1:-}" = suites ]; then exec "$venv/bin/python" -B "$here/suites/run.py" "${@:2}"; fi
exec "$venv/bin/python" -B "$here/run.py" "$@"
