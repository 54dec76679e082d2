//! Contents of an export in any format: the stacks of processes with their weights, a timeline, or
//! packets.

use std::io::Write;
use std::path::{Path, PathBuf};

use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::source::CpuSource;
use etwkit_questions::cpu::{By, CpuRequest, Metric};
use etwkit_questions::stack::tree::StackRow;
use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

use crate::packets::{self, PacketSums, Packets};
use crate::recording::Recording;
use crate::stacks::{Names, Node, Stacks};
use crate::timeline::{self, Timeline, TimelineSelection, TimelineSums};
use crate::{Error, Result};

/// A format of another program. Formats are listed in [`FORMATS`](crate::FORMATS).
pub trait Format: Sync {
    /// Returns its name, which is also the ending of its files.
    fn name(&self) -> &'static str;

    /// Returns the programs that read it, in one sentence without a full stop.
    fn sentence(&self) -> &'static str;

    /// Returns the kind of its input, which is known before any query.
    fn takes(&self) -> Takes {
        Takes::Stacks
    }

    /// Returns `true` if processes and threads are labels of its stacks, which then have no frames
    /// for them.
    fn has_labels(&self) -> bool {
        false
    }

    /// Writes the start of the file, before its input.
    ///
    /// # Errors
    /// `out`, or a temporary file, cannot be written.
    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>>;
}

/// The kind of input of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Stacks with weights.
    Stacks,
    /// Events with their times.
    Timeline,
    /// Packets of networks.
    Packets,
}

/// The writer for the input of a format.
pub enum Writer<'o> {
    /// Stacks with weights, without an order of time.
    Stacks(Box<dyn Samples + 'o>),
    /// Events, in the order that the format requires.
    Timeline(Box<dyn Timeline + 'o>),
    /// Packets, in order of time.
    Packets(Box<dyn Packets + 'o>),
}

/// Facts about an export that are known before the first stack or packet.
#[derive(Debug, Clone, Copy)]
pub struct Head<'h> {
    /// Its name.
    pub name: &'h str,
    /// Weight of the stacks.
    pub metric: Metric,
    /// The exported range of the trace, in nanoseconds.
    pub time: Range,
    /// The recording and its start.
    pub recording: &'h Recording,
    /// Folder for a temporary file; `None` is the folder of the system.
    pub temp_dir: Option<&'h Path>,
}

impl Head<'_> {
    /// Returns the start of the exported range and its length, in nanoseconds.
    pub(crate) fn extent(&self) -> (i64, i64) {
        // A range without an end reaches to the end of the recording; `i64::MAX` would be a
        // duration of centuries.
        let end = if self.time.max == i64::MAX {
            self.recording.duration_ns
        } else {
            self.time.max
        };
        let start = self.time.min.max(0);
        (start, end.saturating_sub(start).max(0))
    }
}

/// A stack and its weight.
#[derive(Debug, Clone, Copy)]
pub struct WeighedStack<'s> {
    /// Numbers of the names of its frames, outermost first.
    pub path: &'s [u32],
    /// Its weight in nanoseconds.
    pub weight_ns: i64,
    /// Number of samples, waits or ready times in that sum.
    pub count: i64,
    /// Owner of the stack, as far as processes and threads are kept apart.
    pub owner: &'s Owner,
}

/// The process and the thread of a stack; empty if stacks of several are merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owner {
    /// File name of the executable.
    pub process: Option<String>,
    /// Process id.
    pub pid: Option<i64>,
    /// Thread id.
    pub tid: Option<i64>,
}

/// Takes the stacks of a profile. Each stack comes once for an owner, stacks of one owner are
/// adjacent, and a caller comes before its callees.
pub trait Samples {
    /// Writes a stack.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn sample(&mut self, sample: &WeighedStack<'_>, names: &Names) -> Result<()>;

    /// Writes the end of the file, after the last stack, given the sums and all names.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn end(self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()>;
}

