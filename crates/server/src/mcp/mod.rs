//! Traces for agents, as tools of the Model Context Protocol.
//!
//! ```text
//! stdio / HTTP ─► handler: a call becomes work on a thread ─► tools ─► engine, SQL, diagnosis
//!                                                              │
//!                                       evidence: what was measured, what is only correlated,
//!                                       what follows, what it does not prove, what is missing
//! ```
//!
//! Schemas of tools come from the declarations of questions, and so do the tables that an answer
//! was measured from. No number is computed here. Texts from traces are untrusted: control
//! characters in them are escaped before anything is sent.

mod args;
mod arguments;
mod ask;
mod capability;
mod etwanalyzer;
mod evidence;
mod handler;
mod http;
mod limits;
mod list;
mod problem;
mod reply;
mod serve;
mod shared;
mod tool;
mod tools;
mod traces;

pub use args::McpArgs;
pub use list::tools_as_json;
pub use serve::run;
pub use shared::RunLine;
