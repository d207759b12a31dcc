#!/bin/bash
# A lab (a primary and a replica) and the proxy in front of its primary, until Ctrl-C. Data stays in .run. One at a time in a checkout: another
# says how to reach the first, and fails.
#   NUTHATCH                        the program, if it is not to be built
#   NUTHATCH_MYSQL, NUTHATCH_ADMIN  other addresses to listen on than 127.0.0.1:6033 and 127.0.0.1:6032
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh

mysql=${NUTHATCH_MYSQL:-127.0.0.1:6033} admin=${NUTHATCH_ADMIN:-127.0.0.1:6032}
stage_alone run run
stage_lab .run 1
stage_proxy .run "$mysql" "$admin"
stage_wait "$mysql"
stage_wait "$admin"

reached=$(cat <<END

  MySQL  mariadb -h ${mysql%:*} -P ${mysql##*:} -u $lab_user -p"\$(cat .run/lab/password)" test
  admin  mariadb -h ${admin%:*} -P ${admin##*:} -u admin -padmin
  log    .run/nuthatch.log

END
)
stage_tell "$reached" ""
cat <<END

Nuthatch is ready, in front of a real server with one replica.
$reached

Ctrl-C stops the proxy and the servers.
END
trap 'exit 0' INT  # the usual way to end this
wait "$proxy_pid" || { code=$?; echo "nuthatch ended by itself; end of its log:" >&2; tail -n 20 .run/nuthatch.log >&2; exit "$code"; }
