//! Maps of .NET code to intermediate language: of several pieces of code of a method, and of
//! several processes, each frame gets the offset of its own.

use etwkit_decode::clr;
use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ManifestEvent, Width};
use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, IlOffset, Row};

use crate::counters::{Batches, Recording, bytes, read, wide, words};

const PID: u32 = 100;
const OTHER: u32 = 200;
const PDB: &str = "0ad9b6fe-1f04-4bd4-9e69-73e6a6f2c1a3";

const NO_MAPPING: u64 = 0xFFFF_FFFF;
const PROLOG: u64 = 0xFFFF_FFFE;
const EPILOG: u64 = 0xFFFF_FFFD;

const LOAD: (Guid, u16) = (clr::RUNTIME, 143);
const UNLOAD: (Guid, u16) = (clr::RUNTIME, 144);
const MAP: (Guid, u16) = (clr::RUNTIME, 190);
const AT_START: (Guid, u16) = (clr::RUNDOWN, 143);
const MAP_AT_START: (Guid, u16) = (clr::RUNDOWN, 149);
const AT_END: (Guid, u16) = (clr::RUNDOWN, 144);
const MAP_AT_END: (Guid, u16) = (clr::RUNDOWN, 150);

/// A thread of a process, and the width of the process.
type Thread = (u32, u32, Width);

const THREAD: Thread = (PID, 1, Width::Bits64);

impl Recording {
    fn clr(&mut self, us: i64, of: Thread, kind: (Guid, u16, u8), payload: &[u8]) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider: kind.0,
            descriptor: Descriptor {
                id: kind.1,
                version: kind.2,
                ..Descriptor::default()
            },
            process_id: of.0,
            thread_id: of.1,
            width: of.2,
            payload,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// An event of a method with 0x100 bytes of code.
    fn code(&mut self, us: i64, of: Thread, (provider, id): (Guid, u16), method: u64, start: u64) {
        let token = 0x0600_0000 + method;
        let head = [
            (method, 8),
            (0x50, 8),
            (start, 8),
            (0x100, 4),
            (token, 4),
            (8, 4),
        ];
        let names = [wide("Shop.Cart"), wide("Pay"), wide("void ()")].concat();
        let payload = [bytes(&head), names, bytes(&[(0, 2)])].concat();
        self.clr(us, of, (provider, id, 1), &payload);
    }

    /// The map of a method: offset in the code and offset in IL of each entry.
    fn il_map(
        &mut self,
        us: i64,
        of: Thread,
        (provider, id): (Guid, u16),
        method: u64,
        entries: &[(u64, u64)],
    ) {
        let head = [(method, 8), (0, 8), (0, 1), (entries.len() as u64, 2)];
        let il: Vec<_> = entries.iter().map(|(_, il)| (*il, 4)).collect();
        let native: Vec<_> = entries.iter().map(|(native, _)| (*native, 4)).collect();
        let payload = [bytes(&head), bytes(&il), bytes(&native), bytes(&[(7, 2)])].concat();
        self.clr(us, of, (provider, id, 0), &payload);
    }

    /// An exception with a stack of these addresses, innermost first.
    fn thrown(&mut self, us: i64, of: Thread, addresses: &[u64]) {
        let exception = [wide("A"), wide("message"), vec![0; 16]].concat();
        self.clr(us, of, (clr::RUNTIME, 80, 0), &exception);
        let size = if of.2 == Width::Bits32 { 4 } else { 8 };
        let addresses: Vec<_> = addresses.iter().map(|it| (*it, size)).collect();
        let stack = [
            bytes(&[(0, 4), (addresses.len() as u64, 4)]),
            bytes(&addresses),
        ];
        self.clr(us + 1, of, (clr::RUNTIME, 82, 0), &stack.concat());
    }

    fn assembly(&mut self, us: i64, of: Thread) {
        let head = bytes(&[(0x50, 8), (0, 8), (0, 4), (0, 4)]);
        let pdb = Guid::literal(PDB).to_bytes();
        let payload = [
            head,
            wide("C:\\app\\shop.dll"),
            wide(""),
            bytes(&[(0, 2)]),
            pdb.to_vec(),
            bytes(&[(1, 4)]),
            wide("D:\\build\\shop.pdb"),
        ];
        self.clr(us, of, (clr::RUNTIME, 152, 2), &payload.concat());
    }
}

