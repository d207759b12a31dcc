#!/bin/bash
# 600 clients through the proxy for a few seconds: every last insert id right, no insert lost, at most 30 connections to the
# server; then while the primary of three servers changes: no error, and no stall. The short form of `nuthatch-bench multiplex`, which
# also judges speed.
set -u
bench=$(dirname "$NUTHATCH")/nuthatch-bench
cd "$(dirname "$0")/../.." || exit 1
cargo build --release --locked --quiet -p nuthatch-bench || { echo "0 passed, 1 failed"; exit 1; }
short=("$bench" multiplex --nuthatch "$NUTHATCH" --gate --warmup-seconds 0)
passed=0
"${short[@]}" --alone --repetitions 2 --seconds 3 && passed=$((passed + 1))
"${short[@]}" --switchovers 3 --repetitions 1 --seconds 6 && passed=$((passed + 1))
echo "$passed passed, $((2 - passed)) failed"
[ "$passed" = 2 ]
