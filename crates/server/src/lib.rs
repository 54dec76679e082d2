//! Shows traces in a browser: the page, and the HTTP interface that it asks.
//!
//! A [`Server`] listens on the loopback address alone and opens traces by an
//! [`Engine`](etwkit_engine::Engine). The page and anything else that asks has to know the token of the link,
//! so that no other program or web site can ask. What is said is declared in [`wire`]. How numbers are
//! computed is the business of the engine, of SQL and of the pyramids: here requests become their questions,
//! and answers become JSON.
//!
//! Other servers of the loopback address use the same guard ([`Door`]), the same threads ([`Desk`]) and the
//! same bounds of SQL ([`asked`]).

#![forbid(unsafe_code)]

mod about;
mod api;
mod ask;
mod cells;
mod client;
mod disk_map;
mod findings;
mod flame;
mod frame_levels;
mod guard;
mod lanes;
mod lines;
mod modules;
mod opening;
mod options;
mod page;
mod pivot;
mod pivot_series;
mod problem;
mod recent;
mod routes;
mod rows;
mod schema;
mod search;
mod select;
mod server;
mod sql;
mod stack;
mod state;
mod tables;
mod times;
mod token;
pub mod wire;
mod work;

pub use ask::command_line;
pub use cells::{Rows, asked};
pub use guard::{Door, Refused};
pub use lines::text;
pub use options::{Demo, Limits, ServerOptions};
pub use problem::said;
pub use server::{Running, Server, StartError, listen};
pub use token::Token;
pub use work::{Desk, Unanswered};

#[cfg(test)]
mod wire_file;
