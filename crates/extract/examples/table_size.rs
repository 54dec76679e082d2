//! Bytes per row of the two largest tables, with made-up rows that are shaped like recorded ones.
//!
//! `cargo run -p etwkit-extract --example table_size` prints what an extract takes, by column;
//! `… -- compare` what each column would take with other encodings.

#![allow(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    missing_docs,
    reason = "a tool for developers"
)]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Extract, Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    ColumnKind, Columns, ContextSwitch, CpuSample, Mark, NotAsDeclared, Row, Table,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;

const ROWS: usize = 1_000_000;
const BATCH: usize = 65_536;
const PROCESSORS: i32 = 8;

type Rows = (&'static Table, Vec<RecordBatch>);

fn main() -> Result<(), Box<dyn Error>> {
    let tables = [collect(Samples::new())?, collect(Switches::new())?];
    if std::env::args().any(|arg| arg == "compare") {
        compare(&tables)?;
        return compare(&[collect(Texts(Random(11)))?]);
    }
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("run.etwx");
    let started = Instant::now();
    let mut writer = Writer::create(&target, WriterOptions::default())?;
    for (table, batches) in &tables {
        for batch in batches {
            writer.write(table, batch.clone())?;
        }
    }
    let (clock, machine) = (Clock::default(), Machine::default());
    writer.finish(Manifest::new(
        Detail::Full,
        TraceSource::default(),
        clock,
        machine,
    ))?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{:.1} million rows per second",
        (2 * ROWS) as f64 / seconds / 1e6
    );
    for file in Extract::open(&target)?.tables() {
        println!(
            "{}: {:.2} bytes per row",
            file.name,
            file.length as f64 / file.rows as f64
        );
        let metadata = file.metadata()?;
        for (index, column) in metadata
            .file_metadata()
            .schema_descr()
            .columns()
            .iter()
            .enumerate()
        {
            let groups = metadata.row_groups().iter();
            let bytes: i64 = groups
                .map(|group| group.column(index).compressed_size())
                .sum();
            println!(
                "  {:20} {:6.2}",
                column.name(),
                bytes as f64 / file.rows as f64
            );
        }
    }
    Ok(())
}

/// Bytes per row and milliseconds per million rows, for each column alone.
fn compare(tables: &[Rows]) -> Result<(), Box<dyn Error>> {
    let layouts = [
        ("plain", Encoding::PLAIN, false),
        ("dict", Encoding::PLAIN, true),
        ("delta", Encoding::DELTA_BINARY_PACKED, false),
        ("dict/delta", Encoding::DELTA_BINARY_PACKED, true),
        ("split", Encoding::BYTE_STREAM_SPLIT, false),
    ];
    for (table, batches) in tables {
        println!(
            "{}: bytes per row at zstd 1 and 3 (milliseconds)",
            table.name
        );
        for column in table.columns {
            print!("  {:20}", column.name);
            let index = table
                .columns
                .iter()
                .position(|other| other.name == column.name)
                .unwrap_or_default();
            let alone: Vec<_> = batches
                .iter()
                .map(|batch| batch.project(&[index]))
                .collect::<Result<_, _>>()?;
            for (name, encoding, dictionary) in layouts {
                let is_number = matches!(column.kind, ColumnKind::Int32 | ColumnKind::Int64);
                if !is_number && encoding != Encoding::PLAIN {
                    continue;
                }
                let (small, quick) = encoded(&alone, encoding, dictionary, 1)?;
                let (smaller, slow) = encoded(&alone, encoding, dictionary, 3)?;
                let per_row = |bytes: usize| bytes as f64 / ROWS as f64;
                print!(
                    " {name} {:.2} {:.2} ({} {})",
                    per_row(small),
                    per_row(smaller),
                    quick.as_millis(),
                    slow.as_millis()
                );
            }
            println!();
        }
    }
    Ok(())
}

fn encoded(
    batches: &[RecordBatch],
    encoding: Encoding,
    dictionary: bool,
    level: i32,
) -> Result<(usize, Duration), Box<dyn Error>> {
    let schema = batches
        .first()
        .map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_dictionary_enabled(dictionary)
        .set_encoding(encoding)
        .build();
    let started = Instant::now();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok((writer.into_inner()?.len(), started.elapsed()))
}

fn collect<R: Row>(rows: impl Iterator<Item = R>) -> Result<Rows, NotAsDeclared> {
    let mut columns = R::Columns::default();
    let mut batches = Vec::new();
    for row in rows.take(ROWS) {
        columns.push(&row);
        if columns.len() == BATCH {
            batches.push(columns.take()?);
        }
    }
    batches.push(columns.take()?);
    Ok((R::TABLE, batches))
}

/// Xorshift: the same rows each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit.max(1) as u64) as i64
    }

    /// Small values are common, large ones are rare: each doubling is as likely as the one before.
    fn skewed(&mut self, limit: i64) -> i64 {
        let bits = 64 - i64::leading_zeros(limit);
        let width = self.below(i64::from(bits) + 1);
        self.below(1 << width).min(limit)
    }

    fn maybe<T>(&mut self, percent: i64, value: T) -> Option<T> {
        (self.below(100) < percent).then_some(value)
    }
}

/// Stacks are numbered as they are first seen; some come again and again.
struct Stacks(i64);

