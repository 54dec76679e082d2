//! Damaged files: all remaining data is read, and all lost data is counted.

use etwkit_etl::Order;
use etwkit_etl::damage::{Count, DamageKind};
use etwkit_etl::wire::buffer::HEADER_LEN;
use etwkit_etl::wire::trace_header::mode;
use etwkit_etl::writer::{SessionOptions, Style};

use super::compression::recompress;
use super::kit::{
    END_TIME, buffers, edit_header, event, numbered, open, read, small_buffers, trace, visit,
};

/// Numbers of the events of each buffer of a sound file.
fn numbers_by_buffer(file: &[u8]) -> Vec<Vec<u64>> {
    let mut by_buffer = vec![Vec::new(); buffers(file).len()];
    visit(&open(&[file.to_vec()]), Order::File, |event| {
        if event.buffer > 0 {
            by_buffer[event.buffer as usize]
                .push(u64::from_le_bytes(*event.payload().first_chunk().unwrap()));
        }
    });
    by_buffer
}

fn sorted(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// Fails with the first place where two long lists differ.
#[track_caller]
fn assert_same(left: &[u64], right: &[u64], what: &str) {
    let at = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let around = |list: &[u64]| list[at..].iter().take(3).copied().collect::<Vec<_>>();
    assert!(
        left == right,
        "{what}: {} of {} at {at}: {:?}, expected {:?}",
        left.len(),
        right.len(),
        around(left),
        around(right)
    );
}

const ONE: Count = Count {
    places: 1,
    bytes: 0,
};

/// Files of all layouts with the same events.
fn layouts(count: u64, cpus: u64) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for style in [Style::Raw, Style::Merged] {
        for header_buffer_size in [None, Some(1024), Some(1032)] {
            let options = SessionOptions {
                style,
                header_buffer_size,
                ..small_buffers()
            };
            files.push((
                format!("{style:?} {header_buffer_size:?}"),
                numbered(&options, count, cpus),
            ));
            let options = SessionOptions {
                compressed: true,
                ..options
            };
            let file = numbered(&options, count, cpus);
            for format in [2, 4] {
                let name = format!("{style:?} {header_buffer_size:?} format {format}");
                files.push((name, recompress(&file, format)));
            }
            files.push((format!("{style:?} {header_buffer_size:?} format 3"), file));
        }
    }
    files
}

#[test]
fn all_layouts_are_read() {
    for (name, file) in layouts(1000, 3) {
        let read = read(&[file], Order::Time);
        assert_eq!(
            (read.numbers, read.damage),
            ((1..=1000).collect(), vec![]),
            "{name}"
        );
    }
}

#[test]
fn the_tail_of_a_preallocated_file_is_no_damage() {
    for (name, mut file) in layouts(1000, 2) {
        for tail in [1 << 20, 5000, 80, 24] {
            let len = file.len();
            file.resize(len + tail, 0);
            let read = read(std::slice::from_ref(&file), Order::Time);
            assert_same(
                &read.numbers,
                &(1..=1000).collect::<Vec<_>>(),
                &format!("{name} {tail}"),
            );
            assert_eq!(read.damage, vec![], "{name} {tail}");
            file.truncate(len);
        }
    }
}

#[test]
fn a_file_that_ends_inside_a_buffer_keeps_what_is_there() {
    let file = numbered(&small_buffers(), 1000, 1);
    let (last, header) = *buffers(&file).last().unwrap();
    let records = numbers_by_buffer(&file).pop().unwrap();
    assert!(records.len() > 3);
    for kept in 0..records.len() {
        for part in [0, 1, 63] {
            let cut = last + HEADER_LEN + 64 * kept + part;
            let read = read(&[file[..cut].to_vec()], Order::Time);
            let lost = records.len() - kept;
            assert_eq!(read.numbers.len(), 1000 - lost, "{kept} {part}");
            let bytes = u64::from(header.offset) - (cut - last) as u64;
            assert_eq!(
                read.damage,
                [(DamageKind::TruncatedBuffer, Count { places: 1, bytes })]
            );
        }
    }
}

