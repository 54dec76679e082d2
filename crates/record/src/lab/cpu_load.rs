//! Threads that compute for a fixed wall-clock time. Their CPU time does not depend on the speed of
//! the processor: less than threads × time means that other programs had the processors.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::lab::cpu_time::of_process;
use crate::lab::crowd::{crowd, processors};
use crate::lab::priority::Priority;
use crate::lab::{Bench, Report};

/// Steps between two reads of the clock.
const STEPS: u32 = 10_000;

/// Number of threads, and the duration.
#[derive(Debug, Clone, Args)]
pub(crate) struct CpuLoadArgs {
    /// Threads; the default is one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    threads: Option<u32>,
    /// Time that each of them computes
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Priority of the process [default: that of the process that starts it]
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) priority: Option<Priority>,
}

impl CpuLoadArgs {
    /// Returns the command line of the same workload without a priority.
    pub(crate) fn without_priority(&self, json: bool) -> Vec<String> {
        let mut args = vec![
            "cpu-load".to_owned(),
            "--seconds".to_owned(),
            self.seconds.to_string(),
        ];
        args.extend(
            self.threads
                .iter()
                .flat_map(|threads| ["--threads".to_owned(), threads.to_string()]),
        );
        args.extend(json.then(|| "--json".to_owned()));
        args
    }

    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let threads = self.threads.unwrap_or_else(processors);
        let begun = Instant::now();
        let before = of_process();
        let end = begun + Duration::from_secs(self.seconds.into());
        let look = || bench.until(begun, end);
        crowd(threads, bench, look, |_, is_over| {
            compute(&|| is_over() || Instant::now() >= end);
        });
        let wall = begun.elapsed().as_secs_f64();
        let mut report = Report::new("cpu-load", &["cswitch", "power"], "dump cores");
        report.line(format!("Did run {threads} threads in {wall:.1} s."));
        report.value("threads", threads.into(), "count");
        report.value("wall_s", wall, "s");
        if let Some(used) = of_process()
            .zip(before)
            .map(|(now, before)| (now - before).as_secs_f64())
        {
            let wanted = f64::from(threads * self.seconds);
            let percent = used * 100.0 / wanted;
            report.line(format!(
                "They used {used:.1} s of CPU of {wanted:.0} s that they wanted: {percent:.1} %."
            ));
            report.value("cpu_s", used, "s");
            report.value("cpu_percent", percent, "percent");
        } else {
            report.line("Only a recording shows on this system how much CPU they used.");
        }
        Ok(report)
    }
}

/// Computes until it is over, which is checked every few microseconds.
fn compute(is_over: &dyn Fn() -> bool) {
    let mut number = 1_u64;
    while !is_over() {
        for _ in 0..STEPS {
            number = black_box(
                number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1),
            );
        }
    }
}
