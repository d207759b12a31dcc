#!/bin/bash
# 600 clients through the proxy for a few seconds: every last insert id right, no insert lost, at most 30 connections to the
# server. The short form of `nuthatch-bench multiplex`, which also judges speed.
set -u
bench=$(dirname "$NUTHATCH")/nuthatch-bench
cd "$(dirname "$0")/../.." || exit 1
cargo build --release --locked --quiet -p nuthatch-bench || { echo "0 passed, 1 failed"; exit 1; }
if "$bench" multiplex --nuthatch "$NUTHATCH" --alone --gate --repetitions 2 --warmup-seconds 0 --seconds 3; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
