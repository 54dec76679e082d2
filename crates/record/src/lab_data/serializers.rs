//! The same objects written and read in several formats. Three numbers describe a format: how fast
//! it is when everything is warm, how many bytes it needs, and how long its first call in a new
//! process takes. The floor below all of them is the time of a plain copy of the objects.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use etwkit_terminal::errors::advised;

use crate::formats::{FORMATS, Format};
use crate::rows::Rows;
use crate::shelf::BookShelf;

/// Number and size of the objects.
#[derive(Debug, Args)]
pub(crate) struct SerializersArgs {
    /// Numbers of objects, each of which is measured
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,10,100,1000,10000,100000",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    objects: Vec<u32>,
    /// Bytes of data in each object
    #[arg(long, value_name = "BYTES", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    payload: u32,
    /// Number of times that each is measured; the median is reported. One more goes before them,
    /// which is not counted
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Formats [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    format: Vec<String>,
}

/// Name of the row that only copies.
const FLOOR: &str = "floor (copy)";

impl SerializersArgs {
    /// Runs the workload. `progress` gets the number of measured formats, once for each number of
    /// objects, and the total.
    pub(crate) fn run(&self, progress: &dyn Fn(u64, u64)) -> Result<Rows<6>> {
        let formats = self.formats()?;
        let mut rows = Vec::new();
        let first: Vec<Duration> = formats
            .iter()
            .map(|format| first_call(format))
            .collect::<Result<_>>()?;
        let all = (self.objects.len() * (formats.len() + 1)) as u64;
        for objects in &self.objects {
            let shelf = BookShelf::of(*objects, self.payload);
            let copied = self.median(|| Ok(shelf.clone()))?;
            let count = objects.to_string();
            rows.push([
                FLOOR.into(),
                count.clone(),
                String::new(),
                ms(copied),
                String::new(),
                String::new(),
            ]);
            for (format, first) in formats.iter().zip(&first) {
                let bytes = (format.write)(&shelf)?;
                ensure!(
                    // A format that is faster because it loses data must not be compared.
                    (format.read)(&bytes)? == shelf,
                    "{} reads something else than it has written",
                    format.name
                );
                let written = self.median(|| (format.write)(&shelf))?;
                let read = self.median(|| (format.read)(&bytes))?;
                progress(rows.len() as u64 + 1, all);
                let size = bytes.len().to_string();
                rows.push([
                    format.name.into(),
                    count.clone(),
                    ms(written),
                    ms(read),
                    size,
                    ms(*first),
                ]);
            }
        }
        Ok(Rows {
            heading: "Serializers, the median of each",
            columns: [
                "format",
                "objects>",
                "write_ms>",
                "read_ms>",
                "bytes>",
                "first_call_ms>",
            ],
            rows,
        })
    }

    fn formats(&self) -> Result<Vec<&'static Format>> {
        if self.format.is_empty() {
            return Ok(FORMATS.iter().collect());
        }
        self.format.iter().map(|name| find(name)).collect()
    }

    /// Returns the median time of some work, without the first time. Its result is freed outside of
    /// the measured time.
    fn median<T>(&self, work: impl Fn() -> Result<T>) -> Result<Duration> {
        // The first time pays for memory of the allocator and caches, which is the number of the
        // first call, not this one.
        drop(black_box(work()?));
        let timed = |_| {
            let begun = Instant::now();
            let made = black_box(work()?);
            let took = begun.elapsed();
            drop(made);
            Ok(took)
        };
        let mut times: Vec<Duration> = (0..self.runs).map(timed).collect::<Result<_>>()?;
        times.sort_unstable();
        times
            .get(times.len() / 2)
            .copied()
            .context("nothing was measured")
    }
}

fn find(name: &str) -> Result<&'static Format> {
    let names = || {
        FORMATS
            .iter()
            .map(|format| format.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| {
        advised(
            format!("no format is called \"{name}\""),
            format!("there are {}", names()),
        )
    })
}

/// Returns the nanoseconds to write and read one object, in a process that has done nothing yet.
pub(crate) fn first(name: &str) -> Result<u128> {
    let (format, shelf) = (find(name)?, BookShelf::of(1, 10));
    let begun = Instant::now();
    black_box((format.read)(&(format.write)(&shelf)?)?);
    Ok(begun.elapsed().as_nanos())
}

/// Duration of [`first`] in a new process. The third process counts, since the first two bring the
/// program into memory.
fn first_call(format: &Format) -> Result<Duration> {
    let program = std::env::current_exe().context("cannot find this program, to start it again")?;
    let mut took = Duration::ZERO;
    for _ in 0..3 {
        let output = Command::new(&program).args(["first", format.name]).output();
        let output = output.with_context(|| format!("cannot start {}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let nanoseconds = text
            .trim()
            .parse()
            .with_context(|| format!("{} failed in a new process", format.name))?;
        took = Duration::from_nanos(nanoseconds);
    }
    Ok(took)
}

fn ms(time: Duration) -> String {
    format!("{:.4}", time.as_secs_f64() * 1e3)
}
