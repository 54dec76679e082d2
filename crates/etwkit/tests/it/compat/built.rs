//! A trace of events that no recording at hand has: counts of pages, TraceLogging events, branch records,
//! references to objects, a file without a name. The layouts are those that Windows documents; that it writes
//! them so is not shown here.

use std::fs::File;
use std::path::Path;

use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::{
    KernelContext, KernelEvent, ManifestEvent, MergeRecord, SessionOptions, TraceWriter,
};
use etwkit_testkit::payload::{bytes, wide};

/// Processes: id and name. Their main threads have ten times the id.
const PROCESSES: [(u32, &str); 2] = [(100, "shop.exe"), (200, "db.exe")];
const SHOP: Guid = Guid::literal("a61ea624-4944-55fc-c2a8-37838829438d");
const STOCK: Guid = Guid::literal("b5d2ea6f-6d5a-4ab2-9e5a-6a6d8f0e3c21");
/// Number of the type of objects.
const EVENT: u64 = 16;
const MIB_PAGES: u64 = 256;

struct Recording {
    writer: TraceWriter<File>,
    start: i64,
}

impl Recording {
    fn kernel(&mut self, ms: i64, (group, opcode, version): (u8, u8, u8), payload: &[u8]) {
        let timestamp = self.start + ms * 1000;
        let event = KernelEvent {
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// Writes the event as the main thread of a process does.
    fn of(&mut self, ms: i64, pid: u32, (group, opcode, version): (u8, u8, u8), payload: &[u8]) {
        let context = KernelContext::ids(pid * 10, pid);
        let timestamp = self.start + ms * 1000;
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// A process that was there, its thread and its image.
    fn process(&mut self, pid: u32, name: &str) {
        let ids = [
            (0x1000 + u64::from(pid), 8),
            (pid.into(), 4),
            (4, 4),
            (1, 4),
            (0x103, 4),
            (0, 8),
        ];
        let head = bytes(&[(0, 4), (0, 8)]);
        let tail = [
            name.as_bytes(),
            b"\0",
            &wide(&format!("{name} --port 80")),
            &wide(""),
            &wide(""),
        ]
        .concat();
        self.kernel(0, (3, 3, 4), &[bytes(&ids), head, tail].concat());
        self.kernel(
            0,
            (5, 3, 3),
            &bytes(&[(pid.into(), 4), (u64::from(pid) * 10, 4)]),
        );
        let base = 0x7FF6_0000_0000 + (u64::from(pid) << 24);
        let identity = [
            MergeRecord::ImageInfo {
                image_base: base,
                image_size: 0x10_0000,
                process_id: pid,
                time_date_stamp: 0x6400_0000,
                original_file_name: name,
            },
            MergeRecord::DbgIdRsds {
                image_base: base,
                process_id: pid,
                guid: SHOP,
                age: 1,
                pdb_name: "shop.pdb",
            },
        ];
        identity.iter().for_each(|record| {
            self.writer
                .write_merge_record(0, self.start, record)
                .unwrap();
        });
        let image = [
            (base, 8),
            (0x10_0000, 8),
            (pid.into(), 4),
            (0, 4),
            (0x6400_0000, 4),
            (0, 4),
            (base, 8),
            (0, 8),
            (0, 8),
        ];
        self.kernel(
            0,
            (20, 3, 3),
            &[
                bytes(&image),
                wide(&format!(r"\Device\HarddiskVolume3\shop\{name}")),
            ]
            .concat(),
        );
    }

    /// Pages of the machine and of the processes; a process has `more` MiB more.
    fn pages(&mut self, ms: i64, more: u64) {
        let mib = |mib: u64| (mib * MIB_PAGES, 8);
        let lists = (0..16).map(|list| mib(if list < 8 { 16 } else { 0 }));
        let machine: Vec<(u64, usize)> = [mib(64), mib(32), mib(8), mib(1), (0, 8)]
            .into_iter()
            .chain(lists)
            .chain([mib(4), mib(100), mib(50), mib(10), mib(2000 + more)])
            .collect();
        self.kernel(ms, (2, 112, 2), &bytes(&machine));
        let mut processes = bytes(&[(PROCESSES.len() as u64, 4)]);
        for ((pid, _), (commit, set)) in PROCESSES.iter().zip([(300 + more, 200), (1000, 30)]) {
            let numbers = [
                mib(set),
                mib(commit),
                mib(4096),
                mib(set / 2),
                (0, 8),
                (0, 8),
                (0, 8),
                mib(set / 10),
            ];
            processes.extend([bytes(&[(u64::from(*pid), 4)]), bytes(&numbers)].concat());
        }
        self.kernel(ms, (2, 125, 2), &processes);
    }

    /// A TraceLogging event with a text and a number.
    fn log(
        &mut self,
        ms: i64,
        pid: u32,
        provider: (Guid, &str),
        name: &str,
        (text, number): (&str, u32),
    ) {
        let sized = |block: Vec<u8>| [bytes(&[(block.len() as u64 + 2, 2)]), block].concat();
        // No tags; fields are a name and a type: 1 UTF-16 text, 8 a number of 32 bits.
        let schema = sized(
            [
                b"\0",
                name.as_bytes(),
                b"\0",
                b"item\0",
                &[1],
                b"count\0",
                &[8],
            ]
            .concat(),
        );
        let traits = sized([provider.1.as_bytes(), b"\0"].concat());
        let event = ManifestEvent {
            timestamp: self.start + ms * 1000,
            provider: provider.0,
            descriptor: Descriptor {
                id: 0,
                level: 4,
                channel: 11,
                ..Descriptor::default()
            },
            thread_id: pid * 10,
            process_id: pid,
            extended: &[
                (kind::EVENT_SCHEMA_TL, schema.as_slice()),
                (kind::PROVIDER_TRAITS, traits.as_slice()),
            ],
            payload: &[wide(text), bytes(&[(number.into(), 4)])].concat(),
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// Branches that a process took before that time: offsets in its image.
    fn branches(&mut self, ms: i64, pid: u32, branches: &[(u64, u64)]) {
        let at = self.start + ms * 1000;
        let base = 0x7FF6_0000_0000 + (u64::from(pid) << 24);
        let owner = [
            (at.cast_unsigned(), 8),
            (pid.into(), 4),
            (u64::from(pid) * 10, 4),
            (0, 4),
            (0, 4),
        ];
        let entries = branches
            .iter()
            .flat_map(|(from, to)| bytes(&[(base + from, 8), (base + to, 8), (1, 8)]));
        let payload: Vec<u8> = bytes(&owner).into_iter().chain(entries).collect();
        self.kernel(ms, (12, 32, 2), &payload);
    }

    /// An object is made, gets a handle and references, and goes away.
    fn object(&mut self, pid: u32) {
        const OBJECT: (u64, usize) = (0xFFFF_A08D_0000_1230, 8);
        let kind = [OBJECT, (EVENT, 2), (0, 2)];
        self.of(10, pid, (17, 48, 2), &bytes(&kind));
        let handle = [OBJECT, (0x154, 4), (EVENT, 2), (0, 2)];
        self.of(11, pid, (17, 32, 2), &bytes(&handle));
        for (ms, opcode, tag) in [(12, 50, b"Ntfx"), (20, 51, b"Ntfx"), (25, 50, b"Dflt")] {
            self.of(
                ms,
                pid,
                (17, opcode, 2),
                &[bytes(&[OBJECT]), tag.to_vec(), bytes(&[(1, 4)])].concat(),
            );
        }
        self.of(
            30,
            pid,
            (17, 33, 2),
            &[bytes(&handle[..3]), wide(r"\BaseNamedObjects\Cart")].concat(),
        );
        self.of(40, pid, (17, 49, 2), &bytes(&kind));
        self.kernel(
            90,
            (17, 37, 2),
            &[bytes(&[(EVENT, 2), (0, 2)]), wide("Event")].concat(),
        );
    }

    /// Two reads of files; only one of them has a name in the trace.
    fn files(&mut self, pid: u32) {
        for (ms, file) in [(50, 0xC0_0010), (60, 0xC0_0020)] {
            let irp = (0xFFFF_A08D_4000_0000 + file, 8);
            let read = [
                (0, 8),
                irp,
                (file, 8),
                (file, 8),
                (u64::from(pid) * 10, 4),
                (8192, 4),
                (0, 4),
                (0, 4),
            ];
            self.kernel(ms, (4, 67, 3), &bytes(&read));
            self.kernel(ms + 2, (4, 76, 3), &bytes(&[irp, (8192, 8), (0, 4)]));
        }
        let name = [
            bytes(&[(0xC0_0010, 8)]),
            wide(r"\Device\HarddiskVolume3\shop\prices.txt"),
        ]
        .concat();
        self.kernel(95, (4, 36, 3), &name);
    }
}

/// Writes it; with the first process `more` MiB larger at its end than at its start.
pub(super) fn write(path: &Path, more: u64) {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    options.header.cpu_count = 2;
    options.header.session_name = "NT Kernel Logger".into();
    let (start, start_time) = (options.t0, options.header.start_time);
    let writer = TraceWriter::new(File::create(path).unwrap(), &options).unwrap();
    let mut trace = Recording { writer, start };
    PROCESSES
        .iter()
        .for_each(|(pid, name)| trace.process(*pid, name));
    trace.pages(1, 0);
    trace.object(100);
    trace.files(200);
    trace.branches(
        70,
        100,
        &[(0x1010, 0x2000), (0x1010, 0x2000), (0x2040, 0x3000)],
    );
    trace.branches(72, 200, &[(0x1010, 0x2000)]);
    for (ms, what) in [(75, ("milk", 2)), (76, ("bread", 1)), (77, ("milk", 9))] {
        trace.log(ms, 100, (SHOP, "Contoso-Shop"), "ItemAdded", what);
    }
    trace.log(78, 100, (SHOP, "Contoso-Shop"), "CartClosed", ("", 3));
    trace.log(80, 200, (STOCK, "Contoso-Stock"), "Counted", ("bread", 40));
    trace.pages(96, more);
    trace.writer.finish(start_time + 1_000_000).unwrap();
    symbols(path);
}

/// Names of the code of both images, where symbols are looked for first.
fn symbols(trace: &Path) {
    let identity = format!("{}1", SHOP.to_string().replace('-', "").to_uppercase());
    let folder = trace
        .with_extension("symbols")
        .join("shop.pdb")
        .join(&identity);
    std::fs::create_dir_all(&folder).unwrap();
    let functions = [
        "FUNC 1000 100 0 Main",
        "FUNC 2000 100 0 Cart::Load",
        "FUNC 3000 100 0 Cart::Price",
    ];
    let text = format!(
        "MODULE windows x86_64 {identity} shop.pdb\n{}\n",
        functions.join("\n")
    );
    std::fs::write(folder.join("shop.sym"), text).unwrap();
}
