//! Benchmarks of the proxy: CPU time a query against a floor, memory of idle clients, memory of large results, many
//! clients on few backend connections.
//!
//! Numbers are only comparable within one run: every candidate takes its turn in each repetition, forward then
//! backward, on the same two cores. `README.md` beside this crate says how to run it and what the numbers mean.
//! This crate starts servers, prints to the terminal and exits; nothing of it is in the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks on the terminal")]

mod address;
mod affinity;
mod callgrind;
mod capability;
mod client;
mod clock;
mod compare;
mod cpu;
mod database;
mod event_loop;
mod floor;
mod load;
mod login;
mod machine;
mod median;
mod memory;
mod mixed;
mod multiplex;
mod paper;
mod priority;
mod proxy;
mod relay;
mod reply;
mod resident;
mod running;
mod socket;
mod stream;
mod sysbench;
mod timeline;
mod warm;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "nuthatch-bench", about, version)]
enum Command {
    /// Compare CPU time a query: floor, cached hit, pass-through, direct
    Run(compare::CompareOptions),
    /// The published benchmarks of query caches again, beside what was published
    Paper(paper::PaperOptions),
    /// Resident memory of each of many idle clients
    Memory(memory::MemoryOptions),
    /// Growth of memory while a large result set goes through
    Stream(stream::StreamOptions),
    /// Hundreds of clients that insert and ask for their ids, over few backend connections
    Multiplex(multiplex::MultiplexOptions),
    /// Statements and errors in each tenth of a second while something is done to the servers
    Timeline(timeline::TimelineOptions),
    /// What clients notice in the minute after a server with a slow disk was started anew
    Warm(warm::WarmOptions),
    /// CPU time when sessions of two schemas and character sets share connections
    Mixed(mixed::MixedOptions),
    /// User-space instructions a query, under valgrind
    Callgrind(callgrind::CallgrindOptions),
    /// Serve one canned row to every SELECT: the cheapest server there can be
    Floor(floor::FloorOptions),
    /// Pass bytes on to a server: the cheapest proxy there can be
    Relay(relay::RelayOptions),
    /// Run the closed-loop load generator once and print what it counted, as JSON
    Load(load::LoadOptions),
}

fn main() -> ExitCode {
    match run(&Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Run(options) => compare::run(options),
        Command::Paper(options) => paper::run(options),
        Command::Memory(options) => memory::run(options),
        Command::Stream(options) => stream::run(options),
        Command::Multiplex(options) => multiplex::run(options),
        Command::Timeline(options) => timeline::run(options),
        Command::Warm(options) => warm::run(options),
        Command::Mixed(options) => mixed::run(options),
        Command::Callgrind(options) => callgrind::run(options),
        Command::Floor(options) => floor::serve(options),
        Command::Relay(options) => relay::serve(options),
        Command::Load(options) => {
            println!("{}", serde_json::to_string(&load::run(options)?)?);
            Ok(())
        }
    }
}
