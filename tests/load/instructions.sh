#!/bin/bash
# User instructions a query against those that are kept in bench/instructions.json: nothing may have become dearer by more than 3 %.
# With another compiler, C library or kind of processor than theirs it says that it compares nothing.
set -u
bench=$(dirname "$NUTHATCH")/nuthatch-bench
cd "$(dirname "$0")/../.." || exit 1
cargo build --release --locked --quiet -p nuthatch-bench || { echo "0 passed, 1 failed"; exit 1; }
if "$bench" callgrind --nuthatch "$NUTHATCH" --check bench/instructions.json; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
