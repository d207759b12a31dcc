# The index of recipes; `make` alone prints it. Each needs no other to have been run before.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run demo demo-failover check test test-servers drivers driver-suites orm-suites mtr apps instances properties differential freshness soundness equivalence every-byte chaos chaos-follow soak bench bench-paper bench-victims bench-exact bench-follow fuzz docs clean deps bench-warm
MAKEFLAGS += --no-print-directory

# So that a Rust which rustup has just installed is found without a new shell.
export PATH := $(HOME)/.cargo/bin:$(PATH)

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## build, start a lab and the proxy in front of it on port 6033, until Ctrl-C
	@tools/run.sh

demo: ## sysbench's selects directly, through the proxy and from its cache, as one table (2 minutes)
	@tools/demo.sh

demo-failover: ## a primary is killed under load: statements and errors of each tenth of a second, drawn
	@tools/demo-failover.sh

check: ## formatting, lints, documentation, fuzz targets, the order of modules, licences
	@tools/deps.sh test
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	CUSTOM_LIBFUZZER_PATH=/none cargo check --manifest-path fuzz/Cargo.toml --locked # without libFuzzer, which takes C++
	cargo run --quiet --locked -p nuthatch-modules
	@tools/map.py
	@tools/licences.py --self-test
	@tools/licences.py

test: ## everything that CI runs, except `check`; real servers are started on free ports
	@tools/deps.sh test
	@tools/test.sh

test-servers: ## the lab and the list of variables with MySQL of Debian sid and a newer MariaDB, fetched to target/servers
	@tools/deps.sh test
	@tools/test-servers.sh

instructions: ## user instructions a query of what stands here, against those that are kept (KEEP=1 keeps them anew)
	@tools/deps.sh instructions
	cargo build --release --locked
	@target=$(abspath $(or $(CARGO_TARGET_DIR),target)); $$target/release/nuthatch-bench callgrind \
	  --nuthatch $$target/release/nuthatch $(if $(KEEP),--keep,--check) bench/instructions.json

drivers: ## 14 drivers directly and through the proxy, with MariaDB and MySQL, compared (DRIVERS="go sqlx" for some)
	@tools/deps.sh test
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch drivers/run.sh $(DRIVERS)

driver-suites: ## the own test suites of 6 drivers and an ORM directly and through the proxy, compared (SUITES="pymysql" for some)
	@tools/deps.sh test
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch drivers/run.sh suites $(SUITES)

orm-suites: ## the test suites of Django and SQLAlchemy directly and through the proxy with its cache on (SUITES=django SERVER=mysql)
	@tools/deps.sh test
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch drivers/run.sh orm $(if $(filter command line environment,$(origin SERVER)),--server $(SERVER)) $(SUITES)