#[test]
fn a_compressed_buffer_that_is_cut_is_read_up_to_the_cut() {
    for format in [2, 3, 4] {
        let options = SessionOptions {
            compressed: true,
            ..SessionOptions::default()
        };
        let file = recompress(&numbered(&options, 3000, 1), format);
        let (last, header) = *buffers(&file).last().unwrap();
        let in_last = numbers_by_buffer(&file).pop().unwrap().len();
        let cut = last + header.buffer_size as usize / 2;
        let read = read(&[file[..cut].to_vec()], Order::Time);
        let kept = read.numbers.len();
        assert_eq!(read.numbers, (1..=kept as u64).collect::<Vec<_>>());
        assert!(
            kept > 3000 - in_last + in_last / 4 && kept < 3000,
            "{kept} of 3000, {in_last} in the last"
        );
        let bytes = u64::from(header.buffer_size) - (cut - last) as u64;
        assert_eq!(
            read.damage,
            [(DamageKind::TruncatedBuffer, Count { places: 1, bytes })]
        );
    }
}

#[test]
fn a_destroyed_header_costs_one_buffer() {
    for (name, file) in layouts(1500, 3) {
        let list = buffers(&file);
        let by_buffer = numbers_by_buffer(&file);
        for victim in [1, list.len() / 2, list.len() - 2, list.len() - 1] {
            let (at, header) = list[victim];
            for garbage in [0x00, 0xFF, 0xA5] {
                let mut damaged = file.clone();
                damaged[at..at + HEADER_LEN].fill(garbage);
                let read = read(&[damaged], Order::Time);
                let left = by_buffer
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i != victim)
                    .flat_map(|(_, n)| n);
                assert_same(
                    &read.numbers,
                    &sorted(left.copied()),
                    &format!("{name}, buffer {victim}, {garbage:x}"),
                );
                let lost = Count {
                    bytes: header.buffer_size.into(),
                    ..ONE
                };
                assert_eq!(
                    read.damage,
                    [(DamageKind::SkippedBytes, lost)],
                    "{name}, buffer {victim}, {garbage:x}"
                );
            }
        }
    }
}

#[test]
fn several_destroyed_headers_cost_their_buffers() {
    for (name, file) in layouts(1500, 3) {
        let list = buffers(&file);
        let by_buffer = numbers_by_buffer(&file);
        let victims = [2, 3, 5, 6, 7];
        let mut damaged = file.clone();
        for victim in victims {
            damaged[list[victim].0..][..HEADER_LEN].fill(0x5A);
        }
        let read = read(&[damaged], Order::Time);
        let left = by_buffer
            .iter()
            .enumerate()
            .filter(|(i, _)| !victims.contains(i))
            .flat_map(|(_, n)| n);
        assert_same(&read.numbers, &sorted(left.copied()), &name);
        assert_eq!(read.count(DamageKind::SkippedBytes).places, 2, "{name}");
    }
}

#[test]
fn a_hole_of_zeros_is_damage_and_not_the_end() {
    for (name, mut file) in layouts(1500, 3) {
        let list = buffers(&file);
        let by_buffer = numbers_by_buffer(&file);
        let (from, to) = (list[3].0, list[6].0);
        file[from..to].fill(0);
        let read = read(&[file], Order::Time);
        let left = by_buffer
            .iter()
            .enumerate()
            .filter(|(i, _)| !(3..6).contains(i))
            .flat_map(|(_, n)| n);
        assert_same(&read.numbers, &sorted(left.copied()), &name);
        let lost = Count {
            places: 1,
            bytes: (to - from) as u64,
        };
        assert_eq!(read.damage, [(DamageKind::SkippedBytes, lost)], "{name}");
    }
}

