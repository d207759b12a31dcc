#!/bin/bash
# Every fuzz target for so many seconds, one after another, from the corpus in the tree.
#   fuzz/run.sh [SECONDS [TARGET...]]
# Stops at the first finding and says where its input is. New inputs are kept in fuzz/target/found, not in the tree.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true

if ! cargo +nightly fuzz --version > /dev/null 2>&1; then
  echo "fuzz: this needs a nightly Rust and cargo-fuzz:" >&2
  echo "fuzz:   rustup toolchain install nightly --profile minimal && cargo install cargo-fuzz --locked" >&2
  exit 1
fi
if ! command -v c++ > /dev/null; then
  echo "fuzz: libFuzzer is built with a C++ compiler: sudo apt-get install --no-install-recommends g++" >&2
  exit 1
fi

# No sanitizer: there is no `unsafe` in these crates, and without one there are twice as many executions.
cargo +nightly fuzz build -s none
targets=("$@")
[ "${#targets[@]}" != 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)
for target in "${targets[@]}"; do
  echo "fuzz: $target"
  mkdir -p "target/found/$target"
  options=(-max_total_time="$seconds" -max_len=400 -timeout=20 -print_final_stats=1)
  case $target in assignments | admin | classify | digest | footprint | held | question | text_prepared | tokens) options+=(-dict=dictionaries/sql.dict) ;; esac
  log=target/found/$target.log
  if ! cargo +nightly fuzz run -s none "$target" "target/found/$target" "corpus/$target" -- "${options[@]}" > "$log" 2>&1
  then
    grep -E -A8 'panicked at|SUMMARY|ERROR:' "$log" >&2 || tail -n 20 "$log" >&2
    echo "fuzz: $target found something: the input is in fuzz/artifacts/$target, all of its words in fuzz/$log" >&2
    exit 1
  fi
  echo "fuzz: $target: $(awk '/number_of_executed_units/ {print $2}' "$log") executions, no finding"
done
