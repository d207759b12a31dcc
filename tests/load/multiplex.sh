#!/bin/bash
# 200 clients through the proxy for a few seconds: every last insert id right, no insert lost. The short form of
# `nuthatch-bench multiplex`, which also judges speed and the number of backend connections.
set -u
# The pool opens a connection for whoever finds none idle; the limit of a twentieth (10) waits for issue 4.
backends_max=200
bench=$(dirname "$NUTHATCH")/nuthatch-bench
cd "$(dirname "$0")/../.." || exit 1
cargo build --release --locked --quiet -p nuthatch-bench || { echo "0 passed, 1 failed"; exit 1; }
if "$bench" multiplex --nuthatch "$NUTHATCH" --alone --gate --clients 200 --repetitions 2 --warmup-seconds 0 \
  --seconds 3 --backends-max "$backends_max"; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
