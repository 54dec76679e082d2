//! Cores, speeds, parking, idle states, performance counters and branch records: events in, rows
//! out.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_decode::kernel::processor_power::PROCESSOR_POWER;
use etwkit_etl::Session;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
pub(crate) use etwkit_testkit::payload::{bytes, wide};
use etwkit_trace::import::{Imported, Options, Range, import};
use etwkit_trace::table::{
    CpuCore, CpuFrequency, CpuIdleState, CpuParking, GenericEvent, Lbr, Pmc, PmcCounter, PmcSample,
    Row, Table,
};

pub(crate) type Batches = Vec<(&'static Table, RecordBatch)>;

/// A trace of two processors that is being written; one tick is a microsecond.
pub(crate) struct Recording {
    pub(crate) writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    pub(crate) start: i64,
    start_time: i64,
}

/// Little-endian numbers with their sizes.
impl Recording {
    pub(crate) fn new() -> Self {
        let mut options = SessionOptions::default();
        options.header.perf_freq = 1_000_000;
        options.header.cpu_count = 2;
        options.header.session_name = "NT Kernel Logger".into();
        let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            start: options.t0,
            start_time: options.header.start_time,
        }
    }

    pub(crate) fn kernel(
        &mut self,
        us: i64,
        cpu: u16,
        (group, opcode, version): (u8, u8, u8),
        payload: &[u8],
    ) {
        self.counted(us, cpu, (group, opcode, version), payload, &[]);
    }

    fn counted(
        &mut self,
        us: i64,
        cpu: u16,
        kind: (u8, u8, u8),
        payload: &[u8],
        pmc_values: &[u64],
    ) {
        let (group, opcode, version) = kind;
        let timestamp = self.start + us;
        let event = KernelEvent {
            timestamp,
            group,
            opcode,
            version,
            payload,
            pmc_values,
            ..KernelEvent::default()
        };
        self.writer.write(cpu, event).unwrap();
    }

    /// An event of Kernel-Processor-Power about a processor of group 0.
    fn power(&mut self, us: i64, (id, version): (u16, u8), payload: &[(u64, usize)]) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider: PROCESSOR_POWER,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            payload: &bytes(payload),
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    pub(crate) fn switch(&mut self, us: i64, cpu: u16, old: u32, new: u32, counters: &[u64]) {
        let payload = bytes(&[
            (new.into(), 4),
            (old.into(), 4),
            (0x0808, 2),
            (0, 4),
            (5, 1),
            (0, 1),
            (0, 8),
        ]);
        self.counted(us, cpu, (5, 36, 4), &payload, counters);
    }

    pub(crate) fn rows(self, range: Range) -> Batches {
        self.imported(range).0
    }

    pub(crate) fn imported(self, range: Range) -> (Batches, Imported) {
        let file = self
            .writer
            .finish(self.start_time + 10_000)
            .unwrap()
            .into_inner();
        let session = Session::open(vec![Box::new(file)]).unwrap();
        let mut sink = Batches::new();
        let options = Options {
            range,
            ..Options::default()
        };
        let imported = import(&session, &options, &mut sink, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        (sink, imported)
    }
}

/// Columns of a table, row by row; times in microseconds.
pub(crate) fn read<const N: usize>(
    batches: &Batches,
    table: &Table,
    columns: [&str; N],
) -> Vec<[Option<i64>; N]> {
    let mut rows = Vec::new();
    for (_, batch) in batches.iter().filter(|(of, _)| of.name == table.name) {
        let values = columns.map(|name| {
            let array = batch.column_by_name(name).unwrap();
            let unit = if name.ends_with("_ns") { 1000 } else { 1 };
            let numbers: Vec<Option<i64>> = match array.as_primitive_opt::<Int32Type>() {
                Some(small) => small.iter().map(|n| n.map(i64::from)).collect(),
                None => array
                    .as_primitive::<Int64Type>()
                    .iter()
                    .map(|n| n.map(|n| n / unit))
                    .collect(),
            };
            numbers
        });
        rows.extend(
            (0..batch.num_rows()).map(|row| std::array::from_fn(|column| values[column][row])),
        );
    }
    rows
}

pub(crate) fn words(batches: &Batches, table: &Table, column: &str) -> Vec<String> {
    let of = batches.iter().filter(|(of, _)| of.name == table.name);
    let texts = |(_, batch): &(_, RecordBatch)| {
        let array = batch
            .column_by_name(column)
            .unwrap()
            .as_string::<i32>()
            .clone();
        array
            .iter()
            .map(|text| text.unwrap_or("-").to_owned())
            .collect::<Vec<_>>()
    };
    of.flat_map(texts).collect()
}

/// Event 64 in version 4: parked, nominal speed, class, relative performance.
fn rundown(number: u64, parked: u64, nominal: u64, class: u64, relative: u64) -> Vec<(u64, usize)> {
    let head = [
        (0, 2),
        (number, 1),
        (parked, 4),
        (100, 4),
        (100, 4),
        (50, 4),
        (nominal, 4),
    ];
    let percents = [(5, 4), (100, 4), (0, 4), (90, 4)];
    let class = [
        (class, 1),
        (class + 1, 1),
        (1, 4),
        (50, 4),
        (0, 4),
        (0, 4),
        (relative, 4),
    ];
    [&head[..], &percents, &class].concat()
}

#[test]
fn kinds_of_cores_come_from_the_rundown_wherever_it_stands() {
    let mut trace = Recording::new();
    // NumaNode: one node with both processors; ProcessorNumber: both in group 0.
    trace.kernel(90, 0, (11, 24, 2), &bytes(&[(1, 4), (3, 8), (0, 8)]));
    trace.kernel(
        90,
        0,
        (11, 27, 2),
        &bytes(&[(2, 4), (0, 4), (0x0001_0000, 4)]),
    );
    trace.power(95, (64, 4), &rundown(0, 0, 3000, 1, 150));
    trace.power(95, (64, 4), &rundown(1, 0, 2000, 0, 100));
    let rows = trace.rows(Range::ALL);
    let columns = [
        "cpu",
        "group_number",
        "numa_node",
        "efficiency_class",
        "scheduling_class",
        "nominal_mhz",
        "relative_performance_percent",
    ];
    let want = [[0, 0, 0, 1, 2, 3000, 150], [1, 1, 0, 0, 1, 2000, 100]].map(|row| row.map(Some));
    assert_eq!(read(&rows, CpuCore::TABLE, columns), want);
    // The rundown contains more than the table; the configuration does not.
    assert_eq!(
        read(&rows, GenericEvent::TABLE, ["event_id"]),
        [[Some(64)]; 2]
    );
}

#[test]
fn speeds_are_the_mean_of_the_time_before_or_hold_until_the_next_request() {
    let mut trace = Recording::new();
    // DeliveredPerfChange: 120 % of 3000 MHz over 15 us; then 50 % over a time that overlaps; then
    // without a length.
    trace.power(20, (111, 1), &[(0, 2), (0, 1), (120, 4), (15, 8)]);
    trace.power(40, (111, 1), &[(0, 2), (0, 1), (50, 4), (30, 8)]);
    trace.power(60, (111, 0), &[(0, 2), (0, 1), (100, 4)]);
    // Contains the speed itself.
    trace.power(
        60,
        (111, 2),
        &[(0, 2), (1, 1), (100, 4), (10, 8), (1800, 4)],
    );
    // ProcessorPerfStateChange.
    trace.power(30, (10, 0), &[(4, 4), (2400, 4), (0, 2), (0, 1)]);
    trace.power(70, (10, 0), &[(5, 4), (900, 4), (0, 2), (0, 1)]);
    trace.power(80, (64, 4), &rundown(0, 0, 3000, 0, 100));
    // A processor without a known nominal speed: a percentage alone gives no speed, and the event
    // is kept.
    trace.power(85, (111, 1), &[(0, 2), (1, 1), (77, 4), (10, 8)]);
    let rows = trace.rows(Range::ALL);
    let speeds = read(
        &rows,
        CpuFrequency::TABLE,
        ["cpu", "start_ns", "stop_ns", "mhz", "performance_percent"],
    );
    let kinds = words(&rows, CpuFrequency::TABLE, "kind");
    let mut all: Vec<_> = kinds.iter().map(String::as_str).zip(speeds).collect();
    all.sort_unstable();
    let known = |row: [i64; 5]| row.map(|n| Some(n).filter(|n| *n != -1));
    let mut want = vec![
        ("delivered", known([0, 5, 20, 3600, 120])),
        ("delivered", known([0, 20, 40, 1500, 50])),
        ("delivered", known([0, 40, 60, 3000, 100])),
        ("delivered", known([1, 50, 60, 1800, 100])),
        ("requested", known([0, 30, 70, 2400, -1])),
        ("requested", known([0, 70, 1000, 900, -1])),
    ];
    want.sort_unstable();
    assert_eq!(all, want);
    let kept = read(&rows, GenericEvent::TABLE, ["event_id"]);
    assert_eq!(
        kept,
        [[10], [10], [64], [111]].map(|row: [i64; 1]| row.map(Some))
    );
}

#[test]
fn parking_lasts_from_the_event_or_the_begin_to_the_end() {
    let mut trace = Recording::new();
    let core = |number: u64| [(7, 8), (0, 2), (number, 1)];
    trace.power(10, (14, 0), &core(0));
    trace.power(30, (15, 0), &core(0));
    // It was parked at the start of the trace.
    trace.power(40, (15, 0), &core(1));
    trace.power(50, (14, 1), &[&core(1)[..], &[(1, 4)]].concat());
    // Only forced parking ends, and it was not forced.
    trace.power(60, (204, 0), &[&core(1)[..], &[(0, 4)]].concat());
    let rows = trace.rows(Range {
        start_ns: 0,
        end_ns: 500_000,
    });
    let times = read(&rows, CpuParking::TABLE, ["cpu", "start_ns", "stop_ns"]);
    assert_eq!(
        times,
        [[0, 10, 30], [1, 0, 40], [1, 50, 500]].map(|row| row.map(Some))
    );
    assert_eq!(
        words(&rows, CpuParking::TABLE, "kind"),
        ["parked", "parked", "soft"]
    );
    assert!(read(&rows, GenericEvent::TABLE, ["event_id"]).is_empty());
}

#[test]
fn a_sleep_lasts_from_its_entry_to_its_exit() {
    let mut trace = Recording::new();
    let enter = bytes(&[(2, 4), (0, 4), (100, 8)]);
    let exit = bytes(&[(2, 4), (0, 4)]);
    trace.kernel(5, 1, (0x12, 58, 2), &exit);
    trace.kernel(10, 1, (0x12, 57, 2), &enter);
    trace.kernel(35, 1, (0x12, 58, 2), &exit);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        read(
            &rows,
            CpuIdleState::TABLE,
            ["cpu", "start_ns", "end_ns", "state"]
        ),
        [[1, 10, 35, 2].map(Some)]
    );
}

