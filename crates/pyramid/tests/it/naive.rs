//! Sums over rows, computed directly from their definitions, without regard for time or memory.

use std::collections::BTreeMap;

use etwkit_extract::Extract;
use etwkit_trace::derive::columns::{Get, boolean, int32, int64};

/// A stretch of a state, from the rows of `context_switch`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) thread: i32,
    pub(crate) process: i32,
    pub(crate) cpu: Option<i32>,
    /// `running`, `ready` or `waiting`.
    pub(crate) state: &'static str,
    pub(crate) reason: Option<i32>,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// All of a trace.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) stretches: Vec<Stretch>,
    /// Thread, process, processor and time of each switch-in.
    pub(crate) switches: Vec<(i32, i32, i32, i64)>,
}

/// Running, ready, waiting, switch-ins.
pub(crate) type Sums = [i64; 4];

impl Rows {
    pub(crate) fn read(extract: &Extract) -> Self {
        let one = |table: &str, column: &str| {
            let mut batches = extract
                .table(table)
                .unwrap()
                .batches(Some(&[column]))
                .unwrap();
            int64(&batches.next().unwrap().unwrap(), column)
                .unwrap()
                .get(0)
        };
        let end = one("trace", "kernel_end_ns").unwrap_or(0);
        let start = one("trace", "kernel_start_ns").unwrap_or(0);
        let mut idle = None;
        for batch in extract.table("process").unwrap().batches(None).unwrap() {
            let batch = batch.unwrap();
            let (key, pid) = (
                int32(&batch, "process_key").unwrap(),
                int32(&batch, "pid").unwrap(),
            );
            idle = idle.or((0..batch.num_rows())
                .find(|row| pid.get(*row) == Some(0))
                .and_then(|row| key.get(row)));
        }
        let mut rows = Self::default();
        for batch in extract
            .table("context_switch")
            .unwrap()
            .batches(None)
            .unwrap()
        {
            rows.read_batch(&batch.unwrap(), (start, end), idle);
        }
        rows
    }

    fn read_batch(
        &mut self,
        batch: &arrow_array::RecordBatch,
        (start, end): (i64, i64),
        idle: Option<i32>,
    ) {
        let number = |name: &str, row| int32(batch, name).unwrap().get(row);
        let time = |name: &str, row| int64(batch, name).unwrap().get(row);
        for row in 0..batch.num_rows() {
            let process = number("process_key", row);
            if process.is_some() && process == idle {
                continue;
            }
            let (thread, process) = (number("thread_key", row).unwrap(), process.unwrap_or(-1));
            let (out, entry, exit) = (
                time("last_out_ns", row),
                time("in_ns", row),
                time("out_ns", row),
            );
            let mut put = |state, from: Option<i64>, length: Option<i64>| {
                if let (Some(from), Some(length)) = (from, length)
                    && length > 0
                {
                    let (cpu, reason) = (number("cpu", row), number("wait_reason", row));
                    let to = from + length;
                    self.stretches.push(Stretch {
                        thread,
                        process,
                        cpu,
                        state,
                        reason,
                        from,
                        to,
                    });
                }
            };
            if boolean(batch, "is_open_wait").unwrap().get(row) == Some(true) {
                put("waiting", out, out.map(|out| end - out));
            } else {
                put("waiting", out, time("wait_ns", row));
            }
            let ready = time("ready_ns", row);
            put(
                "ready",
                entry
                    .map(|entry| entry - ready.unwrap_or(0))
                    .or(time("readied_ns", row))
                    .or(out),
                ready,
            );
            let run = time("run_ns", row);
            let begin = entry
                .or(exit.map(|exit| exit - run.unwrap_or(0)))
                .unwrap_or(start);
            put("running", Some(begin), run);
            if let Some(entry) = entry {
                self.switches
                    .push((thread, process, number("cpu", row).unwrap_or(-1), entry));
            }
        }
    }

    /// Sums within a part of time by `key` of stretches and switch-ins.
    pub(crate) fn sums(
        &self,
        (from, to): (i64, i64),
        of_stretch: impl Fn(&Stretch) -> Option<i32>,
        of_switch: impl Fn(&(i32, i32, i32, i64)) -> Option<i32>,
    ) -> BTreeMap<i32, Sums> {
        let mut sums: BTreeMap<i32, Sums> = BTreeMap::new();
        for stretch in &self.stretches {
            let length = (stretch.to.min(to) - stretch.from.max(from)).max(0);
            let state = ["running", "ready", "waiting"]
                .iter()
                .position(|state| *state == stretch.state);
            if let Some(key) = of_stretch(stretch).filter(|_| length > 0) {
                sums.entry(key).or_default()[state.unwrap()] += length;
            }
        }
        for switch in self
            .switches
            .iter()
            .filter(|switch| switch.3 >= from && switch.3 < to)
        {
            if let Some(key) = of_switch(switch) {
                sums.entry(key).or_default()[3] += 1;
            }
        }
        sums
    }

    /// The rows that touch a part of time.
    pub(crate) fn within(&self, (from, to): (i64, i64)) -> Self {
        let touches = |stretch: &&Stretch| stretch.from < to && stretch.to > from;
        let is_in = |switch: &&(i32, i32, i32, i64)| switch.3 >= from && switch.3 < to;
        Self {
            stretches: self.stretches.iter().filter(touches).copied().collect(),
            switches: self.switches.iter().filter(is_in).copied().collect(),
        }
    }

    pub(crate) fn by_thread(&self, range: (i64, i64)) -> BTreeMap<i32, Sums> {
        self.sums(
            range,
            |stretch| Some(stretch.thread),
            |switch| Some(switch.0),
        )
    }

    pub(crate) fn by_process(&self, range: (i64, i64)) -> BTreeMap<i32, Sums> {
        self.sums(
            range,
            |stretch| Some(stretch.process),
            |switch| Some(switch.1),
        )
    }

    pub(crate) fn by_core(&self, range: (i64, i64)) -> BTreeMap<i32, Sums> {
        let running = |stretch: &Stretch| stretch.cpu.filter(|_| stretch.state == "running");
        self.sums(range, running, |switch| (switch.2 >= 0).then_some(switch.2))
    }
}

/// A share of a bucket in a picture.
pub(crate) fn share(value: i64, width: i64) -> u8 {
    if value == 0 {
        return 0;
    }
    let rounded = (value * 255 + width / 2) / width;
    rounded.clamp(1, 255) as u8
}