/// A request for an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportRequest {
    /// Name of the profile.
    pub name: String,
    /// Process filter.
    pub processes: ProcessQuery,
    /// Filter on stacks; of a timeline it keeps the items that have one of these stacks.
    pub tags: TagQuery,
    /// Weight of the stacks.
    pub metric: Metric,
    /// Only this range of the trace, in nanoseconds.
    pub time: Range,
    /// True if stacks start with their process.
    pub process_roots: bool,
    /// True if stacks start with their thread, after the process.
    pub thread_roots: bool,
    /// Number of chosen processes, for the report.
    pub process_count: usize,
    /// Folder for a temporary file; `None` is the folder of the system.
    pub temp_dir: Option<PathBuf>,
}

/// The written data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenProfile {
    /// Number of samples, each with its own stack.
    pub stacks: u64,
    /// Number of names of frames.
    pub frames: usize,
    /// Weight of all stacks, in nanoseconds.
    pub total_ns: i64,
    /// The source of the weights; missing without stacks.
    pub source: Option<CpuSource>,
    /// Numbers of written items, if the format takes a timeline instead of stacks.
    pub timeline: Option<TimelineSums>,
    /// Numbers of packets, if the format takes them instead of stacks.
    pub packets: Option<PacketSums>,
}

/// The group of rows that are merged: process and thread.
type Group = (Option<i64>, Option<i64>);

/// A stack of a row: its node, its weight, and the number of samples in the weight.
type Weighed = (Node, i64, i64);

impl ExportRequest {
    /// Queries the extract and writes the answer. Memory grows with the distinct stacks of the
    /// extract, and of one process or thread at a time.
    ///
    /// # Errors
    /// There is no answer, see [`CpuRequest::stack_rows`]; the trace has no packets; an option does
    /// not go with the format; `out` or a temporary file cannot be written.
    pub fn write(
        &self,
        format: &dyn Format,
        session: &Session,
        out: &mut dyn Write,
    ) -> Result<WrittenProfile> {
        let recording = Recording::of(session)?;
        let head = Head {
            name: &self.name,
            metric: self.metric,
            time: self.time,
            recording: &recording,
            temp_dir: self.temp_dir.as_deref(),
        };
        match format.takes() {
            Takes::Stacks => self.stacks(format, session, (out, &head)),
            Takes::Timeline => self.timeline(format, session, (out, &head)),
            Takes::Packets => {
                // Before the format starts, so that a trace without packets leaves no header of a
                // file.
                let found = packets::find(self, format.name(), session)?;
                let Writer::Packets(packets) = format.begin(out, &head)? else {
                    return Err(Error::Format);
                };
                let packets = Some(found.write(packets)?);
                Ok(WrittenProfile {
                    packets,
                    ..WrittenProfile::default()
                })
            }
        }
    }

