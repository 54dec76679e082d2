//! Files of rules in XML, as people have them: whatever can be read is read, the rest is told.
//!
//! - [`Text`]: the characters of a file, in the encodings of Windows
//! - [`Nodes`]: its elements, one after the other; faults of the syntax become warnings
//! - [`Warnings`]: what could not be followed, with line and column

mod nodes;
mod text;
mod warnings;

pub use nodes::{Attributes, Node, Nodes};
pub use text::Text;
pub use warnings::{Warning, Warnings, clipped, place};
