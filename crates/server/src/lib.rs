//! Shows traces in a browser: the page, and the HTTP interface that it calls. [`mcp`] offers questions
//! to agents as tools.
//!
//! A [`Server`] listens on the loopback address alone and opens traces with an
//! [`Engine`](etwkit_engine::Engine). Every client has to present the token of the link, so no
//! other program or web site can send requests. The messages are declared in [`wire`]. The engine,
//! SQL and the pyramids compute the numbers: this crate turns requests into their queries, and
//! answers into JSON.
//!
//! Tools for agents use the same guard ([`AccessGuard`]), the same threads ([`WorkerPool`]) and the
//! same limits for SQL ([`asked`]).

#![forbid(unsafe_code)]

mod about;
mod api;
mod ask;
mod cells;
mod client;
mod disk_map;
mod explain;
mod findings;
mod flame;
mod folder;
mod frame_levels;
mod guard;
mod lanes;
mod lines;
pub mod mcp;
mod modules;
mod opening;
mod options;
mod page;
mod pivot;
mod pivot_series;
mod problem;
mod recent;
mod recorder;
mod recording;
mod routes;
mod rows;
mod schema;
mod search;
mod select;
mod server;
mod sql;
mod stack;
mod state;
mod symbols;
mod symbols_progress;
mod tables;
mod tag_choice;
mod tags;
mod times;
mod titles;
mod token;
pub mod wire;
mod words;
mod work;

pub use ask::command_line;
pub use cells::{Rows, asked};
pub use guard::{AccessGuard, Refused};
pub use lines::text;
pub use opening::check_no_lake;
pub use options::{Demo, Limits, ServerOptions};
pub use problem::said;
pub use server::{Running, Server, StartError, listen, state_of_link};
pub use token::Token;
pub use work::{Unanswered, WorkerPool};

#[cfg(test)]
mod wire_file;
