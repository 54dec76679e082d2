//! Processed profiles for the Firefox profiler (<https://profiler.firefox.com>).
//!
//! The form is version 60 of the processed format, the first one in which threads share the tables
//! of stacks; the profiler upgrades it to its own. Threads come one after the other, each with its
//! samples and markers, and the shared tables at the end. A sample has a weight in milliseconds,
//! and the run time of its thread since the previous one, which the profiler draws as processor
//! use. The busiest threads are visible when the file is opened: they are known at the end, where
//! the description of the profile stands for this reason.

mod columns;
mod markers;
mod tables;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use columns::Columns;
use tables::{Tables, maybe};

use crate::json::{milliseconds, text};
use crate::profile::{Format, Head, Takes, Writer};
use crate::timeline::{Item, Order, Sample, Scene, Timeline, What};
use crate::{Error, Result};

/// The format.
pub(crate) struct Firefox;

impl Format for Firefox {
    fn name(&self) -> &'static str {
        "firefox"
    }

    fn sentence(&self) -> &'static str {
        "JSON for the Firefox profiler (profiler.firefox.com): threads with their samples, waits, I/O and marks"
    }

    fn takes(&self) -> Takes {
        Takes::Timeline
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        let folder = head.temp_dir.map(ToOwned::to_owned);
        let samples = ["stack", "time", "weight", CPU_DELTA];
        let markers = ["name", "startTime", "endTime", "phase", "category", "data"];
        Ok(Writer::Timeline(Box::new(Profile {
            out,
            tables: Tables::default(),
            samples: Columns::new(&samples, folder.clone()),
            markers: Columns::new(&markers, folder),
            pids: BTreeMap::new(),
            thread: None,
            ran: Ran::default(),
            busy: Busy::default(),
        })))
    }
}

/// The column of samples with the run time of their thread.
const CPU_DELTA: &str = "threadCPUDelta";

struct Profile<'o> {
    out: &'o mut dyn Write,
    tables: Tables,
    samples: Columns,
    markers: Columns,
    /// Process ids in the profile, by process key.
    pids: BTreeMap<i64, String>,
    /// Key of the thread whose rows are being written.
    thread: Option<i64>,
    ran: Ran,
    busy: Busy,
}

/// The most threads that are visible when a file is opened. With thousands the profiler takes
/// minutes to draw them, and the busy ones are lost among the others.
const VISIBLE: usize = 30;

/// The threads of the file so far, and how busy they are.
#[derive(Debug, Default)]
struct Busy {
    /// Time on processors; without slices, weight of samples.
    threads: Vec<i64>,
    /// Places of threads that are always visible.
    always: Vec<usize>,
}

impl Busy {
    fn add(&mut self, ns: i64, is_always_visible: bool) {
        if is_always_visible {
            self.always.push(self.threads.len());
        }
        self.threads.push(ns);
    }

    /// Returns the places of visible threads, and of the thread that is selected.
    fn visible(&self) -> (Vec<usize>, Option<usize>) {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        // The sort is stable: of threads that are equally busy the first ones are taken.
        order.sort_by_key(|place| std::cmp::Reverse(self.threads.get(*place)));
        let busy = order.into_iter().take(VISIBLE);
        let mut visible: Vec<usize> = busy
            .filter(|place| self.threads.get(*place).is_some_and(|ns| *ns > 0))
            .collect();
        let selected = visible.first().copied();
        visible.extend(&self.always);
        visible.sort_unstable();
        visible.dedup();
        (visible, selected)
    }
}

/// The run time of a thread.
#[derive(Debug, Default, Clone, Copy)]
struct Ran {
    /// Run time in slices before the last one.
    before_ns: i64,
    /// The last slice.
    slice: (i64, i64),
    /// Run time up to the last sample; missing before the first one.
    sampled_ns: Option<i64>,
    /// Weight of all samples.
    weight_ns: i64,
}

impl Ran {
    fn slice(&mut self, from: i64, to: i64) {
        self.before_ns = self
            .before_ns
            .saturating_add(self.slice.1.saturating_sub(self.slice.0));
        self.slice = (from, to);
    }

    /// Returns the run time of all slices; without any, the weight of the samples.
    fn all(&self) -> i64 {
        let last = self.slice.1.saturating_sub(self.slice.0);
        match self.before_ns.saturating_add(last) {
            0 => self.weight_ns,
            ran => ran,
        }
    }

