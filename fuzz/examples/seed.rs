//! Makes the corpora of all targets from a folder of traces: `cargo run --release --example seed -- TRACES
//! CORPUS`.
//!
//! Fuzzers want small inputs: of each trace there is one with an event of each kind, and one of its first
//! buffers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool of developers; it fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_decode::eventinfo;
use etwkit_decode::eventsource::Chunk;
use etwkit_etl::bytes::align8;
use etwkit_etl::wire::buffer::{BufferHeader, HEADER_LEN, buffer_type};
use etwkit_etl::wire::extended::kind;
use etwkit_etl::{Identity, Order, RawEvent, Session};
use etwkit_extract::lake::Lake;
use etwkit_extract::{ConvertOptions, Extract, Options, convert, open};
use etwkit_fuzz::input::push_block;
use etwkit_symbols::pdb::Pdb;

fn main() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (traces, corpus) = (
        args.next().expect("the folder of traces"),
        args.next().expect("the folder of corpora"),
    );
    let mut seeds = Seeds {
        corpus,
        count: BTreeMap::new(),
    };
    let mut files = Vec::new();
    find(&traces, &mut files, &["etl", "7z"]);
    for file in &files {
        let bytes = fs::read(file).unwrap();
        match Session::open(vec![Box::new(bytes.clone())]) {
            Ok(session) => seeds.of_trace(&bytes, &session),
            Err(_) => seeds.of_archive(file, &bytes),
        }
    }
    seeds.of_archives();
    seeds.of_packed();
    seeds.of_json();
    seeds.of_steps();
    seeds.of_symbols();
    seeds.of_settings();
    for (target, count) in &seeds.count {
        println!("{target}: {count} seeds");
    }
}

/// Finds the files with these endings in a folder and below it, by name.
fn find(folder: &Path, files: &mut Vec<PathBuf>, endings: &[&str]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_wanted = |ending: &OsStr| endings.iter().any(|wanted| ending == *wanted);
        if path.is_dir() {
            find(&path, files, endings);
        } else if path.extension().is_some_and(is_wanted) {
            files.push(path);
        }
    }
    files.sort();
}

struct Seeds {
    corpus: PathBuf,
    count: BTreeMap<&'static str, usize>,
}

/// Larger seeds make a fuzzer slow.
const MAX_SEED: usize = 32 << 10;