/// `address: offset in IL, that of the call` of each frame that has them.
fn offsets(rows: &Batches) -> Vec<String> {
    let addresses = read(rows, Frame::TABLE, ["address"]);
    let columns = ["frame_id", "il_offset", "call_il_offset"];
    let text = |offset: Option<i64>| offset.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let mut all: Vec<String> = read(rows, IlOffset::TABLE, columns)
        .iter()
        .map(|[frame, here, call]| {
            let address = addresses[frame.unwrap() as usize][0].unwrap();
            format!("{address:#x}: {}, {}", text(*here), text(*call))
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn an_address_has_the_offset_of_the_nearest_entry_at_or_before_it() {
    let entries = [
        (0, PROLOG),
        (0x40, 30),
        (0x10, 0),
        (0x20, 12),
        // Of two entries at one place the first has no code; IL takes precedence.
        (0x20, 10),
        (0x40, NO_MAPPING),
        (0x60, NO_MAPPING),
        (0x80, EPILOG),
    ];
    let addresses = [
        0x1000, 0x100F, 0x1010, 0x1011, 0x1020, 0x1021, 0x10FF, 0x1040, 0x1060, 0x1080,
    ];
    let expected = [
        "0x1000: -, -",
        "0x100f: -, -",
        "0x1010: 0, -",
        "0x1011: 0, 0",
        "0x1020: 12, 0",
        "0x1021: 12, 12",
        "0x1040: 30, 12",
        "0x1060: -, 30",
        "0x1080: -, -",
        "0x10ff: -, -",
    ];
    for width in [Width::Bits64, Width::Bits32] {
        let mut trace = Recording::new();
        let of = (PID, 1, width);
        trace.assembly(1, of);
        trace.code(2, of, LOAD, 1, 0x1000);
        trace.il_map(3, of, MAP, 1, &entries);
        trace.thrown(10, of, &addresses);
        let rows = trace.rows(Range::ALL);
        assert_eq!(offsets(&rows), expected);
        let tokens = read(&rows, IlOffset::TABLE, ["method_token", "pdb_age"]);
        assert!(tokens.iter().all(|it| *it == [Some(0x0600_0001), Some(1)]));
        let texts = |column| words(&rows, IlOffset::TABLE, column);
        assert!(texts("pdb_guid").iter().all(|guid| guid == PDB));
        assert!(
            texts("pdb_name")
                .iter()
                .all(|name| name == "D:\\build\\shop.pdb")
        );
    }
}

/// A tier is compiled under the same ID, and the number of the compilation does not tell which.
#[test]
fn each_piece_of_code_of_a_method_has_the_map_behind_its_own_event() {
    let mut trace = Recording::new();
    trace.code(1, THREAD, LOAD, 1, 0x1000);
    trace.il_map(2, THREAD, MAP, 1, &[(0, 5)]);
    trace.code(3, THREAD, LOAD, 1, 0x2000);
    // Another thread compiles in between.
    let other = (PID, 2, Width::Bits64);
    trace.code(4, other, LOAD, 2, 0x3000);
    trace.il_map(5, THREAD, MAP, 1, &[(0, 6)]);
    trace.il_map(6, other, MAP, 2, &[(0, 7)]);
    trace.thrown(10, THREAD, &[0x1004, 0x2004, 0x3004]);
    assert_eq!(
        offsets(&trace.rows(Range::ALL)),
        ["0x1004: 5, 5", "0x2004: 6, 6", "0x3004: 7, 7"]
    );
}

#[test]
fn rundowns_write_maps_behind_what_exists_at_the_start_and_before_what_exists_at_the_end() {
    let mut trace = Recording::new();
    trace.code(1, THREAD, AT_START, 1, 0x1000);
    trace.il_map(2, THREAD, MAP_AT_START, 1, &[(0, 5)]);
    trace.thrown(10, THREAD, &[0x1004, 0x2004, 0x3004, 0x4004]);
    trace.il_map(20, THREAD, MAP_AT_END, 1, &[(0, 5)]);
    trace.code(21, THREAD, AT_END, 1, 0x1000);
    for (us, il, start) in [(22, 6, 0x2000), (24, 7, 0x3000)] {
        trace.il_map(us, THREAD, MAP_AT_END, 2, &[(0, il)]);
        trace.code(us + 1, THREAD, AT_END, 2, start);
    }
    trace.code(26, THREAD, AT_END, 3, 0x4000);
    trace.il_map(27, THREAD, MAP_AT_END, 3, &[(0, 8)]);
    assert_eq!(
        offsets(&trace.rows(Range::ALL)),
        ["0x1004: 5, 5", "0x2004: 6, 6", "0x3004: 7, 7"]
    );
}

/// A map that could be of other code is of none.
#[test]
fn a_map_without_its_code_is_not_used() {
    let mut trace = Recording::new();
    trace.code(1, THREAD, LOAD, 1, 0x1000);
    trace.il_map(2, THREAD, MAP, 9, &[(0, 1)]);
    trace.il_map(3, THREAD, MAP, 1, &[(0, 2)]);
    trace.code(4, THREAD, LOAD, 2, 0x2000);
    trace.il_map(5, (PID, 2, Width::Bits64), MAP, 2, &[(0, 3)]);
    // Behind the end of the code.
    trace.code(6, THREAD, LOAD, 3, 0x3000);
    trace.il_map(7, THREAD, MAP, 3, &[(0, 4), (0x101, 5)]);
    trace.il_map(8, THREAD, MAP_AT_END, 4, &[(0, 6)]);
    trace.code(9, THREAD, AT_END, 5, 0x4000);
    trace.thrown(20, THREAD, &[0x1004, 0x2004, 0x3004, 0x4004]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(offsets(&rows), [""; 0]);
    assert!(rows.iter().all(|(table, _)| *table != IlOffset::TABLE));
}

#[test]
fn the_same_address_is_other_code_in_another_process_and_at_another_time() {
    let mut trace = Recording::new();
    let other = (OTHER, 1, Width::Bits64);
    trace.code(1, THREAD, LOAD, 1, 0x1000);
    trace.code(2, other, LOAD, 1, 0x1000);
    trace.il_map(3, THREAD, MAP, 1, &[(0, 5)]);
    trace.il_map(4, other, MAP, 1, &[(0, 6)]);
    trace.thrown(10, THREAD, &[0x1004]);
    trace.thrown(12, other, &[0x1005]);
    trace.code(20, THREAD, UNLOAD, 1, 0x1000);
    trace.code(21, THREAD, LOAD, 2, 0x1000);
    trace.il_map(22, THREAD, MAP, 2, &[(0, 7)]);
    trace.thrown(30, THREAD, &[0x1006]);
    assert_eq!(
        offsets(&trace.rows(Range::ALL)),
        ["0x1004: 5, 5", "0x1005: 6, 6", "0x1006: 7, 7"]
    );
}