impl Stacks {
    fn next(&mut self, random: &mut Random) -> i32 {
        if random.below(100) < 8 {
            self.0 += random.skewed(30);
            return self.0 as i32;
        }
        (self.0 - random.skewed(self.0).min(self.0)) as i32
    }
}

/// Eight processors, sampled each millisecond, a few microseconds apart; a third of them idle.
struct Samples {
    random: Random,
    stacks: Stacks,
    at: i64,
    cpu: i32,
    running: Vec<i32>,
}

impl Samples {
    fn new() -> Self {
        Self {
            random: Random(7),
            stacks: Stacks(500),
            at: 0,
            cpu: 0,
            running: vec![0; PROCESSORS as usize],
        }
    }
}

impl Iterator for Samples {
    type Item = CpuSample;

    fn next(&mut self) -> Option<CpuSample> {
        let random = &mut self.random;
        self.cpu = (self.cpu + 1) % PROCESSORS;
        self.at += if self.cpu == 0 {
            950_000 + random.below(20_000)
        } else {
            100 + random.skewed(40_000)
        };
        let running = self.running.get_mut(self.cpu as usize)?;
        if random.below(5) == 0 {
            *running = if random.below(3) == 0 {
                0
            } else {
                random.skewed(3000) as i32
            };
        }
        let is_idle = *running == 0;
        Some(CpuSample {
            ts_ns: self.at / 100 * 100,
            cpu: self.cpu,
            process_key: (!is_idle).then_some(*running / 12),
            thread_key: *running,
            weight_ns: 1_000_000,
            stack_id: if is_idle { 3 } else { self.stacks.next(random) },
            is_idle,
            is_dpc_isr: random.below(50) == 0,
            priority: Some(8 + random.skewed(6) as i32),
            has_stack: random.below(100) > 0,
            is_stack_incomplete: Some(false),
        })
    }
}

/// Slices of 1 to 1000 microseconds; half of them behind a wait.
struct Switches {
    random: Random,
    stacks: Stacks,
    at: i64,
}

impl Switches {
    fn new() -> Self {
        Self {
            random: Random(9),
            stacks: Stacks(2000),
            at: 0,
        }
    }
}

impl Iterator for Switches {
    type Item = ContextSwitch;

    fn next(&mut self) -> Option<ContextSwitch> {
        let random = &mut self.random;
        self.at += 1000 + random.skewed(1_000_000);
        let out_ns = self.at / 100 * 100;
        let in_ns = (out_ns - 1000 - random.skewed(1_000_000)) / 100 * 100;
        let ready = (random.skewed(200_000) + 1000) / 100 * 100;
        let wait = (random.skewed(500_000_000) + 1000) / 100 * 100;
        let thread = random.skewed(3000) as i32;
        let has_wait = thread > 0 && random.below(2) == 0;
        let readied_ns = has_wait.then_some(in_ns - ready);
        let readier = random.skewed(3000) as i32;
        let others = thread > 0 && random.below(4) == 0;
        Some(ContextSwitch {
            thread_key: thread,
            process_key: Some(thread / 12),
            cpu: Some(random.below(i64::from(PROCESSORS)) as i32),
            last_out_ns: random.maybe(99, in_ns - ready - wait),
            readied_ns,
            in_ns: Some(in_ns),
            out_ns: Some(out_ns),
            wait_ns: Some(if has_wait { wait } else { 0 }),
            ready_ns: Some(ready),
            run_ns: Some(out_ns - in_ns),
            dpc_isr_ns: Some(if random.below(4) == 0 {
                1000 + random.skewed(20_000) / 100 * 100
            } else {
                0
            }),
            prev_state: Some(if has_wait { 5 } else { 1 }),
            wait_reason: Some(if has_wait {
                random.skewed(30) as i32
            } else {
                0
            }),
            stack_id: (thread > 0).then(|| self.stacks.next(random)),
            readying_thread_key: readied_ns.map(|_| readier),
            readying_stack_id: readied_ns.map(|_| self.stacks.next(random)),
            is_readied_by_dpc: has_wait && random.below(5) == 0,
            is_open_wait: false,
            priority: Some(8 + random.skewed(6) as i32),
            out_priority: Some(8 + random.skewed(6) as i32),
            is_user_wait: has_wait.then_some(thread % 4 > 0),
            adjust_reason: has_wait.then_some(1),
            instead_thread_key: others.then_some(readier / 2),
            instead_ns: others.then_some(ready),
            instead_priority: others.then(|| 8 + random.skewed(6) as i32),
            prev_c_state: random.maybe(30, thread % 3),
        })
    }
}

/// Decoded fields of events, a text each.
struct Texts(Random);

impl Iterator for Texts {
    type Item = Mark;

    fn next(&mut self) -> Option<Mark> {
        let random = &mut self.0;
        let (id, size, status) = (
            random.below(1 << 40),
            random.skewed(1 << 20),
            random.skewed(5),
        );
        let path = format!("C:\\\\Users\\\\a\\\\file{}.txt", random.skewed(5000));
        let text = format!(
            "{{\"RequestId\":{id},\"Path\":\"{path}\",\"Size\":{size},\"Status\":{status}}}"
        );
        Some(Mark {
            text,
            ..Mark::default()
        })
    }
}