impl Seeds {
    fn add(&mut self, target: &'static str, bytes: &[u8]) {
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder).unwrap();
        let count = self.count.entry(target).or_default();
        fs::write(folder.join(format!("seed-{count:04}")), bytes).unwrap();
        *count += 1;
    }

    fn of_trace(&mut self, bytes: &[u8], session: &Session) {
        let few = few_records(session, bytes);
        for target in ["reader", "import", "archive"] {
            self.add(target, &few);
        }
        let end = session.files()[0]
            .buffers()
            .iter()
            .map(|b| (b.offset + u64::from(b.len)) as usize);
        let end = end
            .take_while(|end| *end <= MAX_SEED)
            .last()
            .unwrap_or(MAX_SEED.min(bytes.len()));
        self.add("reader", &bytes[..end]);
        self.of_buffers(bytes, session);
        self.of_metadata(session);
        self.of_event_infos(session);
        self.of_manifests(session);
        self.of_kernel(session);
        self.of_extract(&few);
        for what in 0..6 {
            // The first second of it, where a part is cut out.
            let part = [0_u32.to_le_bytes(), 1_000_000_u32.to_le_bytes()].concat();
            self.add("cut", &[&[what], &part[..], &few].concat());
        }
    }

    /// An archive, and what the trace in it describes.
    fn of_archive(&mut self, file: &Path, bytes: &[u8]) {
        if bytes.len() < 1 << 21 {
            self.add("archive", bytes);
        }
        if let Ok(input) = open(&[file.to_owned()], &Options::default()) {
            self.of_metadata(input.session());
            self.of_manifests(input.session());
        }
    }

    /// An extract of ETWAnalyzer with something in every section: whole, by section, packed.
    fn of_json(&mut self) {
        let small = etwkit_testkit::etwanalyzer::small();
        let folder = tempfile::tempdir().unwrap();
        let packed = small.write_packed(folder.path(), "x");
        self.add("json", &[&[0], &fs::read(packed).unwrap()[..]].concat());
        let mut whole = vec![1];
        push_block(&mut whole, &serde_json::to_vec(&small.main).unwrap());
        for (number, (_, part)) in (0u8..).zip(&small.parts) {
            whole.push(number);
            push_block(&mut whole, &serde_json::to_vec(part).unwrap());
        }
        self.add("json", &whole);
        let sections = small.main.as_object().unwrap();
        let needed = |name: &str| ["SessionStart", "SessionEnd", "Processes"].contains(&name);
        for name in sections.keys().filter(|name| !needed(name.as_str())) {
            let one: serde_json::Map<_, _> = sections
                .iter()
                .filter(|(key, _)| needed(key.as_str()) || *key == name)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let text = serde_json::to_vec(&one).unwrap();
            self.add("json", &[&[255], &text[..]].concat());
        }
    }

    /// Symbol files of the tests, their tables, and names.
    fn of_symbols(&mut self) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/symbols/tests/fixtures");
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files
            .iter()
            .filter(|file| file.extension().is_some_and(|ending| ending == "pdb"))
        {
            let bytes = fs::read(file).unwrap();
            self.add("pdb", &bytes);
            // A portable one has no table.
            let Ok(mut pdb) = Pdb::open(Cursor::new(&bytes)) else {
                continue;
            };
            let table = pdb.table().unwrap();
            self.add("symbols", &[&[1], table.as_bytes()].concat());
            for symbol in table.functions() {
                self.add(
                    "symbols",
                    &[&[4], symbol.decorated.unwrap_or(symbol.name).as_bytes()].concat(),
                );
            }
        }
        let image = files
            .iter()
            .find(|file| file.extension().is_some_and(|ending| ending == "exe"));
        self.add(
            "symbols",
            &[&[5], &fs::read(image.unwrap()).unwrap()[..]].concat(),
        );
        let text = "MODULE windows x86_64 44E4EC8C2F41492B9369D6B9A059577C2 a.pdb\nFILE 0 a.cpp\nINLINE_ORIGIN 0 f\n\
                    FUNC 1000 30 0 main\nINLINE 0 11 0 0 1010 10\n1000 30 10 0\nPUBLIC 1040 0 ?g@ns@@YAHXZ\n";
        self.add("symbols", &[&[0], text.as_bytes()].concat());
        let names = [
            "?f@@YAXP6AXPEAH0@Z1@Z",
            "_ZN1A1fIiEEvT_",
            "_RNvCs1234_7mycrate3foo",
            "_main@4",
            "?A0x12345678::f",
        ];
        for name in names {
            self.add("symbols", &[&[4], name.as_bytes()].concat());
        }
    }

    /// Compressed buffers.
    fn of_buffers(&mut self, bytes: &[u8], session: &Session) {
        let buffers = session.files()[0]
            .buffers()
            .iter()
            .filter(|buffer| buffer.header.is_compressed());
        for buffer in buffers.take(3) {
            let from = buffer.offset as usize + HEADER_LEN;
            let packed = &bytes[from..from - HEADER_LEN + buffer.len as usize];
            let claimed = buffer.header.offset.saturating_sub(HEADER_LEN as u32);
            for method in 0..4 {
                self.add(
                    "decompressor",
                    &[&[method], &claimed.to_le_bytes()[..], packed].concat(),
                );
            }
        }
    }

    fn of_metadata(&mut self, session: &Session) {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        each(session, |event| {
            let Some(metadata) = event.extended().find(kind::EVENT_SCHEMA_TL) else {
                return;
            };
            if seen.len() < 40 && seen.insert(metadata.to_vec()) {
                let traits = event
                    .extended()
                    .find(kind::PROVIDER_TRAITS)
                    .unwrap_or_default();
                let mut seed = Vec::new();
                [metadata, traits, event.payload()]
                    .into_iter()
                    .for_each(|block| push_block(&mut seed, block));
                all.push(seed);
            }
        });
        all.iter().for_each(|seed| self.add("tracelogging", seed));
    }

    fn of_event_infos(&mut self, session: &Session) {
        let mut payloads = BTreeMap::new();
        let mut infos = Vec::new();
        each(session, |event| {
            if event.kind.is_classic() && event.provider() == eventinfo::CLASS {
                infos.push((event.opcode(), event.payload().to_vec()));
            } else if let Identity::Manifest {
                provider,
                id,
                version,
                ..
            } = event.identity()
            {
                payloads
                    .entry((provider, id, version))
                    .or_insert_with(|| event.payload().to_vec());
            }
        });
        let step = (infos.len() / 60).max(1);
        for (opcode, info) in infos.iter().step_by(step) {
            let mut seed = vec![u8::from(*opcode == eventinfo::OPCODE_MAP)];
            push_block(&mut seed, info);
            let head = eventinfo::head(info).filter(|_| *opcode == eventinfo::OPCODE_EVENT);
            if let Some(payload) = head.and_then(|h| payloads.get(&(h.provider, h.id, h.version))) {
                seed.push(2);
                push_block(&mut seed, payload);
            }
            self.add("eventinfo", &seed);
        }
    }

    fn of_manifests(&mut self, session: &Session) {
        let mut whole: BTreeMap<_, BTreeMap<u16, Vec<u8>>> = BTreeMap::new();
        each(session, |event| {
            if event.kind.is_manifest()
                && let Some(chunk) = Chunk::of(event)
            {
                whole
                    .entry(event.provider())
                    .or_default()
                    .insert(chunk.number, chunk.bytes.to_vec());
            }
        });
        for chunks in whole.values() {
            let xml = chunks.values().flatten().copied().take(MAX_SEED / 2);
            self.add(
                "manifest",
                &std::iter::once(0).chain(xml).collect::<Vec<_>>(),
            );
            let mut cut = vec![1];
            for (number, chunk) in chunks.iter().take(4) {
                cut.extend([1, 0, chunks.len() as u8, *number as u8]);
                push_block(&mut cut, &chunk[..chunk.len().min(2000)]);
            }
            self.add("manifest", &cut);
        }
    }

    fn of_kernel(&mut self, session: &Session) {
        let mut seen = BTreeMap::new();
        each(session, |event| {
            if let Identity::Kernel {
                group,
                opcode,
                version,
            } = event.identity()
            {
                seen.entry((group, opcode, version))
                    .or_insert_with(|| (event.pointer_size(), event.payload().to_vec()));
            }
        });
        let mut together = vec![0];
        for ((group, opcode, version), (pointer_size, payload)) in seen {
            let kind = 0b1_0010 | u8::from(pointer_size == 4);
            let shape = (opcode % 4) << 1 | u8::from(pointer_size == 4);
            let mut step = vec![kind, 1, 0, 0, opcode, group, version];
            push_block(&mut step, &payload);
            self.add("kernel", &[&[shape], &step[..]].concat());
            if together.len() < 8192 {
                together.extend(step);
            }
        }
        self.add("kernel", &together);
    }

    /// The trace as an extract: packed, and the files of its tables.
    fn of_extract(&mut self, trace: &[u8]) {
        let folder = tempfile::tempdir().unwrap();
        let (file, target, packed) = (
            folder.path().join("x.etl"),
            folder.path().join("x.etwx"),
            folder.path().join("x.etwx.zip"),
        );
        fs::write(&file, trace).unwrap();
        let input = open(&[file], &Options::default()).unwrap();
        convert(&input, &target, ConvertOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        let extract = Extract::open(&target).unwrap();
        extract.pack(&packed).unwrap();
        let packed = fs::read(packed).unwrap();
        if packed.len() < 2 * MAX_SEED {
            self.add("extract", &[&[0], &packed[..]].concat());
        }
        let names = etwkit_trace::topics::TABLES
            .iter()
            .chain(etwkit_trace::table::DERIVED);
        for (number, table) in names.enumerate() {
            let Some(found) = extract.table(table.name) else {
                continue;
            };
            // The target reads the number of a table out of one byte: the last tables have no seed.
            let Ok(shape) = u8::try_from(number * 3 + 2) else {
                continue;
            };
            let bytes = fs::read(&found.path).unwrap();
            if bytes.len() < 20_000 {
                self.add(
                    "extract",
                    &[&[shape], &(found.rows as u16).to_le_bytes()[..], &bytes].concat(),
                );
            }
        }
        let mut seed = vec![1];
        push_block(&mut seed, &fs::read(target.join("manifest.json")).unwrap());
        self.add("extract", &seed);
        self.of_lake(extract);
    }

    /// A lake with the run of an extract, in the files of the target.
    fn of_lake(&mut self, extract: Extract) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lake");
        let lake = Lake::init(&path).unwrap();
        lake.add(&[("x".to_owned(), extract)]).unwrap();
        let mut seed = Vec::new();
        for (table, first) in [("run", 0_u8), ("process", 4)] {
            let folder = path.join(table);
            if !folder.is_dir() {
                continue;
            }
            let mut files = Vec::new();
            find(&folder, &mut files, &["json", "parquet"]);
            let is_log = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "json");
            let (logs, rows): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(is_log);
            for (number, file) in (first..).zip(logs.iter().take(2)) {
                let mut text = fs::read_to_string(file).unwrap();
                // The target has another name for the file with the rows.
                for file in &rows {
                    let name = file.strip_prefix(&folder).unwrap().to_str().unwrap();
                    text = text.replace(name, "run_month=2026-11/a.parquet");
                }
                seed.push(number);
                push_block(&mut seed, text.as_bytes());
            }
            if let Some(file) = rows.first() {
                seed.push(first + 3);
                push_block(&mut seed, &fs::read(file).unwrap());
            }
        }
        if seed.len() < 2 * MAX_SEED {
            self.add("lake", &seed);
        }
    }

    /// What people write: stack tags, recording profiles, tables of substitutes, search paths.
    fn of_settings(&mut self) {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let tags = fs::read(crates.join("trace/src/tags/default.stacktags")).unwrap();
        let small = "<Tag Name=\"\"><Tag Name=\"a\" Priority=\"2\"><Entrypoint Module=\"a*.dll\" Method=\"b*\"/>\
                     <HintTag Name=\"c\" HintOperator=\"Callee\" OnlyShowModule=\"false\">\
                     <Entrypoint Module=\"d.dll\" Method=\"*e::f*\"/></HintTag></Tag></Tag>";
        for file in [&tags[..], small.as_bytes()] {
            let mut seed = Vec::new();
            push_block(
                &mut seed,
                b"ntdll.dll!NtWaitForSingleObject\na.dll!bad\nd.dll!e::f",
            );
            seed.extend(file);
            self.add("tags", &seed);
        }
        let profiles = fs::read(crates.join("record/profiles/etwkit.wprp")).unwrap();
        self.add("profiles", &profiles);
        let table = "{\"etwkit_substitutes\":1}\n\
                     {\"kind\":\"program\",\"substitute\":\"program-1\",\"original\":\"zebulon\"}\n\
                     {\"kind\":\"host\",\"substitute\":\"host-1.example\",\"original\":\"a \\\"b\\\", c\"}\n";
        let answers = [
            "  Name       ms\n  program-1   1\n  other      22\nhost-1.example\n",
            "{\"a\":\"program-1\"}\n1,host-1.example,\"x, program-1\"\n",
        ];
        for (form, answer) in (0..).zip(answers) {
            let mut seed = vec![form];
            push_block(&mut seed, answer.as_bytes());
            seed.extend(table.as_bytes());
            self.add("substitutes", &seed);
        }
        let paths = [
            "cache*%A%;srv*C:\\Symbols*https://a.example;\\\\server\\share",
            "symsrv*symsrv.dll*/a*https://a.example*https://b.example;${B};~/c;ms;NtSymbolPath",
        ];
        for path in paths {
            self.add("symbols", &[&[6], path.as_bytes()].concat());
        }
    }

    /// The packed traces that the tests of the reader have, each behind the number of its format.
    fn of_packed(&mut self) {
        let fixtures =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/extract/tests/fixtures/packed");
        let names = [
            "halves.etl.gz",
            "halves.etl.zst",
            "halves.etl.xz",
            "halves.etl.bz2",
            "halves.etl.lz4",
            "mszip.cab",
        ];
        for (name, format) in names.iter().zip(0u8..) {
            let bytes = fs::read(fixtures.join(name)).unwrap();
            self.add("packed", &[&[format], &bytes[..]].concat());
        }
    }

    /// Archives of all kinds around a small trace.
    fn of_archives(&mut self) {
        let options = etwkit_synth::Options::default();
        let (trace, _) = etwkit_synth::SCENARIOS[0]
            .write(Cursor::new(Vec::new()), &options)
            .unwrap();
        let bytes = trace.into_inner();
        let session = Session::open(vec![Box::new(bytes.clone())]).unwrap();
        let small = few_records(&session, &bytes);
        let zip = |method, trace: &[u8]| {
            let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file("folder/x.etl", options).unwrap();
            zip.write_all(trace).unwrap();
            zip.finish().unwrap().into_inner()
        };
        let stored = zip(zip::CompressionMethod::Stored, &small);
        self.add("archive", &zip(zip::CompressionMethod::Deflated, &small));
        self.add("archive", &stored);
        let mut outer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        outer
            .start_file("x.etl.zip", zip::write::SimpleFileOptions::default())
            .unwrap();
        outer.write_all(&stored).unwrap();
        self.add("archive", &outer.finish().unwrap().into_inner());
        let mut seven = sevenz_rust2::ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
        let entry = sevenz_rust2::ArchiveEntry::new_file("x.etl");
        seven.push_archive_entry(entry, Some(&small[..])).unwrap();
        self.add("archive", &seven.finish().unwrap().into_inner());
        self.of_trace(&bytes, &session);
    }

    /// Steps of the target `stacks`: a sample with a stack, by key, on a module with a method.
    fn of_steps(&mut self) {
        let image = [11, 0, 0, 0, 0x10, 255];
        let method = [14, 0, 0, 0, 0x12, 40];
        let process = [12, 0, 0, 0x12, 4];
        let sample = [0, 0, 5, 0x12, 4, 0];
        let whole = [5, 0, 3, 3, 4, 3, 0x12, 0x91, 0x13];
        let key = [7, 1, 3, 6, 0, 4, 2, 0x80, 0x92];
        let switch = [2, 0, 9, 4, 8, 5];
        let seed = [
            &image[..],
            &method,
            &process,
            &sample,
            &whole,
            &sample,
            &key,
            &switch,
            &whole,
        ]
        .concat();
        self.add("stacks", &seed);
        self.add("stacks", &seed.repeat(4));
        for step in [
            &image[..],
            &method,
            &process,
            &sample,
            &whole,
            &key,
            &switch,
        ] {
            self.add("stacks", step);
        }
    }
}

