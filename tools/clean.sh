#!/bin/bash
# Remove the labs of `make run`, `make demo`, `make demo-failover` and `make bench-exact`, and what was built. What runs is left alone: this then fails.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lock.sh
for name in run demo demo-failover bench-exact; do
  lock_or_tell "$name" || exit 1
  lock_note "$name" "make clean runs in this checkout, as process $$."
done
for dir in .run .run/demo .run/demo-failover .run/bench-exact; do end_orphan "$dir"; done
nuthatch=${CARGO_TARGET_DIR:-target}/release/nuthatch
for lab in .run/lab .run/demo/lab .run/demo-failover/lab .run/bench-exact/lab; do
  [ -e "$lab/lab.json" ] || continue
  [ -x "$nuthatch" ] || { echo "clean: the servers of $lab may run, and $nuthatch is not there to stop them" >&2; exit 1; }
  "$nuthatch" lab down "$lab"
done
rm -rf .run
cargo clean
