#!/bin/bash
# Sysbench's selects by primary key and by range, directly and through the proxy with the cache off and on: one table.
#   DEMO_SECONDS  of each of the six runs (8)         DEMO_THREADS  clients at a time (8)
# The proxy takes the first free ports from 7033 on, so that `make run` may run beside it; a second demo says that one runs, and fails.
#
# The cache is switched on as an operator would do it: one rule with a cache_ttl of 5 s for each digest that was seen.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh

seconds=${DEMO_SECONDS:-8} threads=${DEMO_THREADS:-8}
mysql=$(free_address 7033) admin=$(free_address $((${mysql##*:} + 1)))
dir=.run/demo
tables=4 rows=10000 ttl_ms=5000

point="oltp_point_select"
range="oltp_read_only --point_selects=0 --simple_ranges=1 --sum_ranges=0 --order_ranges=0 --distinct_ranges=0"

bench() { # ADDR COMMAND TEST OPTIONS...
  local address=$1 command=$2
  shift 2
  sysbench --config-file="$dir/sysbench.cnf" --mysql-host="${address%:*}" --mysql-port="${address##*:}" \
    --tables="$tables" --table-size="$rows" --threads="$threads" --time="$seconds" --db-ps-mode=disable \
    --skip_trx=on "$@" "$command"
}

selects_of_server() { server "SHOW GLOBAL STATUS LIKE 'Com_select'" | cut -f 2; }

# Share of statements that the proxy answered from its cache (hostgroup -1), in percent; clears the counters.
hit_percent() {
  admin "SELECT hostgroup, count_star FROM stats_mysql_query_digest_reset WHERE digest_text LIKE 'SELECT c FROM sbtest%'" |
    awk '{all += $2} $1 == -1 {hits += $2} END {if (all) printf "%.1f %%", 100 * hits / all; else print "-"}'
}

cache_seen_digests() {
  local digest id=0 sql="DELETE FROM mysql_query_rules;"
  for digest in $(admin "SELECT DISTINCT digest FROM stats_mysql_query_digest WHERE digest_text LIKE 'SELECT c FROM sbtest%'"); do
    id=$((id + 1))
    sql+="INSERT INTO mysql_query_rules (rule_id, active, digest, cache_ttl, apply) VALUES ($id, 1, '$digest', $ttl_ms, 1);"
  done
  [ "$id" != 0 ] || { echo "demo: the proxy has seen no digest" >&2; return 1; }
  admin "$sql LOAD MYSQL QUERY RULES TO RUNTIME"
}

cache_nothing() { admin "DELETE FROM mysql_query_rules; LOAD MYSQL QUERY RULES TO RUNTIME; PROXYSQL FLUSH QUERY CACHE"; }

row() { printf '  %-22s %-16s %9s %9s %9s %17s\n' "$@"; }

measure() { # NAME WAY ADDR TEST OPTIONS...: runs one benchmark and prints its row
  local name=$1 way=$2 address=$3 before after out qps p95 hits=-
  shift 3
  before=$(selects_of_server)
  out=$(bench "$address" run "$@") || { echo "$out" >&2; return 1; }
  after=$(selects_of_server)
  qps=$(sed -n 's/^ *queries: .*(\([0-9]*\)\..*/\1/p' <<< "$out")
  p95=$(sed -n 's/^ *95th percentile: *//p' <<< "$out")
  [ "$way" = cached ] && hits=$(hit_percent)
  row "$name" "$way" "$qps" "$p95" "$hits" "$((after - before))"
}

compare() { # NAME TEST OPTIONS...
  local name=$1
  shift
  measure "$name" direct "127.0.0.1:$lab_port" "$@"
  cache_nothing
  admin "SELECT 1 FROM stats_mysql_query_digest_reset LIMIT 1" > /dev/null
  measure "$name" "cache off" "$mysql" "$@"
  cache_seen_digests
  admin "SELECT 1 FROM stats_mysql_query_digest_reset LIMIT 1" > /dev/null
  measure "$name" cached "$mysql" "$@"
}

stage_alone demo demo
stage_lab "$dir" 0
stage_logins "$dir"
server "DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest"
echo "loading $tables tables of $rows rows"
bench "127.0.0.1:$lab_port" prepare oltp_point_select > /dev/null
rm -rf "$dir/nuthatch"
stage_proxy "$dir" "$mysql" "$admin"
stage_wait "$mysql"
stage_wait "$admin"

printf '\n  %s clients, %s s a run, %s tables of %s rows, cache_ttl %s ms\n\n' "$threads" "$seconds" "$tables" "$rows" "$ttl_ms"
row select way QPS "p95 ms" hits "backend queries"
# shellcheck disable=SC2086  # the tests' options are words
{ compare "by primary key" $point; compare "by range of 100" $range; }
echo