/// The example of `docs/numbers/counters.md`.
#[test]
fn a_difference_belongs_to_the_thread_that_ran_and_the_first_switch_has_none() {
    let mut trace = Recording::new();
    let names = [
        &2u32.to_le_bytes()[..],
        &wide("InstructionRetired"),
        &wide("TotalCycles"),
    ]
    .concat();
    trace.kernel(1, 0, (15, 48, 2), &names);
    let top = 1u64 << 48;
    trace.switch(10, 0, 4, 8, &[100, top - 100]);
    trace.switch(30, 0, 8, 0, &[150, 300]);
    trace.switch(50, 0, 0, 8, &[150, 310]);
    trace.switch(60, 0, 8, 4, &[190, 370]);
    // The counters of processor 0 were changed.
    trace.kernel(65, 1, (15, 49, 2), &bytes(&[(0, 4), (0, 4)]));
    trace.switch(70, 0, 4, 8, &[7, 9]);
    trace.switch(75, 0, 8, 0, &[8, 11]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        words(&rows, PmcCounter::TABLE, "name"),
        ["InstructionRetired", "TotalCycles"]
    );
    let threads = read(
        &rows,
        etwkit_trace::table::Thread::TABLE,
        ["thread_key", "tid"],
    );
    let tid =
        |key: Option<i64>| threads.iter().find(|thread| thread[0] == key).unwrap()[1].unwrap();
    let columns = [
        "ts_ns",
        "run_ns",
        "cpu",
        "value_0",
        "value_1",
        "value_2",
        "thread_key",
    ];
    let ours: Vec<_> = read(&rows, Pmc::TABLE, columns)
        .into_iter()
        .map(|[ts, run, cpu, first, second, third, thread]| {
            assert_eq!((cpu, third), (Some(0), None));
            (
                ts.unwrap(),
                run.unwrap(),
                first.unwrap(),
                second.unwrap(),
                tid(thread),
            )
        })
        .collect();
    assert_eq!(
        ours,
        [
            (30, 20, 50, 400, 8),
            (50, 20, 0, 10, 0),
            (60, 10, 40, 60, 8),
            (75, 5, 1, 2, 8)
        ]
    );
}

