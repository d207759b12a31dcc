//! Nuthatch, a MySQL/MariaDB proxy with a query cache: the program.
//!
//! `serve` is the proxy, `lab` brings up real servers to try it on. What was wrong is said in one sentence on standard
//! error, and the exit code is 1 (2 for a command line that cannot be understood).

mod allocator;
mod catalogues;
mod catching_up;
mod certificates;
mod cli;
mod config_file;
mod faults;
mod following;
mod instance;
mod keeper;
mod lab;
mod log;
mod monitoring;
mod operator;
mod password_file;
mod plane;
mod seed;
mod serve;
mod signals;
mod stops;
mod switching;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Switchover(arguments) => operator::switch_over(&arguments),
        Command::Failover(arguments) => operator::fail_over(&arguments),
        Command::Instance(arguments) => instance::run(&arguments),
        Command::Lab(command) => lab::run(&command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::say_error(&error);
            ExitCode::FAILURE
        }
    }
}
