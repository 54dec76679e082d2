//! The tests of the libraries that need the query engine. They are a part of this program, since each
//! program of its own would link that engine once more.

#[path = "../../../analysis/tests/it/main.rs"]
mod analysis;
#[path = "../../../compat/tests/it/main.rs"]
mod compat;
#[path = "../../../engine/tests/it/main.rs"]
mod engine;
#[path = "../../../export/tests/it/main.rs"]
mod export;
#[path = "../../../questions/tests/it/main.rs"]
mod questions;
#[path = "../../../server/tests/it/main.rs"]
mod server;