    /// Returns the run time since the previous sample; 0 for the first one.
    fn sample(&mut self, at: i64) -> i64 {
        let (from, to) = self.slice;
        // A sample may be outside of the known slice if switches are missing; then it counts at
        // most the slice.
        let ran = self
            .before_ns
            .saturating_add(at.clamp(from, to.max(from)).saturating_sub(from));
        let before = self.sampled_ns.replace(ran).unwrap_or(ran);
        ran.saturating_sub(before).max(0)
    }
}

impl Timeline for Profile<'_> {
    fn order(&self) -> Order {
        Order::Thread
    }

    fn start(&mut self, scene: &Scene<'_>) -> Result<()> {
        let mut seen: HashMap<i64, usize> = HashMap::new();
        for process in scene.processes.values() {
            // An id that another process had before gets a numeric suffix, as the format requires.
            let times = seen.entry(process.pid).or_insert(0);
            let pid = if *times > 0 {
                format!("{}.{times}", process.pid)
            } else {
                process.pid.to_string()
            };
            *times += 1;
            self.pids.insert(process.process_key, pid);
        }
        self.out
            .write_all(b"{\"pages\":[],\"counters\":[],\"threads\":[")
            .map_err(Error::Write)
    }

    fn item(&mut self, item: &Item, scene: &Scene<'_>) -> Result<()> {
        // Items come thread by thread, since a thread of the format is one object with all its
        // samples and markers.
        if item.thread != self.thread {
            self.finish_thread(scene)?;
            self.thread = item.thread;
        }
        match &item.what {
            What::Slice(slice) => self.ran.slice(item.time_ns, slice.end_ns),
            What::Sample(sample) => self.sample(item.time_ns, sample, scene)?,
            _ => {}
        }
        let Some(marker) = markers::of(item, scene) else {
            return Ok(());
        };
        let name = self.tables.string(&marker.name).to_string();
        let phase = marker.phase.to_string();
        let category = "0".to_owned();
        self.markers
            .push([name, marker.start, marker.end, phase, category, marker.data])
    }

    fn end(mut self: Box<Self>, scene: &Scene<'_>) -> Result<()> {
        self.finish_thread(scene)?;
        let meta = self.meta(scene);
        let Self { out, tables, .. } = *self;
        write!(out, "\n],\n{meta},\n").map_err(Error::Write)?;
        tables.write(out, scene.frames)?;
        out.write_all(b"}\n").map_err(Error::Write)
    }
}

