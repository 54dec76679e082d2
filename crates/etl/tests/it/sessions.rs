//! Sound files of all variants, with every allowed order of buffers and events.

use etwkit_etl::clock::ClockType;
use etwkit_etl::wire::trace_header::mode;
use etwkit_etl::writer::{SessionOptions, Style, TraceWriter, WriteError};
use etwkit_etl::{Error, HeaderKind, Order, RawEvent};
use std::io::Cursor;
use std::ops::ControlFlow;

use super::kit::{
    END_TIME, Read, buffers, edit_header, event, numbered, open, read, small_buffers, trace, visit,
};

fn sound(numbers: impl IntoIterator<Item = u64>) -> Read {
    Read {
        numbers: numbers.into_iter().collect(),
        damage: Vec::new(),
    }
}

#[test]
fn an_idle_processor_that_flushes_late_is_sorted_in() {
    for compressed in [false, true] {
        let file = trace(
            &SessionOptions {
                compressed,
                ..small_buffers()
            },
            |writer| {
                event(writer, 1, 1, 1);
                for number in 2..=5000 {
                    event(writer, 0, number, number as u64);
                }
                event(writer, 1, 5001, 5001);
            },
        );
        assert_eq!(
            read(std::slice::from_ref(&file), Order::Time),
            sound(1..=5001)
        );
        let in_file = read(std::slice::from_ref(&file), Order::File).numbers;
        assert_eq!(in_file[in_file.len() - 2..], [1, 5001]);
        // The reverse: its only buffer is the first of the file.
        let file = trace(
            &SessionOptions {
                compressed,
                ..small_buffers()
            },
            |writer| {
                for number in 2..=1000 {
                    event(writer, 0, number, number as u64);
                }
                event(writer, 1, 1, 1);
                event(writer, 1, 1001, 1001);
                writer.flush(1).unwrap();
            },
        );
        assert_eq!(read(&[file], Order::Time), sound(1..=1001));
    }
}

#[test]
fn equal_times_keep_the_order_of_the_file() {
    // Three processors, many buffers, and all events at one time.
    let file = trace(&small_buffers(), |writer| {
        for number in 0..600 {
            event(writer, (number % 3) as u16, 7, number);
        }
    });
    let in_file = read(std::slice::from_ref(&file), Order::File);
    assert_ne!(in_file, sound(0..600));
    assert_eq!(read(&[file], Order::Time), in_file);
}

#[test]
fn extreme_times_are_sorted_too() {
    let times = [i64::MIN, -1, 0, i64::MAX - 1, i64::MAX, i64::MAX];
    let file = trace(&small_buffers(), |writer| {
        for (cpu, number) in [(1, 0), (0, 1), (1, 2), (0, 3), (1, 4), (0, 5)] {
            event(writer, cpu, times[number], number as u64);
        }
    });
    let read = read(&[file], Order::Time).numbers;
    assert_eq!(read[..4], [0, 1, 2, 3]);
    assert_eq!(read[4..].iter().sum::<u64>(), 9);
}

#[test]
fn a_circular_file_that_wrapped_is_read_in_order() {
    let mut options = small_buffers();
    options.header.log_file_mode = mode::CIRCULAR;
    let file = numbered(&options, 1000, 2);
    let list = buffers(&file);
    let (first, middle) = (list[1].0, list[list.len() / 2].0);
    let wrapped = [&file[..first], &file[middle..], &file[first..middle]].concat();
    assert_eq!(
        read(std::slice::from_ref(&wrapped), Order::Time),
        sound(1..=1000)
    );
    assert_ne!(
        read(std::slice::from_ref(&wrapped), Order::File),
        sound(1..=1000)
    );
    assert_eq!(open(&[wrapped]).files()[0].buffer_counts().missing, 0);
}

