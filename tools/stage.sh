# shellcheck shell=bash
# Sourced by tools/run.sh, tools/demo.sh, tools/demo-failover.sh, tools/bench-exact.sh and tools/bench-follow.sh: a lab and a proxy in front of it, both gone when the script ends.
#
#   stage_alone NAME DEPS        at most one of that name in this checkout from here on, or this ends; then builds
#                                the program, unless $NUTHATCH names one
#   stage_tell LINE...           what the next one of that name is told
#   stage_lab DIR REPLICAS       brings up DIR/lab; sets lab_port (the primary's) and lab_user, lab_password_file
#   stage_proxy DIR MYSQL ADMIN  starts the proxy on the two addresses; sets proxy_pid; its log is DIR/nuthatch.log
#   stage_logins DIR             DIR/client.cnf and DIR/sysbench.cnf (schema sbtest): no password shows in the process list
#   server SQL                   asks the primary, by the logins in $dir
#   admin SQL                    asks the proxy that listens on $admin for operators
#   stage_wait ADDR              the proxy accepts there; fails with the end of its log
#
# The proxy runs in a process group of its own, so that Ctrl-C reaches this script only, which then ends it once.

. tools/lock.sh
nuthatch=${NUTHATCH:-${CARGO_TARGET_DIR:-target}/release/nuthatch}
proxy_pid='' lab_dir='' stage_dir='' stage_name=''

stage_alone() {
  stage_name=$1
  lock_or_tell "$1" || exit 1
  stage_tell "It is being built or started."
  [ -n "${NUTHATCH:-}" ] && return
  tools/deps.sh "$2" {lock}>&-
  cargo build --release {lock}>&-
}

stage_tell() { lock_note "$stage_name" "make $stage_name runs in this checkout, as process $$." "$@" "To stop it: Ctrl-C there, or kill $$"; }

stage_lab() {
  stage_dir=$1 lab_dir=$1/lab
  (umask 077 && mkdir -p "$1")
  end_orphan "$1"
  "$nuthatch" lab up "$lab_dir" --replicas "$2" {lock}>&-
  local status
  status=$("$nuthatch" lab status "$lab_dir" --json)
  lab_port=$(field port <<< "$status")
  lab_user=$(field user <<< "$status")
  lab_password_file=$(field password_file <<< "$status")
}

# The first value of a key in JSON; the primary is the first server.
field() { tr -d '\n' | sed 's/"'"$1"'"/\n&/' | sed -n '2s/^"[^"]*" *: *"\{0,1\}\([^",}]*\).*/\1/p'; }

stage_proxy() {
  local address
  for address in "$2" "$3"; do
    if accepts "$address"; then echo "something listens on $address already" >&2; return 1; fi
  done
  set -m
  "$nuthatch" serve --datadir "$1/nuthatch" --backend "127.0.0.1:$lab_port" --user "$lab_user:@$lab_password_file" \
    --mysql "$2" --admin "$3" < /dev/null > "$1/nuthatch.log" 2>&1 {lock}>&- &
  proxy_pid=$!
  set +m
  echo "$proxy_pid" > "$1/nuthatch.pid" # for end_orphan
}

stage_logins() {
  local password
  password=$(cat "$lab_password_file")
  (umask 077
    printf '[client]\nuser=%s\npassword="%s"\n' "$lab_user" "$password" > "$1/client.cnf"
    printf 'mysql-user=%s\nmysql-password=%s\nmysql-db=sbtest\n' "$lab_user" "$password" > "$1/sysbench.cnf")
}

server() { mariadb --defaults-file="$dir/client.cnf" -h 127.0.0.1 -P "$lab_port" -N -B -e "$1"; }

# By its standard input, as it may hold a password.
admin() { mariadb --no-defaults -h "${admin%:*}" -P "${admin##*:}" -u admin -padmin -N -B <<< "$1"; }

# The first address of this host from that port on where nothing listens.
free_address() {
  local port=$1
  while accepts "127.0.0.1:$port"; do port=$((port + 1)); done
  echo "127.0.0.1:$port"
}

accepts() { (: < "/dev/tcp/${1%:*}/${1##*:}") 2> /dev/null; }

stage_wait() {
  for _ in $(seq 600); do
    accepts "$1" && return
    runs "$proxy_pid" || break
    sleep 0.1
  done
  echo "nuthatch does not accept on $1; end of its log:" >&2
  tail -n 20 "$stage_dir/nuthatch.log" >&2
  return 1
}

runs() { kill -0 "$1" 2> /dev/null; }

stage_stop() {
  local code=$?
  if [ -n "$proxy_pid" ]; then
    # A second Ctrl-C is the proxy's second signal: it then stops at once.
    trap 'kill -TERM "$proxy_pid" 2> /dev/null' INT TERM HUP
    kill -TERM "$proxy_pid" 2> /dev/null || true
    for _ in $(seq 600); do runs "$proxy_pid" || break; sleep 0.1; done
    kill -KILL "$proxy_pid" 2> /dev/null && { echo "nuthatch did not stop within 60 s: killed" >&2; code=1; }
  fi
  trap '' INT TERM HUP
  [ ! -e "$lab_dir/lab.json" ] || "$nuthatch" lab down "$lab_dir" {lock}>&- || code=1
  exit "$code"
}

trap stage_stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