fn each(session: &Session, mut visit: impl FnMut(&RawEvent<'_>)) {
    let pass = session.for_each(Order::File, |event| {
        visit(event);
        ControlFlow::Continue(())
    });
    pass.unwrap();
}

/// A trace with the first event of each kind, in one buffer behind the header buffer.
fn few_records(session: &Session, bytes: &[u8]) -> Vec<u8> {
    let head = session.files()[0].buffers()[0];
    let used = (head.header.offset.max(head.header.saved_offset) as usize)
        .clamp(HEADER_LEN + 400, head.len as usize);
    let mut first = bytes[..align8(used)].to_vec();
    let header = BufferHeader {
        buffer_size: first.len() as u32,
        offset: used as u32,
        ..head.header
    };
    first[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    let mut records = vec![0; HEADER_LEN];
    let mut seen = BTreeMap::new();
    each(session, |event| {
        let count = seen.entry(event.identity()).or_insert(0);
        *count += 1;
        if *count <= 2
            && event.buffer > 0
            && event.record.len() < 4096
            && records.len() < MAX_SEED / 2
        {
            records.extend(event.record);
            records.resize(align8(records.len()), 0);
        }
    });
    let header = BufferHeader {
        buffer_size: records.len() as u32,
        offset: records.len() as u32,
        buffer_type: buffer_type::GENERIC,
        ..BufferHeader::default()
    };
    records[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    [first, records].concat()
}
