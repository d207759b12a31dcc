#!/bin/bash
# Sysbench's oltp_read_write through the proxy with the exact cache off and on in turn: transactions a second, and the hit ratio of
# its point selects, by the access patterns that people use. Fails if the cache costs throughput or hits less than it should.
#   EXACT_SECONDS  of each slice (8)     EXACT_ROUNDS  of off and on (3)     EXACT_THREADS  clients at a time (2)
#   EXACT_CASES    some of: uniform pareto many-selects
#
# Statements are prepared, as sysbench's default is; each transaction has 10 point selects (many-selects: 100), 4 range selects and 4 writes.
# No cache can reach 77 % of 10 selects beside 3 rows that are written, nor 69 % where the first read of each transaction opens its
# snapshot at the server. The more clients write a hot row (pareto: every fourth statement is of row 1), the more reads of it are of
# transactions that began before its last commit: those are the server's.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh

seconds=${EXACT_SECONDS:-8} rounds=${EXACT_ROUNDS:-3} threads=${EXACT_THREADS:-2}
cases=${EXACT_CASES:-uniform pareto many-selects}
mysql=$(free_address 7133) admin=$(free_address $((${mysql##*:} + 1)))
dir=.run/bench-exact rows=10000

(umask 077 && mkdir -p "$dir")
stage_alone bench-exact demo
stage_lab "$dir" 0
stage_logins "$dir"

bench() { # COMMAND SECONDS OPTIONS...
  local command=$1 time=$2
  shift 2
  sysbench oltp_read_write --config-file="$dir/sysbench.cnf" --mysql-host="${mysql%:*}" --mysql-port="${mysql##*:}" \
    --tables=1 --table-size="$rows" --threads="$threads" --time="$time" "$@" "$command"
}

options_of() {
  case $1 in
    uniform) echo --rand-type=uniform ;;
    pareto) echo --rand-type=pareto ;;
    many-selects) echo --rand-type=uniform --point-selects=100 ;;
    *) echo "bench-exact: there is no case $1" >&2; return 1 ;;
  esac
}

# Percent of point selects that have to be hits.
wanted_of() { case $1 in many-selects) echo 90 ;; *) echo 62 ;; esac; }

switch() { # 0 or 1
  admin "SET mysql-query_cache_type=$1; LOAD MYSQL VARIABLES TO RUNTIME; PROXYSQL FLUSH QUERY CACHE"
  [ "$1" = 0 ] && return
  for _ in $(seq 100); do
    mariadb --defaults-file="$dir/client.cnf" -h "${mysql%:*}" -P "${mysql##*:}" sbtest -e 'SELECT c FROM sbtest1 WHERE id=1' > /dev/null
    [ "$(admin 'SELECT COUNT(*) FROM stats_query_cache_entries')" = 0 ] || return 0
    sleep 0.1
  done
  echo "bench-exact: nothing is cached:" >&2
  mariadb --defaults-file="$dir/client.cnf" -h "${mysql%:*}" -P "${mysql##*:}" sbtest -e 'EXPLAIN CACHE SELECT c FROM sbtest1 WHERE id=1' >&2
  return 1
}

point_hits() { # hits and executions of point selects since it was asked last
  admin "SELECT hostgroup, count_star FROM stats_mysql_query_digest_reset WHERE digest_text LIKE 'SELECT c FROM sbtest% WHERE id=?'" |
    awk '{all += $2} $1 == -1 {hits += $2} END {print hits + 0, all + 0}'
}

slice() { # OPTIONS...: transactions a second
  bench run 2 "$@" > "$dir/warm.log"
  point_hits > /dev/null
  bench run "$seconds" "$@" | sed -n 's/^ *transactions: .*(\([0-9.]*\) per.*/\1/p'
}

server "DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest"
rm -rf "$dir/nuthatch"
stage_proxy "$dir" "$mysql" "$admin"
stage_wait "$mysql"
stage_wait "$admin"
bench prepare 1 > /dev/null

printf '%s clients, %s rounds of %s s, %s rows\n' "$threads" "$rounds" "$seconds" "$rows"
failed=0
for case in $cases; do
  options=$(options_of "$case")
  ratios='' hits=0 all=0
  for round in $(seq "$rounds"); do
    # shellcheck disable=SC2086  # options are words
    { switch 0; off=$(slice $options); switch 1; on=$(slice $options); }
    read -r more_hits more < <(point_hits)
    hits=$((hits + more_hits)) all=$((all + more))
    ratio=$(awk "BEGIN {printf \"%.3f\", $on / $off}")
    ratios+="$ratio "
    printf '%-14s round %s  off %8s  on %8s transactions/s  ratio %s\n' "$case" "$round" "$off" "$on" "$ratio"
  done
  median=$(tr ' ' '\n' <<< "$ratios" | sed '/^$/d' | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')
  percent=$(awk "BEGIN {printf \"%.1f\", $all ? 100 * $hits / $all : 0}")
  wanted=$(wanted_of "$case")
  verdict=met
  awk "BEGIN {exit !($median > 1 && $percent > $wanted)}" || { verdict=MISSED failed=1; }
  printf '%-14s %s: on/off %s (wanted above 1), point selects hit %s %% of %s (wanted above %s %%)\n' \
    "$case" "$verdict" "$median" "$percent" "$all" "$wanted"
done
exit "$failed"
