//! All written records read back with every field, in both orders.

use std::collections::BTreeMap;
use std::io::Cursor;

use etwkit_etl::Order;
use etwkit_etl::bytes::align8;
use etwkit_etl::wire::buffer::{HEADER_LEN, buffer_type, flag};
use etwkit_etl::wire::trace_header::{TimeZone, TraceHeader, mode};
use etwkit_etl::writer::{SessionOptions, Style, TraceWriter, WriteError};
use proptest::collection::vec;
use proptest::prelude::*;

use super::kit::{END_TIME, buffers, open, visit};
use super::model::{Spec, spec};

prop_compose! {
    fn trace_headers()(
        buffer_size in proptest::sample::select(vec![1024u32, 2048, 8192, 65536]),
        pointer_size in proptest::sample::select(vec![4u32, 8]),
        version in any::<[u8; 4]>(),
        (build, cpu_count, timer_resolution, max_file_size) in any::<(u32, u32, u32, u32)>(),
        cpu_mhz in any::<u32>(),
        pointers in any::<(u32, u32)>(),
        bias in any::<(i32, i32, i32)>(),
        dates in any::<([u8; 16], [u8; 16])>(),
        (boot_time, perf_freq, start_time) in any::<(i64, i64, i64)>(),
        clock_type in 0u32..5,
        names in ("[a-zA-Zäß漢𝄞]{0,32}", "[a-z]{0,12}", "[ -~é€😀]{0,30}", "[ -~é€😀]{0,30}"),
    ) -> TraceHeader {
        TraceHeader {
            buffer_size, version, build, cpu_count, timer_resolution, max_file_size, pointer_size, cpu_mhz,
            log_file_mode: 1,
            start_buffers: 1,
            pointers: [pointers.0.into(), pointers.1.into()],
            time_zone: TimeZone {
                bias: bias.0,
                standard_name: names.0.chars().take(16).collect(),
                standard_date: dates.0,
                standard_bias: bias.1,
                daylight_name: names.1,
                daylight_date: dates.1,
                daylight_bias: bias.2,
            },
            boot_time, perf_freq, start_time, clock_type,
            session_name: names.2,
            log_file_name: names.3,
            ..TraceHeader::default()
        }
    }
}

prop_compose! {
    fn session_options()(
        header in trace_headers(),
        t0 in prop_oneof![Just(0), any::<i64>().prop_map(|t| t / 2)],
        merged in any::<bool>(),
        compressed in any::<bool>(),
        logger_id in any::<u16>(),
        processor_index in any::<bool>(),
        header_buffer_size in proptest::option::of(Just(1024u32)),
    ) -> SessionOptions {
        SessionOptions {
            header, t0, compressed, logger_id, processor_index, header_buffer_size,
            style: if merged { Style::Merged } else { Style::Raw },
            ..SessionOptions::default()
        }
    }
}

/// Records by processor, with their times.
type Written = BTreeMap<u16, Vec<(i64, Spec)>>;

/// Writes the records. Returns the file and, by processor, its records with their times.
fn write(options: &SessionOptions, records: &[(u8, Spec)]) -> (Vec<u8>, TraceHeader, Written) {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), options).unwrap();
    let mut written = Written::new();
    let mut clocks: BTreeMap<u16, i64> = BTreeMap::new();
    for (cpu, spec) in records {
        let cpu = if *cpu == 4 && options.processor_index {
            300
        } else {
            u16::from(*cpu)
        };
        let clock = clocks.entry(cpu).or_insert(options.t0);
        *clock += i64::from(spec.step);
        let (result, len) = spec.with_record(*clock, |record| {
            (writer.write(cpu, record), record.stored_len().unwrap())
        });
        let fits = align8(usize::from(len)) + HEADER_LEN <= options.header.buffer_size as usize;
        match result {
            Ok(()) => written.entry(cpu).or_default().push((*clock, spec.clone())),
            Err(WriteError::RecordLargerThanBuffer { .. }) => assert!(!fits),
            Err(error) => panic!("{error}"),
        }
    }
    let mut header = writer.header().clone();
    let file = writer.finish(END_TIME).unwrap().into_inner();
    header.end_time = END_TIME;
    header.buffers_written = buffers(&file).len() as u32;
    (file, header, written)
}

/// File order: each processor's records are the written ones, field by field. A message without a
/// time has the time of the previous record in its buffer.
fn check_file_order(file: &[u8], options: &SessionOptions, mut written: Written) -> u64 {
    let session = open(&[file.to_vec()]);
    assert!(session.damage().is_empty(), "{:?}", session.damage());
    written.values_mut().for_each(|records| records.reverse());
    let mut before = (0, 0);
    let pass = visit(&session, Order::File, |event| {
        if event.buffer == 0 {
            assert_eq!((event.timestamp, event.hook_id()), (options.t0, Some(0)));
            return;
        }
        let (time, spec) = written
            .get_mut(&event.cpu)
            .and_then(Vec::pop)
            .expect("a record that was written");
        let previous = if before.0 == event.buffer {
            before.1
        } else {
            0
        };
        assert_eq!(
            event.timestamp,
            if spec.is_untimed() { previous } else { time }
        );
        before = (event.buffer, event.timestamp);
        spec.check(event);
    });
    assert!(pass.damage.is_empty(), "{:?}", pass.damage);
    assert!(written.values().all(Vec::is_empty), "records are missing");
    pass.events
}

/// Time order: the events of the file order sorted by time; equal times keep the order of the file.
fn check_time_order(file: &[u8]) {
    let session = open(&[file.to_vec()]);
    let collect = |order| {
        let mut events = Vec::new();
        visit(&session, order, |e| {
            events.push((
                e.timestamp,
                e.file,
                e.buffer,
                e.position,
                e.cpu,
                e.kind,
                e.record.to_vec(),
            ));
        });
        events
    };
    let mut expected = collect(Order::File);
    expected.sort();
    assert!(collect(Order::Time) == expected);
}

fn check_buffers(file: &[u8], options: &SessionOptions) {
    for (number, (at, header)) in buffers(file).into_iter().enumerate() {
        assert_eq!(header.sequence_number, number as i64);
        assert_eq!(header.buffer_type == buffer_type::HEADER, number == 0);
        assert_eq!(
            header.buffer_flag & flag::PROCESSOR_INDEX != 0,
            options.processor_index
        );
        assert_eq!(
            header.logger_id,
            if options.style == Style::Merged {
                0
            } else {
                options.logger_id
            }
        );
        assert!(header.buffer_size <= options.header.buffer_size.max(1024));
        if number > 0 && !header.is_compressed() {
            assert_eq!(header.buffer_size, options.header.buffer_size);
            let end = at + header.buffer_size as usize;
            assert!(
                file[at + header.offset as usize..end]
                    .iter()
                    .all(|b| *b == 0xFF),
                "filler"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn sessions_read_back(options in session_options(), records in vec((0u8..5, spec()), 0..60)) {
        let (file, header, written) = write(&options, &records);
        let count: usize = written.values().map(Vec::len).sum();
        let session = open(std::slice::from_ref(&file));
        prop_assert_eq!(session.files()[0].header(), &header);
        prop_assert_eq!(header.log_file_mode & mode::RELOG != 0, options.style == Style::Merged);
        prop_assert_eq!(header.log_file_mode & mode::COMPRESSED != 0, options.compressed);
        prop_assert_eq!(session.files()[0].t0(), options.t0);
        check_buffers(&file, &options);
        prop_assert_eq!(check_file_order(&file, &options, written), count as u64 + 1);
        check_time_order(&file);
    }
}
