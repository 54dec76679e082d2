#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod load;
mod numbers;
mod opening;
mod questions;
mod security;
mod support;