    fn timeline(
        &self,
        format: &dyn Format,
        session: &Session,
        (out, head): (&mut dyn Write, &Head<'_>),
    ) -> Result<WrittenProfile> {
        let refused = |option| {
            Err(Error::NotOf {
                option,
                format: format.name(),
            })
        };
        if self.metric != Metric::Cpu {
            return refused("--metric");
        }
        if self.thread_roots {
            return refused("--per-thread");
        }
        let Writer::Timeline(timeline) = format.begin(out, head)? else {
            return Err(Error::Format);
        };
        let asked = TimelineSelection {
            name: &self.name,
            processes: &self.processes,
            tags: &self.tags,
            time: self.time,
        };
        let timeline = Some(timeline::write(asked, session, timeline)?);
        Ok(WrittenProfile {
            timeline,
            ..WrittenProfile::default()
        })
    }

    fn stacks(
        &self,
        format: &dyn Format,
        session: &Session,
        (out, head): (&mut dyn Write, &Head<'_>),
    ) -> Result<WrittenProfile> {
        let by = if self.thread_roots {
            By::Thread
        } else {
            By::Process
        };
        let request = CpuRequest {
            processes: self.processes.clone(),
            metric: self.metric,
            by,
            time: self.time,
            ..CpuRequest::default()
        };
        let rows = request.stack_rows(session, &self.tags)?;
        let frames = session.frames()?;
        // An extract without stacks has no frames. Its rows still count, as stacks that were not
        // recorded.
        let none = TraceFrames::default();
        let mut stacks = Stacks::new(frames.trace(0).unwrap_or(&none), session)?;
        let Writer::Stacks(samples) = format.begin(out, head)? else {
            return Err(Error::Format);
        };
        let mut profile = Profile {
            samples,
            written: WrittenProfile::default(),
            owner: Owner::default(),
        };
        let mut collected: Vec<Weighed> = Vec::new();
        let mut current = None;
        let mut root = Vec::new();
        for batch in rows {
            for row in batch? {
                let group = self.group(&row, format.has_labels());
                // Rows of one root are adjacent, so that the stacks of only one root are held at a
                // time.
                if current != Some(group) {
                    profile.group(&stacks, &root, &mut collected)?;
                    let labels = if format.has_labels() {
                        Vec::new()
                    } else {
                        self.labels(&row)
                    };
                    root = labels.iter().map(|label| stacks.label(label)).collect();
                    // Stacks of several processes together belong to none of them.
                    profile.owner = if group == (None, None) {
                        Owner::default()
                    } else {
                        owner(&row)
                    };
                    current = Some(group);
                }
                profile.written.source = CpuSource::named(&row.source);
                collected.push((stacks.node(row.stack_id), row.value_ns, row.samples));
            }
        }
        profile.group(&stacks, &root, &mut collected)?;
        let Profile {
            samples,
            mut written,
            ..
        } = profile;
        written.frames = stacks.names().len();
        samples.end(&written, stacks.names())?;
        Ok(written)
    }

    /// Returns the group of a row. Rows come by process and thread; rows of one root are adjacent.
    fn group(&self, row: &StackRow, has_labels: bool) -> Group {
        let by_process = self.process_roots || self.thread_roots || has_labels;
        let process = by_process.then_some(row.process_key).flatten();
        (
            process,
            self.thread_roots.then_some(row.thread_key).flatten(),
        )
    }

    fn labels(&self, row: &StackRow) -> Vec<String> {
        let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let mut labels = Vec::new();
        if self.process_roots {
            labels.push(format!(
                "{} ({})",
                row.process.as_deref().unwrap_or("?"),
                id(row.pid)
            ));
        }
        if self.thread_roots {
            // Two blanks, like other converters of ETW traces.
            labels.push(format!("Thread  {} - Process {}", id(row.tid), id(row.pid)));
        }
        labels
    }
}

fn owner(row: &StackRow) -> Owner {
    Owner {
        process: row.process.clone(),
        pid: row.pid,
        tid: row.tid,
    }
}

/// Adds up equal stacks and passes them to the format.
struct Profile<'o> {
    samples: Box<dyn Samples + 'o>,
    written: WrittenProfile,
    owner: Owner,
}

impl Profile<'_> {
    /// Adds the stacks below the frames of one root: equal ones merged, by name.
    fn group(
        &mut self,
        stacks: &Stacks<'_>,
        root: &[u32],
        collected: &mut Vec<Weighed>,
    ) -> Result<()> {
        // By number first, which is cheap, to put equal stacks together; only distinct ones are
        // compared by names.
        collected.sort_unstable_by_key(|(node, ..)| *node);
        collected.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
                kept.2 = kept.2.saturating_add(next.2);
            }
            is_same
        });
        collected.sort_by(|(a, ..), (b, ..)| stacks.compare(*a, *b));
        for (node, weight_ns, count) in collected.drain(..) {
            let path: Vec<u32> = root.iter().copied().chain(stacks.path(node)).collect();
            let sample = WeighedStack {
                path: &path,
                weight_ns,
                count,
                owner: &self.owner,
            };
            self.samples.sample(&sample, stacks.names())?;
            self.written.stacks += 1;
            self.written.total_ns = self.written.total_ns.saturating_add(weight_ns);
        }
        Ok(())
    }
}
