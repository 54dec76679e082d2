//! Asks an extract in SQL: the DataFusion session, its functions and the SQL library.

#![forbid(unsafe_code)]

pub mod filter;
pub mod range;
pub mod time_format;
