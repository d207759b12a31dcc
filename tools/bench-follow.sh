#!/bin/bash
# What following the binlog costs: commits a second of clients that go straight to the server, and the processor time that the proxy takes
# for what it reads, with mysql-query_cache_follow off, bounded and exact in turn.
#   FOLLOW_SECONDS  of each slice (5)     FOLLOW_ROUNDS  of all levels (3)     FOLLOW_WRITERS  clients at a time (1 16)
#   FOLLOW_ROWS     rows that statements of 100 rows each change in a slice (200000)
#
# A tick of processor time is 10 ms, so slices must take some seconds. Commits are of one row (sysbench's oltp_update_index); the proxy
# learns one column, so rows are read for keys and for what they hold.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh

seconds=${FOLLOW_SECONDS:-5} rounds=${FOLLOW_ROUNDS:-3} writers=${FOLLOW_WRITERS:-1 16} changed=${FOLLOW_ROWS:-200000}
mysql=$(free_address 7143) admin=$(free_address $((${mysql##*:} + 1)))
dir=.run/bench-follow rows=10000

(umask 077 && mkdir -p "$dir")
stage_alone bench-follow demo
stage_lab "$dir" 0
stage_logins "$dir"

bench() { # COMMAND THREADS
  sysbench oltp_update_index --config-file="$dir/sysbench.cnf" --mysql-host=127.0.0.1 --mysql-port="$lab_port" \
    --tables=1 --table-size="$rows" --threads="$2" --time="$seconds" "$1"
}

learn() {
  for _ in 1 2; do
    mariadb --defaults-file="$dir/client.cnf" -h "${mysql%:*}" -P "${mysql##*:}" sbtest -e 'SELECT c FROM sbtest1 WHERE k = 5000' > /dev/null
  done
}

switch() { # LEVEL
  local semi_sync=OFF mode='' want
  [ "$1" = exact ] && semi_sync=ON
  want=$([ "$1" = off ] || echo "$1")
  admin "SET mysql-query_cache_follow='$1'; LOAD MYSQL VARIABLES TO RUNTIME"
  server "SET GLOBAL rpl_semi_sync_master_enabled=$semi_sync"
  for _ in $(seq 200); do
    learn
    mode=$(admin 'SELECT mode FROM stats_query_cache_follow')
    [ "$mode" = "$want" ] && return
    sleep 0.1
  done
  echo "bench-follow: it does not come to be $1: $(admin 'SELECT mode, why FROM stats_query_cache_follow')" >&2
  return 1
}

ticks() { awk '{print $14 + $15}' "/proc/$proxy_pid/stat"; }

# Returns when the proxy has read all that the server has written, if it reads.
caught_up() {
  [ "$1" = off ] && return
  local end position
  end=$(server 'SHOW MASTER STATUS' | awk '{sub(/.*\./, "", $1); printf "%06d:%d", $1, $2}')
  for _ in $(seq 600); do
    position=$(admin 'SELECT position FROM stats_query_cache_follow')
    awk -v a="$position" -v b="$end" 'BEGIN {split(a, x, ":"); split(b, y, ":"); exit !(x[1] + 0 > y[1] + 0 || x[1] + 0 == y[1] + 0 && x[2] + 0 >= y[2] + 0)}' && return
    sleep 0.1
  done
  echo "bench-follow: the proxy is at $position, the server at $end" >&2
  return 1
}

tell() { # ROUND LEVEL WHAT COUNT PER-SECOND TICKS
  local cpu_us
  cpu_us=$(awk "BEGIN {printf \"%.2f\", $6 * 1e4 / $4}")
  printf 'round %s  %-8s %-22s %8.0f/s  proxy %6s us each\n' "$1" "$2" "$3" "$5" "$cpu_us"
  printf '%s\t%s\t%s\t%s\n' "$3" "$2" "$5" "$cpu_us" >> "$dir/figures"
}

server "DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest; DROP DATABASE IF EXISTS nuthatch; CREATE DATABASE nuthatch;
  CREATE TABLE nuthatch.marker (id INT UNSIGNED PRIMARY KEY, at BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB;
  SET GLOBAL rpl_semi_sync_master_timeout=1000; SET GLOBAL rpl_semi_sync_master_wait_point=AFTER_SYNC"
rm -rf "$dir/nuthatch" "$dir/figures"
stage_proxy "$dir" "$mysql" "$admin"
stage_wait "$mysql"
stage_wait "$admin"
bench prepare 1 > /dev/null
admin "SET mysql-query_cache_type=1; SET mysql-query_cache_follow_username='$lab_user'; SET mysql-query_cache_follow_password='$(cat "$lab_password_file")'; LOAD MYSQL VARIABLES TO RUNTIME"
seq 0 $((changed / 100 - 1)) | awk -v rows="$rows" '{from = $1 * 100 % rows + 1; print "UPDATE sbtest1 SET k = k + 1 WHERE id BETWEEN " from " AND " from + 99 ";"}' > "$dir/statements.sql"

for round in $(seq "$rounds"); do
  for level in off bounded exact; do
    switch "$level"
    for count in $writers; do
      before=$(ticks)
      read -r transactions rate < <(bench run "$count" | sed -n 's/^ *transactions: *\([0-9]*\) *(\([0-9.]*\) per.*/\1 \2/p')
      caught_up "$level"
      tell "$round" "$level" "commits, $count writers" "$transactions" "$rate" $(($(ticks) - before))
    done
    before=$(ticks) began=$(date +%s%N)
    mariadb --defaults-file="$dir/client.cnf" -h 127.0.0.1 -P "$lab_port" sbtest < "$dir/statements.sql"
    took=$(($(date +%s%N) - began))
    caught_up "$level"
    tell "$round" "$level" "rows, 100 in each" "$changed" "$(awk "BEGIN {print $changed * 1e9 / $took}")" $(($(ticks) - before))
  done
done

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
of() { awk -F '\t' -v what="$1" -v level="$2" -v column="$3" '$1 == what && $2 == level {print $column}' "$dir/figures"; }

cut -f 1 "$dir/figures" | awk '!seen[$0]++' | while read -r what; do
  base=$(of "$what" off 3 | median)
  for level in off bounded exact; do
    rate=$(of "$what" "$level" 3 | median)
    printf 'median  %-22s %-8s %8.0f/s, %.2f of off; proxy %s us each\n' \
      "$what" "$level" "$rate" "$(awk "BEGIN {print $rate / $base}")" "$(of "$what" "$level" 4 | median)"
  done
done