#[test]
fn an_appended_session_is_read_with_the_clock_of_the_first() {
    let first = SessionOptions {
        t0: 50,
        logger_id: 3,
        ..small_buffers()
    };
    let mut second = SessionOptions {
        t0: 900,
        logger_id: 9,
        ..small_buffers()
    };
    second.header.log_file_mode |= mode::APPEND;
    second.header.buffer_size = 8192;
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), &first).unwrap();
    (0..300).for_each(|number| event(&mut writer, 0, 100 + number as i64, number));
    let sink = writer.finish(END_TIME).unwrap();
    let mut writer = TraceWriter::new(sink, &second).unwrap();
    (300..600).for_each(|number| event(&mut writer, 0, 1000 + number as i64, number));
    let file = writer.finish(END_TIME).unwrap().into_inner();

    assert_eq!(
        read(std::slice::from_ref(&file), Order::Time),
        sound(0..600)
    );
    let session = open(&[file]);
    assert_eq!(session.clock().t0, 50);
    let mut headers = 0;
    visit(&session, Order::Time, |event| {
        headers += u32::from(event.hook_id() == Some(0));
    });
    assert_eq!(headers, 2);
}

#[test]
fn buffers_of_all_processors_may_hold_events_out_of_order() {
    for compressed in [false, true] {
        let mut options = SessionOptions {
            compressed,
            ..small_buffers()
        };
        options.header.log_file_mode |= mode::NO_PER_PROCESSOR_BUFFERING;
        // Each group of 200 is written backwards: whole buffers run back in time.
        let file = trace(&options, |writer| {
            for group in 0..8u64 {
                for number in (200 * group..200 * group + 200).rev() {
                    event(writer, 0, number as i64, number);
                }
            }
        });
        assert_eq!(read(&[file], Order::Time), sound(0..1600));
    }
}

#[test]
fn several_files_are_one_session_that_starts_with_the_earliest() {
    let with = |t0: i64, start_time: i64, compressed| {
        let mut options = SessionOptions {
            t0,
            compressed,
            ..small_buffers()
        };
        options.header.start_time = start_time;
        options
    };
    let part = |options: &SessionOptions, numbers: &[u64]| {
        trace(options, |writer| {
            numbers.iter().for_each(|n| event(writer, 0, *n as i64, *n));
        })
    };
    let odd: Vec<u64> = (200..1000).filter(|n| n % 2 == 1).collect();
    let even: Vec<u64> = (200..1000).filter(|n| n % 2 == 0).collect();
    let files = [
        part(&with(120, 5_000_120, false), &odd),
        part(&with(100, 5_000_100, true), &even),
    ];
    assert_eq!(read(&files, Order::Time), sound(200..1000));
    let session = open(&files);
    assert_eq!(
        (session.clock().t0, session.clock().start),
        (100, 5_000_100)
    );
    assert_eq!(session.clock().nanoseconds(110), 1000);
    visit(&session, Order::Time, |e| {
        if e.kind == HeaderKind::Perfinfo64 {
            assert_eq!(i64::from(e.file), 1 - (e.timestamp & 1));
        }
    });

    let mut other = with(100, 0, false);
    other.header.perf_freq = 3_000_000;
    let files = [files[0].clone(), part(&other, &even)];
    let result =
        etwkit_etl::Session::open(files.into_iter().map(|f| Box::new(f) as Box<_>).collect());
    assert!(matches!(result, Err(Error::NotOneSession { index: 2, .. })));
}

#[test]
fn clocks_of_all_types_give_time_since_the_start() {
    let start = 132_404_548_206_236_167;
    let check = |clock_type, perf_freq, t0: i64, ticks: i64, frequency, nanoseconds| {
        let mut options = SessionOptions {
            t0,
            ..small_buffers()
        };
        (options.header.clock_type, options.header.perf_freq) = (clock_type, perf_freq);
        (options.header.cpu_mhz, options.header.start_time) = (2000, start);
        let session = open(&[trace(&options, |writer| event(writer, 0, t0 + ticks, 1))]);
        let clock = *session.clock();
        let kind = ClockType::from_raw(clock_type);
        assert_eq!(
            (clock.kind, clock.frequency, clock.start),
            (kind, frequency, start)
        );
        assert_eq!(clock.nanoseconds(t0 + ticks), nanoseconds);
        let filetime = Some(start + nanoseconds / 100);
        assert_eq!(clock.filetime(t0 + ticks), filetime);
    };
    check(1, 10_000_000, 77, 25, 10_000_000, 2500);
    check(2, 3_579_545, start, 30, 10_000_000, 3000);
    check(3, 3_579_545, 77, 5000, 2_000_000_000, 2500);
    check(3, 1_996_000_000, 77, 1_996_000, 1_996_000_000, 1_000_000);
}