#[test]
fn a_wrong_buffer_size_costs_nothing() {
    let file = numbered(&small_buffers(), 1000, 1);
    let (at, _) = buffers(&file)[3];
    for wrong in [80, 1000, 4096 + 8, 5000, 100_000, 1 << 24] {
        let mut damaged = file.clone();
        edit_header(&mut damaged, at, |header| header.buffer_size = wrong);
        let read = read(&[damaged], Order::Time);
        assert_same(
            &read.numbers,
            &(1..=1000).collect::<Vec<_>>(),
            &format!("{wrong}"),
        );
        assert_eq!(read.count(DamageKind::BufferSize).places, 1, "{wrong}");
    }
}

#[test]
fn a_compressed_buffer_that_claims_its_successors_costs_none() {
    for format in [2, 3, 4] {
        let options = SessionOptions {
            compressed: true,
            ..small_buffers()
        };
        let file = recompress(&numbered(&options, 1000, 1), format);
        let (at, header) = buffers(&file)[3];
        for more in [1, 1000, 1 << 20] {
            let mut damaged = file.clone();
            edit_header(&mut damaged, at, |header| header.buffer_size += more);
            let read = read(&[damaged], Order::Time);
            assert_same(
                &read.numbers,
                &sorted(1..=1000),
                &format!("{format} {more}"),
            );
            assert_eq!(
                read.damage,
                [(DamageKind::BufferSize, ONE)],
                "{format} {more} {}",
                header.buffer_size
            );
        }
    }
}

#[test]
fn a_buffer_that_was_never_flushed_is_cut_up_to_its_filler() {
    for filler in [0xFF, 0x00] {
        let mut file = trace(&small_buffers(), |writer| {
            (1..=40).for_each(|n| event(writer, 0, n as i64, n));
        });
        let (at, header) = buffers(&file)[1];
        edit_header(&mut file, at, |header| {
            (header.offset, header.saved_offset) = (0, 0);
        });
        file[at + header.offset as usize..].fill(filler);
        let read = read(&[file], Order::Time);
        assert_eq!((read.numbers, read.damage), ((1..=40).collect(), vec![]));
    }
}

#[test]
fn a_broken_record_costs_the_rest_of_its_buffer() {
    let file = numbered(&small_buffers(), 1000, 1);
    let by_buffer = numbers_by_buffer(&file);
    let (at, header) = buffers(&file)[4];
    let broken = at + HEADER_LEN + 64 * 10;
    let next = at + header.buffer_size as usize;
    let bytes = u64::from(header.offset) - (HEADER_LEN + 640) as u64;
    // A length that no record has, and holes of a copy: between records, and up to the next buffer.
    for (byte, range) in [
        (0xFF, broken + 4..broken + 6),
        (0, broken..broken + 640),
        (0, broken..next),
    ] {
        let mut damaged = file.clone();
        damaged[range.clone()].fill(byte);
        let read = read(&[damaged], Order::Time);
        let left = by_buffer
            .iter()
            .enumerate()
            .flat_map(|(i, n)| n.iter().take(if i == 4 { 10 } else { n.len() }));
        assert_same(&read.numbers, &sorted(left.copied()), &format!("{range:?}"));
        assert_eq!(
            read.damage,
            [(DamageKind::RecordHeader, Count { places: 1, bytes })],
            "{range:?}"
        );
    }
}

#[test]
fn an_appended_session_is_found_behind_damage() {
    let mut second = SessionOptions {
        logger_id: 9,
        ..small_buffers()
    };
    second.header.log_file_mode |= mode::APPEND;
    let first = numbered(
        &SessionOptions {
            logger_id: 3,
            ..small_buffers()
        },
        300,
        1,
    );
    let then = trace(&second, |writer| {
        (301..=600).for_each(|n| event(writer, 0, n as i64, n));
    });
    let by_buffer = numbers_by_buffer(&then);
    let mut file = [&first[..], &then].concat();
    let (at, _) = buffers(&then)[1];
    file[first.len()..][..HEADER_LEN].fill(0x5A);
    file[first.len() + at..][..HEADER_LEN].fill(0x5A);
    let read = read(&[file], Order::Time);
    assert_same(
        &read.numbers,
        &sorted((1..=300).chain(by_buffer[2..].iter().flatten().copied())),
        "",
    );
}