# CASES takes the place of 256: a property that runs 1,024 in CI runs four times as many as are asked for.
CASES ?= 20000
PROPERTIES_SEED := $(or $(PROPERTIES_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
properties: ## every property with cases of another seed (CASES=20000 PROPERTIES_SEED=1)
	@tools/deps.sh test
	@echo "PROPERTIES_SEED=$(PROPERTIES_SEED)"
	@PROPTEST_RNG_SEED=$(PROPERTIES_SEED) PROPTEST_CASES=$(CASES) \
	cargo test --release --no-fail-fast --locked -p nuthatch-wire -p nuthatch-sql -p nuthatch-cache -p nuthatch-source

mtr: ## the main suite of MariaDB's own tests directly and through the proxy with its cache on; goes on where it was (TESTS="select join")
	@tools/deps.sh mtr
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch /usr/bin/python3 -B drivers/mtr/run.py $(TESTS)

APPS_WRITES ?= 40
apps: ## WordPress and MediaWiki through the proxy with its cache on: each page as directly, few connections (APPS=wordpress SEED=1 FOLLOW=bounded)
	@tools/deps.sh apps
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch \
	/usr/bin/python3 -B drivers/apps/run.py --seed $(or $(SEED),1) --writes $(APPS_WRITES) --follow $(or $(FOLLOW),off) $(APPS)

instances: ## thirteen instances in pairs with a second host, behind a proxy: one is killed, one taken out, the clients of eleven see nothing
	@tools/deps.sh test
	@tools/side-apt.sh target/servers/mysql sid mysql-server-core mysql-client-core
	cargo build --release
	@NUTHATCH=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/nuthatch drivers/instances/showing.py --mysql target/servers/mysql

# SERVER=mysql takes MySQL of Debian sid, fetched to target/servers; SEED=… STATEMENTS=1 repeats a single round.
SEED ?= 1
STATEMENTS ?= 100000
SERVER ?= mariadb
differential: ## random sessions on two connections against the server itself (SERVER=mysql SEED=1 STATEMENTS=100000)
	@tools/deps.sh test
	@NUTHATCH_DIFFERENTIAL_SEED=$(SEED) NUTHATCH_DIFFERENTIAL_STATEMENTS=$(STATEMENTS) \
	NUTHATCH_DIFFERENTIAL_SERVER=$(SERVER) \
	cargo test -p nuthatch --test e2e --locked -- --ignored --exact --nocapture \
	  twins::as_many_statements_as_wanted_are_given_what_the_server_gives \
	  twins::as_many_statements_as_wanted_behind_hits_are_given_what_the_server_gives \
	  twins::parameters_never_have_the_types_of_another_session

# SWITCHES=1: meanwhile the primary of three servers changes every few seconds, by a switchover or because it is killed; with SPLIT=1 too
# replicas answer reads, and each session must never go back (FOLLOW=exact SPLIT=1: by one replica, past the proxy). NUTHATCH_MARIADB_ROOT=target/servers/mariadb takes the newer MariaDB that
# `make test-servers` fetches, here and in what follows.
SECONDS ?= 60
freshness: ## 32 writers, 64 readers: no read through the proxy is older than it may be (SERVER=mysql SECONDS=60 SWITCHES=1 FOLLOW=exact HALF=1)
	@tools/deps.sh test
	@NUTHATCH_FRESHNESS_SECONDS=$(SECONDS) NUTHATCH_FRESHNESS_SWITCHES=$(SWITCHES) NUTHATCH_FRESHNESS_SPLIT=$(SPLIT) \
	NUTHATCH_FRESHNESS_SERVER=$(SERVER) NUTHATCH_FRESHNESS_FOLLOW=$(FOLLOW) NUTHATCH_FRESHNESS_HALF=$(HALF) \
	cargo test --release -p nuthatch --test freshness --locked -- --ignored --exact --nocapture \
	  no_read_is_stale_for_as_long_as_wanted

PAIRS ?= 100000
soundness: ## random reads and writes: wherever an answer differs, the cache has forgotten it (SERVER=mysql SEED=1 PAIRS=100000 FOLLOW=bounded)
	@tools/deps.sh test
	@NUTHATCH_SOUNDNESS_SEED=$(SEED) NUTHATCH_SOUNDNESS_PAIRS=$(PAIRS) \
	NUTHATCH_SOUNDNESS_SERVER=$(SERVER) \
	cargo test -p nuthatch --test soundness --locked -- --ignored --nocapture \
	  $(if $(FOLLOW),as_many_pairs_as_wanted_are_sound_where_the_binlog,as_many_pairs_as_wanted)

# THEME=types takes rounds of that theme only, COUNT=1 tells of all differences without shrinking them; SEED=… ANSWERS=1 THEME=… repeats a round.
ANSWERS ?= 100000
equivalence: ## random state, stored code, clocks and globals: every answer is a fresh connection's (SERVER=mysql SEED=1 ANSWERS=100000)
	@tools/deps.sh test
	@NUTHATCH_EQUIVALENCE_SEED=$(SEED) NUTHATCH_EQUIVALENCE_ANSWERS=$(ANSWERS) \
	NUTHATCH_EQUIVALENCE_SERVER=$(SERVER) NUTHATCH_EQUIVALENCE_THEME=$(THEME) NUTHATCH_EQUIVALENCE_COUNT=$(COUNT) \
	cargo test -p nuthatch --test equivalence --locked -- --ignored --exact --nocapture \
	  as_many_answers_as_wanted_are_a_fresh_connections

# SCRIPT='huge packets' takes that script only; without CUTS each byte is cut. SCRIPT=… BYTE=… CUTS=… repeats a finding so many times.
every-byte: ## the server's connection is cut behind every byte: one answer or one error, nothing run twice (SERVER=mysql SEED=1 CUTS=5000 REPLAY=1)
	@tools/deps.sh test
	@NUTHATCH_EVERY_BYTE_SEED=$(SEED) NUTHATCH_EVERY_BYTE_CUTS=$(CUTS) \
	NUTHATCH_EVERY_BYTE_SERVER=$(SERVER) NUTHATCH_EVERY_BYTE_SCRIPT='$(SCRIPT)' NUTHATCH_EVERY_BYTE_REPLAY=$(REPLAY) NUTHATCH_EVERY_BYTE_BYTE=$(BYTE) \
	cargo test -p nuthatch --test every_byte --locked -- --ignored --exact --nocapture \
	  as_many_cuts_as_wanted_leave_nothing_wrong

# Runs of 150 s, each with a seed of its own, which is printed: SEED=… SECONDS=150 repeats one. Even seeds: commits wait for replicas.
# Optimised, as what comes of a fault is to be waited for and not a processor: about 12 faults a minute on two cores that others use too.
chaos: ## servers, network and proxy fail under 32 writers and 32 readers: nothing is lost in silence (SERVER=mysql SEED=1 SECONDS=60)
	@tools/deps.sh test
	@NUTHATCH_CHAOS_SEED=$(SEED) NUTHATCH_CHAOS_SECONDS=$(SECONDS) NUTHATCH_CHAOS_SERVER=$(SERVER) \
	cargo test --release -p nuthatch --test chaos --locked -- --ignored --exact --nocapture \
	  as_many_faults_as_wanted_leave_nothing_wrong

# FAULTS of a seed, one after the other, until there were as many or SECONDS are over. Writers go past the proxy, readers through it.
FAULTS ?= 100
FOLLOW_SECONDS ?= 3600
chaos-follow: ## server, proxy and network fail while binlogs are followed: no read is older than promised (SERVER=mysql FOLLOW=bounded SEED=1 FAULTS=100)
	@tools/deps.sh test
	@NUTHATCH_FRESHNESS_SEED=$(if $(filter command line environment,$(origin SEED)),$(SEED)) NUTHATCH_FRESHNESS_FAULTS=$(FAULTS) \
	NUTHATCH_FRESHNESS_SECONDS=$(FOLLOW_SECONDS) NUTHATCH_FRESHNESS_SERVER=$(SERVER) NUTHATCH_FRESHNESS_FOLLOW=$(FOLLOW) \
	cargo test --release -p nuthatch --test freshness --locked -- --ignored --exact --nocapture \
	  no_read_is_stale_whatever_befalls_the_follower_for_as_long_as_wanted

# Less than four minutes cannot tell growth from a cache that fills, and are not judged for it.
soak: ## full load with DDL, purges, clients that vanish: no memory, file or thread grows, no limit is crossed (SERVER=mysql SEED=1 SECONDS=1800)
	@tools/deps.sh test
	@NUTHATCH_SOAK_SEED=$(SEED) NUTHATCH_SOAK_SERVER=$(SERVER) \
	NUTHATCH_SOAK_SECONDS=$(if $(filter command line environment,$(origin SECONDS)),$(SECONDS)) \
	cargo test --release -p nuthatch --test soak --locked -- --ignored --exact --nocapture \
	  nothing_grows_for_as_long_as_wanted

bench: ## CPU cost of each query against the floor and the direct connection (BENCH_ARGS="--help")
	@tools/deps.sh run
	cargo build --release
	cargo run --release -p nuthatch-bench -- $(BENCH_ARGS)

bench-paper: ## the published benchmarks of query caches again, beside what was published: docs/benchmarks.md (PAPER_ARGS="--help")
	@tools/deps.sh demo
	cargo build --release --locked -p nuthatch -p nuthatch-bench
	@target=$(abspath $(or $(CARGO_TARGET_DIR),target)); $$target/release/nuthatch-bench paper \
	  --nuthatch $$target/release/nuthatch $(PAPER_ARGS)

bench-victims: ## hits on 37 made loads beside LRU, SIEVE, S3-FIFO and W-TinyLFU, and what scans cost: bench/victims.md (SEED=1 SCALE=1)
	cargo bench --locked -p nuthatch-cache --bench victims -- $(or $(SEED),1) $(or $(SCALE),1)

bench-exact: ## sysbench's oltp_read_write with the exact cache off and on in turn (EXACT_SECONDS=8 EXACT_ROUNDS=3)
	@tools/bench-exact.sh

bench-follow: ## commits past the proxy, and its processor time, with mysql-query_cache_follow off, bounded and exact in turn (FOLLOW_SECONDS=5 FOLLOW_ROUNDS=3)
	@tools/bench-follow.sh

bench-warm: ## the minute after a server with a slow disk was started anew, cold, with its dump, and with the gate; as root (WARM_ARGS="--help")
	@tools/deps.sh demo
	cargo build --release --locked -p nuthatch -p nuthatch-bench
	@target=$(abspath $(or $(CARGO_TARGET_DIR),target)); $$target/release/nuthatch-bench warm \
	  --nuthatch $$target/release/nuthatch --svg docs/benchmarks/warm.svg $(WARM_ARGS)

FUZZ_SECONDS ?= 60
fuzz: ## each fuzz target for a minute (FUZZ_SECONDS=60); needs a nightly Rust and cargo-fuzz
	@fuzz/run.sh $(FUZZ_SECONDS)

docs: ## the crates' documentation, in target/doc
	@tools/deps.sh run
	cargo doc --workspace --no-deps

clean: ## remove the labs of run and demo, and what was built; not while they run
	@tools/clean.sh

deps: ## install the Debian packages that run, demo, check and test need; say how to get Rust
	@tools/deps.sh test
