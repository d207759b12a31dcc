//! The process: how it starts, what it refuses, how it logs, listens and stops, what it keeps.

mod checkout;
mod clear_passwords;
mod disk;
mod idle;
mod input;
mod lab;
mod listeners;
mod login;
mod metrics;
mod operators;
mod secrets;
mod stop;
mod workers;