#[test]
fn a_sample_of_a_counter_has_the_name_and_the_interval_in_force() {
    let mut trace = Recording::new();
    let named = [
        &bytes(&[(29, 4), (65_536, 4), (0, 4)])[..],
        &wide("LLCMisses"),
    ]
    .concat();
    trace.kernel(1, 0, (15, 73, 3), &named);
    let sample = |source: u64| bytes(&[(0x1234, 8), (8, 4), (source, 2), (0, 2)]);
    trace.kernel(10, 1, (15, 47, 2), &sample(29));
    trace.kernel(
        20,
        1,
        (15, 72, 2),
        &bytes(&[(29, 4), (1000, 4), (65_536, 4)]),
    );
    trace.kernel(30, 1, (15, 47, 2), &sample(29));
    trace.kernel(40, 1, (15, 47, 2), &sample(11));
    trace.kernel(50, 1, (15, 47, 2), &sample(77));
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        read(&rows, PmcSample::TABLE, ["ts_ns", "interval"]),
        [
            [Some(10), Some(65_536)],
            [Some(30), Some(1000)],
            [Some(40), None],
            [Some(50), None]
        ]
    );
    let names = words(&rows, PmcSample::TABLE, "counter");
    assert_eq!(
        names,
        [
            "LLCMisses",
            "LLCMisses",
            "BranchMispredictions",
            "source 77"
        ]
    );
    assert_eq!(
        read(&rows, PmcCounter::TABLE, ["source", "interval"])[1],
        [Some(29), Some(65_536)]
    );
}

