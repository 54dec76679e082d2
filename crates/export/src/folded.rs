//! Folded stacks, as flame graph tools read them: a line for each stack, its frames from the outermost on
//! with `;` between, then
//! a blank and its weight.
//!
//! Weights are whole nanoseconds, so that sums are those of `dump cpu` to the last digit.

use std::io::Write;

use crate::profile::{Format, Head, Samples};
use crate::{Error, Result};

/// The format.
pub(crate) struct Folded;

impl Format for Folded {
    fn name(&self) -> &'static str {
        "folded"
    }

    fn sentence(&self) -> &'static str {
        "Folded stacks for flame graph tools: frame;frame;frame and nanoseconds on each line"
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, _: &Head<'_>) -> Result<Box<dyn Samples + 'o>> {
        Ok(Box::new(Lines { out }))
    }
}

struct Lines<'o> {
    out: &'o mut dyn Write,
}

impl Samples for Lines<'_> {
    fn sample(&mut self, path: &[u32], weight_ns: i64, names: &[String]) -> Result<()> {
        let name = |number: &u32| names.get(*number as usize).map_or_else(String::new, |name| frame(name));
        let stack: Vec<String> = path.iter().map(name).collect();
        writeln!(self.out, "{} {weight_ns}", stack.join(";")).map_err(Error::Write)
    }

    fn end(self: Box<Self>, _: i64, _: &[String]) -> Result<()> {
        Ok(())
    }
}

/// A name without what separates frames and lines, for which the format has no other way to be written.
fn frame(name: &str) -> String {
    name.chars().map(|c| if c == ';' || c.is_control() { ':' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_frames_or_lines() {
        for (name, written) in [("a.dll!b", "a.dll!b"), ("f<x;y>", "f<x:y>"), ("a\nb 7", "a:b 7")] {
            assert_eq!(frame(name), written);
        }
    }
}
