//! A client's session: its state follows it over shared connections, and nobody else's state reaches it.

mod assignments;
mod commands;
mod delay;
mod diagnostics;
mod differential;
mod expressions;
mod fall;
mod fast_forward;
mod forms;
mod gone;
mod insert_id;
mod internal;
mod large;
mod layers;
mod multiplexing;
mod pins;
mod prepared;
mod reset;
mod schema;
mod settings;
mod text_prepared;
mod transactions;
