//! Ground floor: what several crates need and the standard library lacks. Nothing here knows traces, and
//! nothing here depends on another crate.

#![forbid(unsafe_code)]

pub mod code_page;
pub mod digits;
pub mod endings;
pub mod escape;
pub mod index;
pub mod intervals;
pub mod lock;
pub mod natural;
pub mod ordered;
pub mod path;
pub mod shell;
