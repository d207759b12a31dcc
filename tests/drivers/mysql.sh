#!/bin/bash
# Oracle MySQL (of Debian sid, unpacked beside the system) through the proxy: logins of every kind with its own client, and the
# sessions of PyMySQL. Needs what `make deps` installs, and the program in $NUTHATCH.
set -euo pipefail
here=$(dirname "$0")
servers=$(realpath "${CARGO_TARGET_DIR:-$here/../../target}")/servers
[ -x "$servers/mysql/usr/sbin/mysqld" ] || "$here/../../tools/side-apt.sh" "$servers/mysql" sid mysql-server-core mysql-client-core > /dev/null
exec /usr/bin/python3 -B "$here/mysql_suite.py" "$servers/mysql" "$@"
