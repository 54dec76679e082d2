//! Parts that questions share: conditions and groups of their SQL, types of their rows, orders,
//! limits and errors.

pub mod any_rows;
mod conditions;
pub mod covered;
pub mod cut;
pub mod error;
pub mod first_last;
pub mod group;
pub mod path;
pub mod rows;
pub mod sql;
pub mod tag_query;
pub mod zero;
