#!/bin/bash
# Stop and remove the labs of `make run` and `make demo`, then remove what was built.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/stage.sh
for stage in .run .run/demo; do
  [ -e "$stage/lab/lab.json" ] || continue
  [ -x "$nuthatch" ] || { echo "clean: $stage/lab may run; build first to stop it" >&2; exit 1; }
  "$nuthatch" lab down "$stage/lab"
done
rm -rf .run
cargo clean
