//! Parallel work with pauses: every 200 ms all threads meet for an empty piece of work. Runtimes of
//! parallel loops (OpenMP) let their threads wait for the next piece in a loop, which takes whole
//! processors for nothing; with a wait that sleeps it takes none.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::lab::cpu_time::of_process;
use crate::lab::crowd::processors;
use crate::lab::{Bench, Report};

/// Time from one piece of work to the next.
const BETWEEN: Duration = Duration::from_millis(200);

/// Wait of the threads for the next piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Wait {
    /// In a loop, as OpenMP does for the first 200 ms
    #[default]
    Spin,
    /// Asleep, as with KMP_BLOCKTIME=0
    Block,
}

/// Number of threads, the way in which they wait, and the duration.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpinArgs {
    /// Threads; the default is one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    threads: Option<u32>,
    /// Duration
    #[arg(long, value_name = "SECONDS", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Way in which threads wait for the next piece of work
    #[arg(long, value_enum, default_value_t)]
    wait: Wait,
}

/// The piece of work that is due, by its number.
#[derive(Default)]
struct Due {
    number: AtomicU32,
    is_over: AtomicBool,
    changed: (Mutex<()>, Condvar),
}

impl Due {
    fn next(&self) {
        let (lock, changed) = &self.changed;
        // Without the lock, a thread that has compared the numbers and does not sleep yet would
        // miss the notice.
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.number.fetch_add(1, Ordering::SeqCst);
        changed.notify_all();
    }

    /// Waits for a number other than the last one.
    fn wait(&self, last: u32, how: Wait) -> u32 {
        let number = || self.number.load(Ordering::SeqCst);
        if how == Wait::Spin {
            while number() == last {
                std::hint::spin_loop();
            }
            return number();
        }
        let (lock, changed) = &self.changed;
        let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(held, |()| number() == last));
        number()
    }
}

impl SpinArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let threads = self.threads.unwrap_or_else(processors);
        let due = Due::default();
        let pieces = AtomicU32::new(0);
        let begun = Instant::now();
        let before = of_process();
        let end = begun + Duration::from_secs(self.seconds.into());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut last = 0;
                    while !due.is_over.load(Ordering::SeqCst) {
                        last = due.wait(last, self.wait);
                        pieces.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while Instant::now() < end && !(bench.is_stopped)() {
                std::thread::sleep(BETWEEN.min(end.saturating_duration_since(Instant::now())));
                bench.until(begun, end);
                due.next();
            }
            // One more piece afterwards: threads that wait for the next one would not see that it
            // is over.
            due.is_over.store(true, Ordering::SeqCst);
            due.next();
        });
        let wall = begun.elapsed().as_secs_f64();
        let how = if self.wait == Wait::Spin {
            "in a loop"
        } else {
            "asleep"
        };
        let mut report = Report::new("spin", &["cswitch"], "diagnose");
        report.line(format!(
            "{threads} threads waited {how} for work that was empty, for {wall:.1} s."
        ));
        report.value("threads", threads.into(), "count");
        report.value("wall_s", wall, "s");
        report.value("pieces", pieces.into_inner().into(), "count");
        if let Some(used) = of_process()
            .zip(before)
            .map(|(now, before)| (now - before).as_secs_f64())
        {
            let percent = used * 100.0 / (wall * f64::from(threads.min(processors())));
            report.line(format!(
                "They used {used:.2} s of CPU: {percent:.1} % of the processors that they could have."
            ));
            report.value("cpu_s", used, "s");
            report.value("cpu_percent", percent, "percent");
        }
        Ok(report)
    }
}
