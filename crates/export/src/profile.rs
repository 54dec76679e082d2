//! What a profile holds, whatever format it is written in: the stacks of processes with their weights.

use std::io::Write;
use std::path::{Path, PathBuf};

use etwkit_query::Session;
use etwkit_query::dump::ProcessQuery;
use etwkit_query::dump::cpu_source::CpuSource;
use etwkit_query::dump::stack_tree::{Metric, StackRow, StackTreeRequest, TreeBy};
use etwkit_query::frames::TraceFrames;
use etwkit_query::range::Range;

use crate::Result;
use crate::stacks::{Node, Stacks};

/// A format of other programs. Formats are listed in [`FORMATS`](crate::FORMATS).
pub trait Format: Sync {
    /// Its word, which also ends the names of its files.
    fn name(&self) -> &'static str;

    /// What reads it, in one sentence without a full stop.
    fn sentence(&self) -> &'static str;

    /// Writes what stands in front of the first stack.
    ///
    /// # Errors
    /// `out`, or a temporary file, cannot be written.
    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Box<dyn Samples + 'o>>;
}

/// What is known of a profile before its first stack.
#[derive(Debug, Clone, Copy)]
pub struct Head<'h> {
    /// Its name.
    pub name: &'h str,
    /// Folder for a temporary file; `None` is the system's.
    pub temp_dir: Option<&'h Path>,
}

/// Takes the stacks of a profile, each of which comes once, those of one root behind each other.
pub trait Samples {
    /// Writes a stack: numbers of the names of its frames, outermost first, and its weight in nanoseconds.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn sample(&mut self, path: &[u32], weight_ns: i64, names: &[String]) -> Result<()>;

    /// Writes what stands behind the last stack, given all names.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn end(self: Box<Self>, total_ns: i64, names: &[String]) -> Result<()>;
}

/// Which stacks are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportRequest {
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

impl ExportRequest {
    /// Asks and writes. Memory grows with the distinct stacks of the extract, and of one process or thread at
    /// a time.
    ///
    /// # Errors
    /// There is no answer, see [`StackTreeRequest::rows`]; `out` or a temporary file cannot be written.
    pub fn write(&self, format: &dyn Format, session: &Session, out: &mut dyn Write) -> Result<Written> {
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
        let head = Head { name: &self.name, temp_dir: self.temp_dir.as_deref() };
        let mut profile = Profile { samples: format.begin(out, &head)?, written: Written::default() };
        let mut collected: Vec<(Node, i64)> = Vec::new();
        let (mut current, mut root) = (None, Vec::new());
        for batch in rows {
            for row in batch? {
                let group = self.group(&row);
                if current != Some(group) {
                    profile.group(&stacks, &root, &mut collected)?;
                    root = self.labels(&row).iter().map(|label| stacks.label(label)).collect();
                    current = Some(group);
                }
                profile.written.source = CpuSource::named(&row.source);
                collected.push((stacks.node(row.stack_id), row.value_ns));
            }
        }
        profile.group(&stacks, &root, &mut collected)?;
        let Profile { samples, mut written } = profile;
        samples.end(written.total_ns, stacks.names())?;
        written.frames = stacks.names().len();
        Ok(written)
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

/// Puts equal stacks together and hands them on.
struct Profile<'o> {
    samples: Box<dyn Samples + 'o>,
    written: Written,
}

impl Profile<'_> {
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
            let path: Vec<u32> = root.iter().copied().chain(stacks.path(node)).collect();
            self.samples.sample(&path, weight_ns, stacks.names())?;
            self.written.stacks += 1;
            self.written.total_ns = self.written.total_ns.saturating_add(weight_ns);
        }
        Ok(())
    }
}