/// A change may leave out the interval before it. Then the one at the end is the best that is known.
#[test]
fn an_interval_that_a_change_leaves_out_is_not_zero() {
    let interval = |before: &[(u64, usize)]| {
        let mut trace = Recording::new();
        let change = [&[(0, 4), (5000, 4)][..], before].concat();
        trace.kernel(10, 0, (15, 72, 3), &bytes(&change));
        let at_end = bytes(&[(0, 4), (5000, 4), (5000, 4)]);
        trace.kernel(90, 0, (15, 74, 3), &at_end);
        trace.imported(Range::ALL).1.trace.sample_interval_ns
    };
    assert_eq!(interval(&[(10_000, 4)]), Some(1_000_000));
    assert_eq!(interval(&[(0, 4)]), Some(500_000));
    assert_eq!(interval(&[]), Some(500_000));
}

#[test]
fn branches_are_counted_by_both_ends_and_belong_to_a_range_with_their_event() {
    let branches = |entries: &[(u64, u64)], us: i64, start: i64| {
        let mut payload = bytes(&[((start + us) as u64, 8), (4, 4), (8, 4), (0, 4), (0, 4)]);
        entries
            .iter()
            .for_each(|(from, to)| payload.extend(bytes(&[(*from, 8), (*to, 8), (1, 8)])));
        payload
    };
    let record = |range| {
        let mut trace = Recording::new();
        let start = trace.start;
        trace.kernel(
            12,
            0,
            (12, 32, 2),
            &branches(&[(0x10, 0x20), (0x10, 0x20), (0x20, 0x30)], 10, start),
        );
        trace.kernel(52, 1, (12, 32, 2), &branches(&[(0x10, 0x20)], 50, start));
        let mut counts = read(
            &trace.rows(range),
            Lbr::TABLE,
            ["from_frame_id", "to_frame_id", "count"],
        );
        counts.sort_unstable();
        counts
    };
    assert_eq!(
        record(Range::ALL),
        [[0, 1, 3].map(Some), [1, 2, 1].map(Some)]
    );
    let late = Range {
        start_ns: 50_000,
        end_ns: 60_000,
    };
    assert_eq!(record(late), [[0, 1, 1].map(Some)]);
}
