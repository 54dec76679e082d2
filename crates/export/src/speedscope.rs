//! Profiles for speedscope (<https://www.speedscope.app>): the form `sampled` of its format.
//!
//! One profile holds all that was asked for. Stacks that are equal become one sample, whose weight is what they have together, so that a file does not grow with
//! the length of a trace; samples stand in the order of the names of their frames, outermost first. The numbers are those of `dump cpu`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use etwkit_query::Session;
use etwkit_query::dump::ProcessQuery;
use etwkit_query::dump::cpu_source::CpuSource;
use etwkit_query::dump::stack_tree::{Metric, StackRow, StackTreeRequest, TreeBy};
use etwkit_query::frames::TraceFrames;
use etwkit_query::range::Range;

use crate::stacks::{Node, Stacks};
use crate::{Error, Result};

/// What is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpeedscopeRequest {
    /// Name of the profile.
    pub name: String,
    /// Which processes.
    pub processes: ProcessQuery,
    /// What stacks weigh.
    pub metric: Metric,
    /// Only this part of the trace, in nanoseconds.
    pub time: Range,
    /// Stacks begin with their process.
    pub process_roots: bool,
    /// Stacks begin with their thread, behind the process.
    pub thread_roots: bool,
    /// Folder for a temporary file; `None` is the system's.
    pub temp_dir: Option<PathBuf>,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Samples, each a stack of its own.
    pub stacks: u64,
    /// Names of frames.
    pub frames: usize,
    /// What all stacks weigh, in nanoseconds.
    pub total_ns: i64,
    /// What the weights are computed from; missing without stacks.
    pub source: Option<CpuSource>,
}

/// A part of the rows whose stacks begin with the same labels.
type Group = (Option<i64>, Option<i64>);

impl SpeedscopeRequest {
    /// Asks and writes. Memory grows with the distinct stacks of the extract, and of one process or thread at a time.
    ///
    /// # Errors
    /// There is no answer, see [`StackTreeRequest::rows`]; `out` or the temporary file cannot be written.
    pub fn write(&self, session: &Session, out: &mut dyn Write) -> Result<Written> {
        let by = if self.thread_roots { TreeBy::Thread } else { TreeBy::Process };
        let request = StackTreeRequest {
            processes: self.processes.clone(),
            metric: self.metric,
            by,
            time: self.time,
            ..StackTreeRequest::default()
        };
        let rows = request.rows(session)?;
        let frames = session.frames()?;
        let none = TraceFrames::default();
        let mut stacks = Stacks::new(frames.trace(0).unwrap_or(&none));
        let mut samples = Samples::begin(out, &self.name, self.temp_dir.as_deref())?;
        let mut collected: Vec<(Node, i64)> = Vec::new();
        let (mut current, mut root) = (None, Vec::new());
        for batch in rows {
            for row in batch? {
                let group = self.group(&row);
                if current != Some(group) {
                    samples.group(&stacks, &root, &mut collected)?;
                    root = self.labels(&row).iter().map(|label| stacks.label(label)).collect();
                    current = Some(group);
                }
                samples.written.source = CpuSource::named(&row.source);
                collected.push((stacks.node(row.stack_id), row.value_ns));
            }
        }
        samples.group(&stacks, &root, &mut collected)?;
        samples.end(stacks.names())
    }

    /// Rows come by process and thread; those of one root stand together.
    fn group(&self, row: &StackRow) -> Group {
        let process = (self.process_roots || self.thread_roots).then_some(row.process_key).flatten();
        (process, self.thread_roots.then_some(row.thread_key).flatten())
    }

    fn labels(&self, row: &StackRow) -> Vec<String> {
        let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let mut labels = Vec::new();
        if self.process_roots {
            labels.push(format!("{} ({})", row.process.as_deref().unwrap_or("?"), id(row.pid)));
        }
        if self.thread_roots {
            // Two blanks, as other converters of ETW traces write it.
            labels.push(format!("Thread  {} - Process {}", id(row.tid), id(row.pid)));
        }
        labels
    }
}

/// Writes samples as they come. Weights stand behind all samples in the file, so that they wait in a file of their own.
struct Samples<'o> {
    out: &'o mut dyn Write,
    weights: BufWriter<File>,
    written: Written,
}

impl<'o> Samples<'o> {
    fn begin(out: &'o mut dyn Write, name: &str, temp_dir: Option<&Path>) -> Result<Self> {
        let spool = match temp_dir {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let weights = BufWriter::new(spool.map_err(Error::Spool)?);
        let (name, version) = (json(name), env!("CARGO_PKG_VERSION"));
        write!(
            out,
            "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"etwkit {version}\",\n\
             \"name\":{name},\"activeProfileIndex\":0,\"profiles\":[\n\
             {{\"type\":\"sampled\",\"name\":{name},\"unit\":\"milliseconds\",\"startValue\":0,\"samples\":["
        )
        .map_err(Error::Write)?;
        Ok(Self { out, weights, written: Written::default() })
    }

    /// The stacks below the frames of one root: those that are equal together, by name.
    fn group(&mut self, stacks: &Stacks<'_>, root: &[u32], collected: &mut Vec<(Node, i64)>) -> Result<()> {
        collected.sort_unstable_by_key(|(node, _)| *node);
        collected.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
        collected.sort_by(|(a, _), (b, _)| stacks.compare(*a, *b));
        for (node, weight_ns) in collected.drain(..) {
            self.sample(root.iter().copied().chain(stacks.path(node)), weight_ns)?;
        }
        Ok(())
    }

    fn sample(&mut self, path: impl Iterator<Item = u32>, weight_ns: i64) -> Result<()> {
        let comma = if self.written.stacks > 0 { "," } else { "" };
        let mut line = format!("{comma}\n[");
        for (place, name) in path.enumerate() {
            if place > 0 {
                line.push(',');
            }
            line.push_str(&name.to_string());
        }
        line.push(']');
        self.out.write_all(line.as_bytes()).map_err(Error::Write)?;
        write!(self.weights, "{comma}\n{}", milliseconds(weight_ns)).map_err(Error::Spool)?;
        self.written.stacks += 1;
        self.written.total_ns = self.written.total_ns.saturating_add(weight_ns);
        Ok(())
    }

    fn end(self, names: &[String]) -> Result<Written> {
        let Self { out, weights, mut written } = self;
        out.write_all(b"],\n\"weights\":[").map_err(Error::Write)?;
        let mut weights = weights.into_inner().map_err(|error| Error::Spool(error.into_error()))?;
        weights.rewind().map_err(Error::Spool)?;
        io::copy(&mut BufReader::new(weights), out).map_err(Error::Write)?;
        write!(out, "],\n\"endValue\":{}}}],\n\"shared\":{{\"frames\":[", milliseconds(written.total_ns))
            .map_err(Error::Write)?;
        for (place, name) in names.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}\n{{\"name\":{}}}", json(name)).map_err(Error::Write)?;
        }
        out.write_all(b"]}}\n").map_err(Error::Write)?;
        written.frames = names.len();
        Ok(written)
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
