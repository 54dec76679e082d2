//! Section `schedule`: time that processes ran, were ready and waited, from context switches.

use std::collections::BTreeMap;

use etwkit_decode::kernel::scheduler::{ContextSwitch, ReadyThread, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::clock::Clock;
use etwkit_etl::{RawEvent, Session};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::process_text;
use crate::directory::Directory;
use crate::gaps::{Edge, GapWatch};
use crate::schedule::{Run, Schedule, SwitchIn, starts};
use crate::tracker::process::ProcessKey;

/// The activity of a thread or process, in raw ticks. Sums over threads: they add up, and several
/// threads can wait at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// On a processor, between a switch-in and a switch-out of the trace.
    pub running: i64,
    /// On a processor from the first event of the kernel logger, or the end of a gap, to the next
    /// switch.
    pub running_at_start: i64,
    /// Time on a processor from a switch to the last event of the kernel logger, or to a gap.
    pub running_at_end: i64,
    /// Ready to run, without a processor.
    pub ready: i64,
    /// Waiting, as far as the wait ended in the trace.
    pub waiting: i64,
    /// Switch-ins.
    pub switches: u64,
    /// Switch-ins of a thread that had been preempted.
    pub preempted: u64,
}

impl Times {
    /// Broken time stamps can make any sum overflow; it saturates then.
    fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.running, other.running),
            (&mut self.running_at_start, other.running_at_start),
            (&mut self.running_at_end, other.running_at_end),
            (&mut self.ready, other.ready),
            (&mut self.waiting, other.waiting),
        ] {
            add(sum, part);
        }
        self.switches += other.switches;
        self.preempted += other.preempted;
    }

    /// Total time on a processor.
    #[must_use]
    pub const fn on_cpu(&self) -> i64 {
        self.running
            .saturating_add(self.running_at_start)
            .saturating_add(self.running_at_end)
    }
}

fn add(sum: &mut i64, ticks: i64) {
    *sum = sum.saturating_add(ticks);
}

/// Times of every thread, and busy time of every processor.
pub struct ScheduleSummary<'d> {
    directory: &'d Directory,
    schedule: Schedule,
    threads: FxHashMap<(Option<ProcessKey>, u32), Times>,
    wait_reasons: FxHashMap<(Option<ProcessKey>, u32, u8), i64>,
    gaps: GapWatch<'d>,
}

impl<'d> ScheduleSummary<'d> {
    /// It needs all events in order of time.
    #[must_use]
    pub fn new(directory: &'d Directory, session: &'d Session) -> Self {
        Self {
            directory,
            schedule: Schedule::new(starts(session, directory)),
            threads: FxHashMap::default(),
            wait_reasons: FxHashMap::default(),
            gaps: GapWatch::new(&directory.gaps),
        }
    }

    /// Takes a scheduler event.
    pub fn add(&mut self, hook: Hook, event: &RawEvent<'_>) {
        match (hook.group, hook.opcode) {
            (group::THREAD, opcode::CONTEXT_SWITCH) => {
                self.watch(event.timestamp);
                if let Some(switch) = ContextSwitch::parse(event.payload()) {
                    let (run, switch_in) =
                        self.schedule.switch(event.timestamp, event.cpu, &switch);
                    self.ran(run);
                    self.switched_in(&switch_in);
                }
            }
            (group::THREAD, opcode::READY_THREAD) => {
                self.watch(event.timestamp);
                if let Some(ready) = ReadyThread::parse(event.payload()) {
                    self.schedule
                        .ready(event.timestamp, event.cpu, &ready, None);
                }
            }
            _ => {}
        }
    }

    /// Advances the clock to `time`, first closing every gap that ends before it.
    fn watch(&mut self, time: i64) {
        while let Some(edge) = self.gaps.edge(time) {
            match edge {
                Edge::Begin(gap) => {
                    // The thread that was running when the gap started may have been switched out
                    // inside it unseen: its time counts only up to the edge.
                    let run = self.schedule.begin_gap(&gap);
                    run.into_iter().for_each(|run| self.ran_to_an_edge(run));
                }
                Edge::End(gap) => self.schedule.end_gap(&gap),
            }
        }
    }

