#!/bin/bash
# A primary that is killed under load, and what clients notice: statements and errors in each tenth of a second, drawn.
#   DEMO_SECONDS  of the whole (5); the primary is killed after 2        DEMO_THREADS  clients at a time (16)
# A primary and two replicas, mysql-failover = auto, all else at its defaults. The proxy takes the first free ports from 7033 on.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh

seconds=${DEMO_SECONDS:-5} threads=${DEMO_THREADS:-16}
mysql=$(free_address 7033) admin=$(free_address $((${mysql##*:} + 1)))
dir=.run/demo-failover

# The accounts that change who writes, from the files that the lab has made.
accounts() {
  local duty
  for duty in monitor failover replication; do
    echo "SET mysql-${duty}_username = 'nuthatch_$duty';"
    echo "SET mysql-${duty}_password = '$(cat "$dir/lab/nuthatch_$duty.password")';"
  done
}

configure() {
  local ports port
  ports=$("$nuthatch" lab status "$dir/lab" | awk '/^replica-/ {print $3}')
  for port in $ports; do
    echo "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (1, '127.0.0.1', $port);"
  done
  echo "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (0, 1);"
  echo "LOAD MYSQL SERVERS TO RUNTIME;"
  accounts
  echo "SET mysql-failover = 'auto'; LOAD MYSQL VARIABLES TO RUNTIME;"
}

stage_alone demo-failover demo
rm -rf "$dir/nuthatch"
[ ! -e "$dir/lab" ] || { "$nuthatch" lab down "$dir/lab"; rm -rf "$dir/lab"; } # who was promoted once is no replica any more
stage_lab "$dir" 2
stage_proxy "$dir" "$mysql" "$admin"
stage_wait "$mysql"
stage_wait "$admin"
admin "$(configure)"
for _ in $(seq 100); do
  [ "$(admin "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IN ('writer', 'reader')")" = 3 ] && break
  sleep 0.1
done
login=(-h "${mysql%:*}" -P "${mysql##*:}" -u "$lab_user")
query() { MYSQL_PWD=$(cat "$lab_password_file") mariadb --no-defaults "${login[@]}" -N -B -e "$1"; }
query "CREATE TABLE test.demo (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)"
for role in replica-1 replica-2; do # what is replicated before the kill is not what is shown
  for _ in $(seq 100); do
    MYSQL_PWD=$(cat "$lab_password_file") mariadb --no-defaults -S "$dir/lab/$role.sock" -u "$lab_user" -e "SELECT 1 FROM test.demo" 2> /dev/null && break
    sleep 0.1
  done
done

printf '\n  %s clients insert rows, one statement at a time; the primary is killed (SIGKILL) after 2 s\n\n' "$threads"
"${nuthatch}-bench" timeline --target "$mysql" --user "$lab_user" --password-file "$lab_password_file" \
  --statement "INSERT INTO test.demo (v) VALUES (1)" --clients "$threads" --seconds "$seconds" --after 2 --mark "SIGKILL of the primary" \
  -- "$nuthatch" lab kill "$dir/lab" primary
echo "$(query "SELECT COUNT(*) FROM test.demo") rows are there; acknowledged and lost with the old primary: $(admin \
  "SELECT COALESCE(SUM(count), 0) FROM stats_nuthatch_lost_transactions WHERE known_by = 'acknowledged'")"
echo
