#!/bin/bash
# Every test: cargo's, then each suite tests/*/*.sh. The last line is the sum, `N passed, N failed`.
#
# A suite is a script that prints a line `N passed, N failed` last and exits 0 only if nothing failed. It finds the
# program to test in $NUTHATCH. One that fails without such a line counts as one failure. What failed, and in which words,
# stands once more right above the sum, where it is seen in a log that was cut.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 names=()

# count PASSED FAILED EXIT NAME: adds up; a failure that no line told of is counted once.
count() {
  passed=$((passed + $1)) failed=$((failed + $2))
  [ "$3" = 0 ] || names+=("$4")
  if [ "$3" != 0 ] && [ "$2" = 0 ]; then
    failed=$((failed + 1))
    echo "$4 failed (exit $3)" >&2
  fi
}

# cargo_test ARGS...: one `cargo test` of the workspace, counted.
cargo_test() {
  local begun=$SECONDS code ok bad
  cargo test --workspace --no-fail-fast --locked "$@" 2>&1 < /dev/null | tee "$log"
  code=${PIPESTATUS[0]}
  read -r ok bad < <(awk '/^test result:/ {ok += $4; bad += $6} END {print ok + 0, bad + 0}' "$log")
  count "$ok" "$bad" "$code" "cargo test $*"
  mapfile -t -O "${#names[@]}" names < <(awk '/^test .* \.\.\. FAILED$/ {print $2}
    /^thread .* panicked at / {print; more = 12; next}
    /^(note: run with|stack backtrace|----|test |$)/ {more = 0}
    more > 0 {print "  " $0; more--}' "$log" | head -100 | cut -c -400)
  echo "== cargo test $* took $((SECONDS - begun)) s"
}

# Those wait for servers more than they compute, and instances most of all.
waiting=() others=() instances=()
for file in crates/*/tests/*.rs crates/*/tests/*/main.rs; do
  name=$(basename "${file%/main.rs}" .rs)
  case $name in
    e2e | failing | real | mariadb) waiting+=(--test "$name") ;;
    instances) instances+=(--test "$name") ;;
    *) others+=(--test "$name") ;;
  esac
done
shopt -s nullglob
suites=(tests/*/*.sh)
cargo_test --lib --bins --examples "${others[@]}"
# The program of the suites is built meanwhile, by what the tests leave of the processors.
building=""
if [ "${#suites[@]}" != 0 ]; then
  nice -n 19 cargo build --release --locked --quiet &
  building=$!
fi
cargo_test "${waiting[@]}" -- --test-threads "$((($(nproc) * 3 + 1) / 2))"
cargo_test "${instances[@]}" -- --test-threads "$(($(nproc) * 2))"
cargo_test --doc

if [ "${#suites[@]}" != 0 ]; then
  if wait "$building"; then
    NUTHATCH=$(realpath "${CARGO_TARGET_DIR:-target}/release/nuthatch")
    export NUTHATCH
    for suite in "${suites[@]}"; do
      echo "== $suite"
      begun=$SECONDS
      bash "$suite" 2>&1 < /dev/null | tee "$log"
      code=${PIPESTATUS[0]}
      read -r ok bad < <(awk '/^[0-9]+ passed, [0-9]+ failed$/ {ok = $1; bad = $3} END {print ok + 0, bad + 0}' "$log")
      count "$ok" "$bad" "$code" "$suite"
      echo "== $suite took $((SECONDS - begun)) s"
    done
  else
    count 0 0 1 "cargo build --release"
  fi
fi

[ "${#names[@]}" = 0 ] || printf 'failed: %s\n' "${names[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
