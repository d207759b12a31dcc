#!/bin/bash
# The tests with servers that this Debian does not have, the lab's and those of session variables. The servers are fetched
# once, to target/servers.
set -euo pipefail
cd "$(dirname "$0")/.."
servers=$(realpath "${CARGO_TARGET_DIR:-target}")/servers
tools/side-apt.sh "$servers/mysql" sid mysql-server-core mysql-client-core
tools/side-apt.sh "$servers/mariadb" trixie mariadb-server-core mariadb-server mariadb-client-core mariadb-client
export NUTHATCH_MYSQL_ROOT=$servers/mysql NUTHATCH_MARIADB_ROOT=$servers/mariadb
cargo test -p nuthatch-lab --test beside --locked -- --ignored
cargo test -p nuthatch --test e2e --locked session::assignments -- --ignored
cargo test -p nuthatch --test e2e --locked cache::hints -- --ignored
cargo test -p nuthatch --test e2e --locked session::bulk -- --ignored
cargo test -p nuthatch --test e2e --locked cache::exact::followed -- --test-threads 2
