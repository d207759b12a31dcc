#!/bin/bash
# Install what a recipe of the Makefile needs from Debian, and check that Rust is there.
#   tools/deps.sh run    to build the program and to try it on a real server
#   tools/deps.sh demo   the same and sysbench
#   tools/deps.sh test   everything that CI runs
#   tools/deps.sh galera   `nuthatch lab up --galera`
#   tools/deps.sh instructions   `make instructions`
#   tools/deps.sh mtr    MariaDB's own tests through the proxy
#   tools/deps.sh apps   WordPress and MediaWiki through the proxy
# Says which packages are missing before it installs them; asks nothing; as root, or with sudo where it needs no password.
# Only programs are installed (mariadb-server-core, not mariadb-server): no server is started or enabled on this machine.
set -euo pipefail

rust_min=1.95
rustup="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . \"\$HOME/.cargo/env\""

# Each line: the package, and what shows that it is not needed (a program, or a file).
run="
gcc                  gcc
libc6-dev            /usr/include/stdlib.h
mariadb-server-core  /usr/sbin/mariadbd
mariadb-client-core  /usr/bin/mariadb
"
demo="$run
sysbench             sysbench
"
test="$demo
age                  age
faketime             faketime
galera-4             /usr/lib/galera/libgalera_smm.so
golang-go            go
mariadb-backup       mariadb-backup
mariadb-client       mariadb-dump
mycli                mycli
openssh-client       ssh
openssh-server       /usr/sbin/sshd
python3              /usr/bin/python3
python3-cryptography /usr/lib/python3/dist-packages/cryptography
python3-pymysql      /usr/lib/python3/dist-packages/pymysql
systemd              systemd-analyze
valgrind             valgrind
"

galera="$run
galera-4             /usr/lib/galera/libgalera_smm.so
"

instructions="$run
valgrind             valgrind
"

mtr="$run
perl                 perl
python3              /usr/bin/python3
python3-pymysql      /usr/lib/python3/dist-packages/pymysql
"

apps="$mtr
php8.2-cli           php8.2
php8.2-mysql         /usr/share/doc/php8.2-mysql
php8.2-xml           /usr/share/doc/php8.2-xml
php8.2-mbstring      /usr/share/doc/php8.2-mbstring
php8.2-intl          /usr/share/doc/php8.2-intl
php8.2-gd            /usr/share/doc/php8.2-gd
"

is_there() { case $1 in /*) [ -e "$1" ] ;; *) command -v "$1" > /dev/null ;; esac; }

missing_of() { while read -r package sign; do [ -z "$package" ] || is_there "$sign" || echo "$package"; done; }

rust_is_new_enough() {
  local found
  found=$(rustc --version 2> /dev/null | awk '{print $2}')
  [ -n "$found" ] && command -v cargo > /dev/null && printf '%s\n%s\n' "$rust_min" "$found" | sort -C -V
}

# As root: runs the command. Otherwise with sudo, which must not ask.
as_root() {
  if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"
  else sudo -n env DEBIAN_FRONTEND=noninteractive "$@"; fi
}

install() {
  if ! command -v apt-get > /dev/null; then
    echo "deps: this is no Debian; install what these packages hold: $*" >&2; exit 1
  fi
  echo "deps: installing $*"
  if [ "$(id -u)" != 0 ] && ! sudo -n true 2> /dev/null; then
    echo "deps: that needs root; run this, then try again:  sudo apt-get install --no-install-recommends $*" >&2; exit 1
  fi
  local log; log=$(mktemp)
  local get=(apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  # The package lists may be missing or old: one more try with new ones.
  if ! as_root "${get[@]}" install --no-install-recommends "$@" > "$log" 2>&1 < /dev/null &&
     ! { as_root "${get[@]}" update && as_root "${get[@]}" install --no-install-recommends "$@"; } > "$log" 2>&1 < /dev/null
  then
    tail -n 20 "$log" >&2; rm -f "$log"
    echo "deps: apt-get could not install $*" >&2; exit 1
  fi
  rm -f "$log"
}

case ${1:-} in
  run) list=$run ;;
  demo) list=$demo ;;
  test) list=$test ;;
  galera) list=$galera ;;
  instructions) list=$instructions ;;
  mtr) list=$mtr ;;
  apps) list=$apps ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
mapfile -t missing < <(missing_of <<< "$list")
rust_is_new_enough || command -v curl > /dev/null || missing+=(curl ca-certificates)
[ "${#missing[@]}" = 0 ] || install "${missing[@]}"
if ! rust_is_new_enough; then
  found=$(rustc --version 2> /dev/null || echo "no Rust")
  printf 'deps: Rust %s or later is needed, and there is %s. This installs it:\n\n    %s\n\n' "$rust_min" "$found" "$rustup" >&2
  exit 1
fi