#[test]
fn lost_events_and_buffers_are_counted() {
    for style in [Style::Raw, Style::Merged] {
        let file = trace(
            &SessionOptions {
                style,
                ..small_buffers()
            },
            |writer| {
                event(writer, 0, 1, 1);
                writer.lose_events(0, 3).unwrap();
                writer.flush(0).unwrap();
                writer.lose_buffer(0).unwrap();
                event(writer, 0, 2, 2);
            },
        );
        let session = open(&[file]);
        let (header, counts) = (
            session.files()[0].header(),
            session.files()[0].buffer_counts(),
        );
        assert_eq!(
            (
                header.events_lost,
                header.buffers_lost,
                header.buffers_written
            ),
            (3, 1, 3)
        );
        assert_eq!(
            (counts.total, counts.events_lost, counts.buffer_lost),
            (3, 1, 1)
        );
        assert_eq!(counts.missing, if style == Style::Raw { 1 } else { 0 });
    }
}

#[test]
fn a_session_that_was_never_closed_is_read_without_its_counts() {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), &small_buffers()).unwrap();
    (0..500).for_each(|number| event(&mut writer, 0, number as i64, number));
    writer.flush(0).unwrap();
    event(&mut writer, 0, 500, 500);
    let file = writer.abandon().into_inner();
    let session = open(std::slice::from_ref(&file));
    assert_eq!(
        (
            session.files()[0].header().end_time,
            session.files()[0].header().buffers_written
        ),
        (0, 0)
    );
    assert_eq!(read(&[file], Order::Time), sound(0..500));
}

#[test]
fn old_sessions_name_a_processor_in_one_byte() {
    let options = SessionOptions {
        processor_index: false,
        ..small_buffers()
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), &options).unwrap();
    event(&mut writer, 200, 1, 1);
    assert!(matches!(
        writer.lose_events(256, 1),
        Err(WriteError::Processor { cpu: 256 })
    ));
    let mut file = writer.finish(END_TIME).unwrap().into_inner();
    let at = buffers(&file)[1].0;
    edit_header(&mut file, at, |header| assert_eq!(header.processor, 0x08C8));
    visit(&open(&[file]), Order::File, |e| {
        assert_eq!(e.cpu, if e.buffer == 0 { 0 } else { 200 });
    });
}

#[test]
fn what_is_wanted_comes_in_order_and_the_rest_is_seen_ahead() {
    // Few buffers are read by one thread, many by two.
    for count in [100, 6000] {
        let file = numbered(&small_buffers(), count, 3);
        let session = open(std::slice::from_ref(&file));
        let (mut ahead, mut wanted) = (Vec::new(), Vec::new());
        let see = |event: &RawEvent<'_>| {
            ahead.push(event.timestamp);
            event.hook_id() == Some(0) || event.timestamp % 7 == 0
        };
        let pass = session.for_each_wanted(see, |event| {
            wanted.push(event.timestamp);
            ControlFlow::Continue(())
        });
        // The header event is the first of all.
        let multiples = (1..=count as i64).filter(|time| time % 7 == 0);
        assert_eq!(
            wanted,
            std::iter::once(session.clock().t0)
                .chain(multiples)
                .collect::<Vec<_>>()
        );
        assert_eq!(pass.unwrap().events, wanted.len() as u64);
        assert_ne!(ahead.len(), wanted.len());
        ahead.sort_unstable();
        assert_eq!(ahead, (0..=count as i64).collect::<Vec<_>>());

        let mut first = Vec::new();
        let stopped = session.for_each_wanted(
            |_| true,
            |event| {
                first.push(event.timestamp);
                if first.len() == 10 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        assert_eq!((stopped.unwrap().events, first.len()), (10, 10));
    }
}
