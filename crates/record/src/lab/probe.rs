//! A probe that runs every 10 ms next to a workload. Its duration shows if the workload holds up
//! the rest of the machine.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::lab::Report;
use crate::lab::spread::Spread;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// Duration of each try.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tries(pub(crate) Vec<Duration>);

/// Names of the values of some tries: total, maximum, median, and 99th percentile.
pub(crate) struct ValueNames {
    pub(crate) total: &'static str,
    pub(crate) most: &'static str,
    pub(crate) median: &'static str,
    pub(crate) slow: &'static str,
}

impl Tries {
    /// Adds the two lines in the words of the case study's program, one about the spread, and the
    /// values.
    pub(crate) fn report(self, report: &mut Report, names: &ValueNames) {
        let count = self.0.len();
        let spread = Spread::of(self.0);
        let [total, most] = [spread.total, spread.longest].map(|time| time.as_secs_f64());
        report.line(format!(
            "Lock blocked for {total:.3} s total, maximum was {most:.3} s."
        ));
        report.line(format!(
            "Average block time was {:.6} s.",
            total / count.max(1) as f64
        ));
        let [median, slow] = [spread.median, spread.slow].map(|time| time.as_secs_f64() * 1e3);
        report.line(format!(
            "Half of the tries took at most {median:.3} ms, 99 % at most {slow:.3} ms."
        ));
        report.seconds(names.total, spread.total);
        report.seconds(names.most, spread.longest);
        report.seconds(names.median, spread.median);
        report.seconds(names.slow, spread.slow);
    }
}

/// A thread that tries.
pub(crate) struct Probe {
    end: Sender<()>,
    thread: JoinHandle<Tries>,
}

impl Probe {
    /// Starts tries that set their own pace; `tries` gets a function that returns true when they
    /// should end.
    pub(crate) fn begin(tries: impl FnOnce(&dyn Fn() -> bool) -> Tries + Send + 'static) -> Self {
        Self::with(|ended| tries(&|| !matches!(ended.try_recv(), Err(TryRecvError::Empty))))
    }

    /// Starts to try every 10 ms.
    pub(crate) fn every_10_ms(attempt: impl Fn() + Send + 'static) -> Self {
        Self::with(move |ended| {
            let mut tries = Vec::new();
            loop {
                let begun = Instant::now();
                attempt();
                tries.push(begun.elapsed());
                if !matches!(ended.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout)) {
                    return Tries(tries);
                }
            }
        })
    }

    fn with(work: impl FnOnce(Receiver<()>) -> Tries + Send + 'static) -> Self {
        let (end, ended) = channel();
        Self {
            end,
            thread: std::thread::spawn(move || work(ended)),
        }
    }

    /// Ends the thread as soon as the current try is finished.
    ///
    /// # Errors
    /// The thread failed, and its tries are lost.
    pub(crate) fn end(self) -> Result<Tries> {
        // The closed channel is the signal: it also ends the thread if a workload fails and drops
        // the probe.
        drop(self.end);
        self.thread.join().ok().context("the probe failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_reported_in_the_words_of_the_case_study() {
        let names = ValueNames {
            total: "total_s",
            most: "most_s",
            median: "median_s",
            slow: "slow_s",
        };
        let mut report = Report::new("process-create", &[], "");
        Tries([8, 1, 3].map(Duration::from_millis).to_vec()).report(&mut report, &names);
        assert_eq!(
            report.lines,
            [
                "Lock blocked for 0.012 s total, maximum was 0.008 s.",
                "Average block time was 0.004000 s.",
                "Half of the tries took at most 3.000 ms, 99 % at most 8.000 ms.",
            ]
        );
        let values =
            ["total_s", "most_s", "median_s", "slow_s"].map(|name| report.of(name).unwrap());
        assert_eq!(values, [0.012, 0.008, 0.003, 0.008]);
    }

    #[test]
    fn a_try_every_10_ms_until_the_end() {
        let probe = Probe::every_10_ms(|| ());
        std::thread::sleep(Duration::from_millis(100));
        let tries = probe.end().unwrap().0.len();
        assert!((1..=11).contains(&tries), "{tries}");
    }
}