#[test]
fn an_appended_session_with_another_clock_is_counted() {
    const HOUR: i64 = 3_600 * 10_000_000;
    let session = |t0, start_time, perf_freq| {
        let mut options = SessionOptions {
            t0,
            ..small_buffers()
        };
        options.header.start_time = start_time;
        options.header.perf_freq = perf_freq;
        trace(&options, |writer| event(writer, 0, t0 + 1, 1))
    };
    let start = END_TIME - 2 * HOUR;
    let first = session(HOUR, start, 10_000_000);
    for (what, places, later) in [
        ("same clock", 0, session(2 * HOUR, start + HOUR, 10_000_000)),
        ("restarted", 1, session(7, start + HOUR, 10_000_000)),
        ("longer up", 1, session(9 * HOUR, start + HOUR, 10_000_000)),
        ("other rate", 1, session(2 * HOUR, start + HOUR, 3_000_000)),
    ] {
        let read = read(&[[&first[..], &later].concat()], Order::Time);
        assert_eq!(read.numbers, [1, 1], "{what}");
        assert_eq!(read.count(DamageKind::OtherClock).places, places, "{what}");
    }
}

#[test]
fn a_file_that_was_cut_says_how_many_buffers_are_missing() {
    for (name, file) in layouts(600, 3) {
        let list = buffers(&file);
        let whole = open(std::slice::from_ref(&file)).files()[0].buffer_counts();
        assert_eq!(
            (whole.expected, whole.missing, whole.is_cut),
            (Some(list.len() as u64), 0, false),
            "{name}"
        );
        // Evenly over the file, and around the borders of a buffer.
        let border = list[list.len() - 2].0;
        let even = (1..=20)
            .map(|i| file.len() * i / 21)
            .filter(|cut| *cut > 1100);
        for cut in even.chain([
            border - 1,
            border,
            border + 1,
            border + HEADER_LEN - 1,
            border + HEADER_LEN,
        ]) {
            let counts = open(&[file[..cut].to_vec()]).files()[0].buffer_counts();
            // A buffer counts as present if its header is present.
            let gone = list.iter().filter(|(at, _)| at + HEADER_LEN > cut).count() as u64;
            assert_eq!(
                (counts.missing, counts.is_cut),
                (gone, true),
                "{name} cut at {cut}"
            );
            assert_eq!(
                counts.total,
                list.len() as u64 - gone,
                "{name} cut at {cut}"
            );
        }
    }
}

#[test]
fn what_is_skipped_in_the_middle_does_not_cut_the_end() {
    for (name, file) in layouts(600, 3) {
        let list = buffers(&file);
        let mut damaged = file.clone();
        for (at, _) in &list[2..4] {
            damaged[*at..at + HEADER_LEN].fill(0xA5);
        }
        let counts = open(&[damaged]).files()[0].buffer_counts();
        assert_eq!((counts.missing, counts.is_cut), (2, false), "{name}");
    }
}

#[test]
fn a_buffer_that_is_missing_in_the_middle_does_not_cut_the_end() {
    for (name, file) in layouts(600, 3) {
        let list = buffers(&file);
        let mut without = file.clone();
        without.drain(list[2].0..list[3].0);
        let session = open(&[without]);
        let (file, counts) = (&session.files()[0], session.files()[0].buffer_counts());
        assert_eq!(
            (counts.missing, counts.is_cut, file.has_own_numbers()),
            (1, false, true),
            "{name}"
        );
    }
}

