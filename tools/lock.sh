# shellcheck shell=bash
# Sourced: at most one of each name in a checkout.
#
#   lock_or_tell NAME        takes the lock of that name, for as long as this process lives; or says what who has it has noted, and fails
#   lock_note NAME LINE...   what others are told meanwhile
#   end_orphan DIR           ends the proxy that a killed run has left there
#
# The kernel gives the lock back when its process ends, however it ends. What is started and may outlive this process must not have it:
# COMMAND {lock}>&-

lock_or_tell() {
  (umask 077 && mkdir -p .run)
  exec {lock}>> ".run/$1.lock"
  # A command of a run that was killed may be ending still.
  flock -w 1 "$lock" && return
  cat ".run/$1.lock" >&2
  return 1
}

lock_note() {
  local name=$1
  shift
  printf '%s\n' "$@" > ".run/$name.lock"
}

end_orphan() {
  local pid
  pid=$(cat "$1/nuthatch.pid" 2> /dev/null) || return 0
  [[ $pid =~ ^[0-9]+$ ]] && tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -qF -- "--datadir $1/nuthatch " || return 0
  [ "$(readlink "/proc/$pid/cwd")" = "$PWD" ] || return 0
  echo "ending process $pid, which a run that was killed has left"
  local signal
  for signal in TERM KILL; do
    kill -"$signal" "$pid" 2> /dev/null || return 0
    for _ in $(seq 100); do kill -0 "$pid" 2> /dev/null || return 0; sleep 0.1; done
  done
}
