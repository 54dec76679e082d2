//! Profiles for speedscope (<https://www.speedscope.app>): the form `sampled` of its format.
//!
//! One profile holds all that was asked for. Stacks that are equal become one sample, whose weight is what
//! they have together, so that a file does not grow with
//! the length of a trace; samples stand in the order of the names of their frames, outermost first. The
//! numbers are those of `dump cpu`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};

use crate::profile::{Format, Head, Samples};
use crate::{Error, Result};

/// The format.
pub(crate) struct Speedscope;

impl Format for Speedscope {
    fn name(&self) -> &'static str {
        "speedscope"
    }

    fn sentence(&self) -> &'static str {
        "JSON for speedscope (www.speedscope.app), and for what reads its files"
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Box<dyn Samples + 'o>> {
        let spool = match head.temp_dir {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let weights = BufWriter::new(spool.map_err(Error::Spool)?);
        let (name, version) = (json(head.name), env!("CARGO_PKG_VERSION"));
        write!(
            out,
            "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"etwkit {version}\",\n\
             \"name\":{name},\"activeProfileIndex\":0,\"profiles\":[\n\
             {{\"type\":\"sampled\",\"name\":{name},\"unit\":\"milliseconds\",\"startValue\":0,\"samples\":["
        )
        .map_err(Error::Write)?;
        Ok(Box::new(Sampled { out, weights, is_first: true }))
    }
}

/// Writes samples as they come. Weights stand behind all samples in the file, so that they wait in a file of
/// their own.
struct Sampled<'o> {
    out: &'o mut dyn Write,
    weights: BufWriter<File>,
    is_first: bool,
}

impl Samples for Sampled<'_> {
    fn sample(&mut self, path: &[u32], weight_ns: i64, _: &[String]) -> Result<()> {
        let comma = if std::mem::replace(&mut self.is_first, false) { "" } else { "," };
        let frames: Vec<String> = path.iter().map(u32::to_string).collect();
        write!(self.out, "{comma}\n[{}]", frames.join(",")).map_err(Error::Write)?;
        write!(self.weights, "{comma}\n{}", milliseconds(weight_ns)).map_err(Error::Spool)
    }

    fn end(self: Box<Self>, total_ns: i64, names: &[String]) -> Result<()> {
        let Self { out, weights, .. } = *self;
        out.write_all(b"],\n\"weights\":[").map_err(Error::Write)?;
        let mut weights = weights.into_inner().map_err(|error| Error::Spool(error.into_error()))?;
        weights.rewind().map_err(Error::Spool)?;
        io::copy(&mut BufReader::new(weights), out).map_err(Error::Write)?;
        write!(out, "],\n\"endValue\":{}}}],\n\"shared\":{{\"frames\":[", milliseconds(total_ns))
            .map_err(Error::Write)?;
        for (place, name) in names.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}\n{{\"name\":{}}}", json(name)).map_err(Error::Write)?;
        }
        out.write_all(b"]}}\n").map_err(Error::Write)
    }
}

/// Text as JSON has it.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Nanoseconds as milliseconds, exactly.
fn milliseconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let text = format!("{sign}{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_exact() {
        for (ns, text) in [
            (0, "0"),
            (1, "0.000001"),
            (1_000_000, "1"),
            (1_000_100, "1.0001"),
            (10_500_000, "10.5"),
            (-2_500_000, "-2.5"),
            (i64::MAX, "9223372036854.775807"),
        ] {
            assert_eq!(milliseconds(ns), text);
        }
    }
}