    fn ran_to_an_edge(&mut self, run: Run) {
        let times = self
            .threads
            .entry(self.owner(run.tid, run.since.unwrap_or(run.until)))
            .or_default();
        add(
            &mut times.running_at_end,
            run.since.map_or(0, |since| run.until.saturating_sub(since)),
        );
    }

    fn owner(&self, tid: u32, timestamp: i64) -> (Option<ProcessKey>, u32) {
        (self.directory.process_of_thread(tid, timestamp), tid)
    }

    fn ran(&mut self, run: Run) {
        // A thread that ends is taken off at the time of its end.
        let times = self
            .threads
            .entry(self.owner(run.tid, run.since.unwrap_or(run.until)))
            .or_default();
        let sum = if run.is_switched_in {
            &mut times.running
        } else {
            &mut times.running_at_start
        };
        add(
            sum,
            run.since.map_or(0, |since| run.until.saturating_sub(since)),
        );
    }

    fn switched_in(&mut self, switch: &SwitchIn) {
        let owner = self.owner(switch.tid, switch.time);
        let times = self.threads.entry(owner).or_default();
        times.switches += 1;
        times.preempted += u64::from(switch.last_out.is_some() && switch.was_preempted());
        if let Some(ready) = switch.ready() {
            add(&mut times.ready, ready);
        }
        if let Some(wait) = switch.wait().filter(|wait| *wait > 0) {
            add(&mut times.waiting, wait);
            add(
                self.wait_reasons
                    .entry((owner.0, owner.1, switch.wait_reason))
                    .or_default(),
                wait,
            );
        }
    }

    /// Ends all running slices at the last event of the kernel logger.
    pub fn finish(&mut self) {
        self.watch(i64::MAX);
        let Some((_, end)) = self.directory.kernel_times else {
            return;
        };
        for run in std::mem::take(&mut self.schedule).finish(end) {
            self.ran_to_an_edge(run);
        }
    }

    /// Times of each thread, in no order. Thread 0 is idle.
    pub fn threads(&self) -> impl Iterator<Item = (Option<ProcessKey>, u32, &Times)> {
        self.threads
            .iter()
            .map(|((process, tid), times)| (*process, *tid, times))
    }

    /// Waiting time of each thread by reason, in no order.
    pub fn wait_reasons(&self) -> impl Iterator<Item = (Option<ProcessKey>, u32, u8, i64)> {
        self.wait_reasons
            .iter()
            .map(|((process, tid, reason), ticks)| (*process, *tid, *reason, *ticks))
    }

    /// Times of each process, most time on a processor first; without idle.
    #[must_use]
    pub fn processes(&self) -> Vec<(Option<ProcessKey>, Times)> {
        let mut sums: BTreeMap<Option<ProcessKey>, Times> = BTreeMap::new();
        for (process, tid, times) in self.threads() {
            // Thread 0 means the idle threads of all processors, whose time belongs to no process.
            if tid != 0 {
                sums.entry(process).or_default().add(times);
            }
        }
        let mut rows: Vec<_> = sums.into_iter().collect();
        rows.sort_by_key(|(_, times)| std::cmp::Reverse(times.on_cpu()));
        rows
    }
}

/// The section, from the rows of [`ScheduleSummary::processes`].
pub(super) fn section(
    processes: &[(Option<ProcessKey>, Times)],
    directory: &Directory,
    clock: &Clock,
) -> Value {
    let us = |ticks: i64| clock.duration_seconds(ticks) * 1e6;
    let row = |(process, t): &(Option<ProcessKey>, Times)| {
        let value = json!({
            "running_us": us(t.on_cpu()),
            "ready_us": us(t.ready),
            "waiting_us": us(t.waiting),
            "switches": t.switches,
            "preempted": t.preempted,
        });
        (process_text(directory, *process), value)
    };
    json!({ "by_process": processes.iter().map(row).collect::<serde_json::Map<_, _>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_broken_time_stamps_stay_at_the_limit() {
        let mut sum = Times {
            running: i64::MAX,
            waiting: i64::MIN,
            ..Times::default()
        };
        sum.add(&Times {
            running: 1,
            running_at_end: 1,
            waiting: -1,
            switches: 1,
            ..Times::default()
        });
        assert_eq!(
            (sum.running, sum.waiting, sum.on_cpu(), sum.switches),
            (i64::MAX, i64::MIN, i64::MAX, 1)
        );
    }
}