/// Files of all layouts whose buffers have these numbers, in the order of the file; the header buffer
/// keeps its own. A processor that does little writes buffers with small numbers late.
fn renumbered(numbers: impl Fn(i64) -> Vec<i64>) -> Vec<(String, Vec<u8>)> {
    let mut files = layouts(600, 3);
    for (name, file) in &mut files {
        let list = buffers(file);
        let count = list.len() as i64 - 1;
        assert!(count > 6, "{name}");
        for ((at, _), number) in list.iter().skip(1).zip(numbers(count)) {
            edit_header(file, *at, |header| header.sequence_number = number);
        }
    }
    files
}

/// Number of missing buffers of a file, of those between others, and whether its end is missing.
fn missing(file: &[u8]) -> (u64, u64, bool) {
    let session = open(&[file.to_vec()]);
    let file = &session.files()[0];
    let counts = file.buffer_counts();
    (counts.missing, file.missing_between(), counts.is_cut)
}

#[test]
fn a_cut_end_does_not_hide_behind_numbers_that_come_late() {
    let late = [2, 3];
    let last_ones_late = |count: i64| -> Vec<i64> {
        let others = (1..=count).filter(|number| !late.contains(number));
        others.chain(late).collect()
    };
    for (name, file) in renumbered(last_ones_late) {
        let (last, _) = *buffers(&file).last().unwrap();
        assert_eq!(missing(&file), (0, 0, false), "{name}");
        assert_eq!(missing(&file[..last]), (1, 0, true), "{name}");
    }
    // Each second buffer comes one place late: others are still known to be in the middle.
    let in_pairs = |count: i64| -> Vec<i64> {
        let swapped = |at: i64| if at ^ 1 < count { at ^ 1 } else { at };
        (0..count).map(|at| swapped(at) + 1).collect()
    };
    for (name, file) in renumbered(in_pairs) {
        let list = buffers(&file);
        let (last, _) = *list.last().unwrap();
        assert_eq!(missing(&file), (0, 0, false), "{name}");
        assert_eq!(missing(&file[..last]), (1, 0, true), "{name}");
        let mut without = file.clone();
        without.drain(list[3].0..list[4].0);
        assert_eq!(missing(&without), (1, 1, false), "{name}");
    }
}

#[test]
fn no_buffer_is_missed_where_the_header_does_not_say_how_many_are_left() {
    let file = numbered(&small_buffers(), 1000, 2);
    let list = buffers(&file);
    let written = list.len() as u32;
    let counts = |edit: &dyn Fn(&mut etwkit_etl::wire::trace_header::TraceHeader), cut: usize| {
        let mut options = small_buffers();
        edit(&mut options.header);
        let file = numbered(&options, 1000, 2);
        open(&[file[..file.len() - cut].to_vec()]).files()[0].buffer_counts()
    };
    let half = file.len() - list[list.len() / 2].0;
    let lost = u64::from(written) - list.len() as u64 / 2;
    // 4 KiB buffers in a file of a fixed size in KiB: the first ones were overwritten.
    let circular = |kib: u32| {
        move |header: &mut etwkit_etl::wire::trace_header::TraceHeader| {
            header.log_file_mode = mode::CIRCULAR | mode::SIZE_IN_KB;
            header.max_file_size = kib;
        }
    };
    assert_eq!(
        counts(&circular(4 * written), half).missing,
        lost,
        "it did not wrap"
    );
    let wrapped = counts(&circular(2 * written), half);
    assert_eq!(
        (wrapped.expected, wrapped.missing, wrapped.is_cut),
        (Some(u64::from(written) / 2 - 1), 0, false)
    );
    assert_eq!(
        counts(&|header| header.log_file_mode = mode::CIRCULAR, half).expected,
        None,
        "of no known size"
    );
    assert_eq!(
        counts(&|header| header.log_file_mode = mode::BUFFERING, half).expected,
        None,
        "a snapshot of memory"
    );
    assert_eq!(
        counts(&|header| header.log_file_mode |= mode::PREALLOCATE, half).missing,
        lost
    );
}
