//! What the fuzz targets share: cutting an input into parts, traces made of them, and what must hold of any trace.

#![forbid(unsafe_code)]

pub mod input;
pub mod made;
pub mod rules;
pub mod walks;
