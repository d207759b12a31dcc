#!/bin/bash
# Stop and remove the labs of `make run` and `make demo`, then remove what was built.
set -euo pipefail
cd "$(dirname "$0")/.."
nuthatch=${CARGO_TARGET_DIR:-target}/release/nuthatch
for lab in .run/lab .run/demo/lab; do
  [ -e "$lab/lab.json" ] || continue
  [ -x "$nuthatch" ] || { echo "clean: the servers of $lab may run, and $nuthatch is not there to stop them" >&2; exit 1; }
  "$nuthatch" lab down "$lab"
done
rm -rf .run
cargo clean
