//! Folded stacks for flame graph tools: a line for each stack, its frames from the outermost on
//! with `;` between, then a blank and its weight.
//!
//! Weights are whole nanoseconds, so that sums equal the sums of `dump cpu` to the last digit.

use std::io::Write;

use crate::profile::{Format, Head, Samples, WeighedStack, Writer, WrittenProfile};
use crate::stacks::Names;
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

    fn begin<'o>(&self, out: &'o mut dyn Write, _: &Head<'_>) -> Result<Writer<'o>> {
        Ok(Writer::Stacks(Box::new(Lines { out })))
    }
}

struct Lines<'o> {
    out: &'o mut dyn Write,
}

impl Samples for Lines<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, names: &Names) -> Result<()> {
        let stack: Vec<String> = sample
            .path
            .iter()
            .map(|number| frame(names.text(*number)))
            .collect();
        writeln!(self.out, "{} {}", stack.join(";"), sample.weight_ns).map_err(Error::Write)
    }

    fn end(self: Box<Self>, _: &WrittenProfile, _: &Names) -> Result<()> {
        Ok(())
    }
}

/// Returns a name without the separators of frames and lines, which the format cannot escape.
/// Readers also end lines at the separators of Unicode.
fn frame(name: &str) -> String {
    let separates = |c: char| c == ';' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    name.chars()
        .map(|c| if separates(c) { ':' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_frames_or_lines() {
        for (name, written) in [
            ("a.dll!b", "a.dll!b"),
            ("f<x;y>", "f<x:y>"),
            ("a\nb 7", "a:b 7"),
            ("a\u{85}b\u{2028}c\u{2029}\0d", "a:b:c::d"),
        ] {
            assert_eq!(frame(name), written);
        }
    }
}