impl Profile<'_> {
    /// Returns the member that describes the profile.
    fn meta(&self, scene: &Scene<'_>) -> String {
        let (visible, selected) = self.busy.visible();
        let list = |places: &[usize]| {
            let places: Vec<String> = places.iter().map(usize::to_string).collect();
            places.join(",")
        };
        // `symbolicated` and `symbolicationNotSupported` keep the profiler from asking a symbol
        // server for names that the profile has. Without samples the interval is the usual one of
        // Windows, 1 ms, since the format requires one. It also requires a start, which is
        // 1970 where it is not known.
        format!(
            "\"meta\":{{\"preprocessedProfileVersion\":60,\"version\":31,\"processType\":0,\"stackwalk\":1,\n\
             \"product\":{},\"importedFrom\":\"etwkit {}\",\"platform\":\"Windows\",\"interval\":{},\"startTime\":{},\n\
             \"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,\
             \"sourceCodeIsNotOnSearchfox\":true,\n\
             \"initialVisibleThreads\":[{}],\"initialSelectedThreads\":[{}],\n\
             \"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n\
             \"categories\":[{{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}],\n\
             \"markerSchema\":{}}}",
            text(scene.name),
            env!("CARGO_PKG_VERSION"),
            milliseconds(scene.sampling_ns.unwrap_or(1_000_000)),
            milliseconds(scene.start_unix_ns.unwrap_or(0)),
            list(&visible),
            list(selected.as_slice()),
            markers::SCHEMA
        )
    }

    fn sample(&mut self, at: i64, sample: &Sample, scene: &Scene<'_>) -> Result<()> {
        let stack = maybe(self.tables.stack(sample.stack_id, scene.frames));
        let ran = self.ran.sample(at).to_string();
        self.ran.weight_ns = self.ran.weight_ns.saturating_add(sample.weight_ns);
        self.samples
            .push([stack, milliseconds(at), milliseconds(sample.weight_ns), ran])
    }

    /// Writes the thread whose rows were added, if it has any.
    fn finish_thread(&mut self, scene: &Scene<'_>) -> Result<()> {
        let ran = std::mem::take(&mut self.ran);
        if self.samples.is_empty() && self.markers.is_empty() {
            return Ok(());
        }
        let comma = if self.busy.threads.is_empty() {
            ""
        } else {
            ","
        };
        // Marks of no thread are what people wrote into the trace to find a place again.
        self.busy.add(ran.all(), self.thread.is_none());
        let head = self.head(scene);
        write!(self.out, "{comma}\n{{{head},\n\"samples\":").map_err(Error::Write)?;
        // Without slices the run time of a thread is unknown, and zeros would be drawn as if it
        // never ran.
        let wants = |name: &str| scene.has_slices || name != CPU_DELTA;
        self.samples
            .finish(self.out, wants, ",\"weightType\":\"tracing-ms\"")?;
        self.out
            .write_all(b",\n\"markers\":")
            .map_err(Error::Write)?;
        self.markers.finish(self.out, |_| true, "")?;
        self.out.write_all(b"}").map_err(Error::Write)
    }

    /// Returns the members of a thread before its rows.
    fn head(&self, scene: &Scene<'_>) -> String {
        let thread = scene.thread(self.thread);
        let process = scene.process(self.thread);
        let pid = process.and_then(|process| self.pids.get(&process.process_key));
        let (name, tid) = match thread {
            Some(thread) => {
                let name = thread
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("Thread {}", thread.tid));
                (name, thread.tid)
            }
            None => ("(no thread)".to_owned(), 0),
        };
        let process_name = match (thread, process) {
            (None, _) => "(no thread)",
            (_, None) => "(unknown process)",
            (_, Some(process)) => process.name.as_deref().unwrap_or("?"),
        };
        let is_main = thread.is_none()
            || self.thread.is_some()
                && process.and_then(|process| process.main_thread_key) == self.thread;
        let time = |ns: Option<i64>| ns.map_or_else(|| "null".to_owned(), milliseconds);
        // A thread without a start ran when the recording began.
        let start = |ns: Option<i64>| milliseconds(ns.unwrap_or(0));
        format!(
            "\"processType\":\"default\",\"processName\":{},\"processStartupTime\":{},\"processShutdownTime\":{},\
             \"registerTime\":{},\"unregisterTime\":{},\"pausedRanges\":[],\"name\":{},\"isMainThread\":{is_main},\
             \"pid\":{},\"tid\":{tid}",
            text(process_name),
            start(process.and_then(|process| process.start_ns)),
            time(process.and_then(|process| process.stop_ns)),
            start(thread.and_then(|thread| thread.start_ns)),
            time(thread.and_then(|thread| thread.stop_ns)),
            text(&name),
            text(pid.map_or("?", String::as_str))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_threads_are_visible() {
        let of = |threads: &[(i64, bool)]| {
            let mut busy = Busy::default();
            threads
                .iter()
                .for_each(|(ns, is_always)| busy.add(*ns, *is_always));
            busy.visible()
        };
        assert_eq!(of(&[]), (vec![], None));
        // An idle thread is hidden; that of marks is not.
        assert_eq!(
            of(&[(0, false), (5, false), (7, false), (0, true)]),
            (vec![1, 2, 3], Some(2))
        );
        // Of 4000 threads, 40 are busy.
        let many: Vec<(i64, bool)> = (0..4000)
            .map(|at| (if at % 100 == 99 { at } else { 0 }, false))
            .collect();
        let (visible, selected) = of(&many);
        assert_eq!((visible.len(), selected), (VISIBLE, Some(3999)));
        assert_eq!(visible.first(), Some(&1099), "the least busy one of 30");
    }

    #[test]
    fn a_sample_says_how_long_its_thread_ran_since_the_one_before() {
        // It runs from 0 to 10, from 20 to 30 and from 40 to 50, and is sampled at 5, 25, 28 and
        // 60.
        let mut ran = Ran::default();
        let mut deltas = Vec::new();
        ran.slice(0, 10);
        deltas.push(ran.sample(5));
        ran.slice(20, 30);
        deltas.extend([ran.sample(25), ran.sample(28)]);
        ran.slice(40, 50);
        deltas.push(ran.sample(60));
        assert_eq!(deltas, [0, 10, 3, 12], "the first has none before it");
    }
}
