//! Lines of .NET frames: from the address by the runtime's map to IL, and from there by a portable
//! PDB to the source.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use etwkit_extract::{
    ConvertOptions, DotnetCode, Extract, NameFrom, NamedFile, Naming, Writer, WriterOptions,
    convert, name_again,
};
use etwkit_symbols::portable::{Portable, embedded};
use etwkit_symbols::{Options, SearchPath};
use etwkit_testkit::payload::{bytes, wide};
use etwkit_trace::table::{Frame, Module, Row};

use crate::rows::{batch, manifest};
use crate::support::{Folder, open_one};

const RUNTIME: Guid = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");

/// A portable PDB of Mono.Cecil. Lines of method 2 by IL offset: 22 from 0, no code of the source
/// from 3, 28 from 10, 421 from 13.
fn pdb() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/fixtures");
    fs::read(folder.join("methods.pdb")).unwrap()
}

/// What a trace has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Maps,
    NoMaps,
}

/// A program that throws three times in its method 2, twice of them from its method 1, and once in
/// a method of another assembly. The method at 0x3000 was compiled before the trace: it has no map.
fn trace(folder: &Folder, has: Has, guid: Guid) -> PathBuf {
    let options = SessionOptions::default();
    let (t0, end) = (options.t0, options.header.start_time + 10_000);
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let mut time = t0;
    let mut event = |id: u16, version: u8, payload: &[u8]| {
        time += 10;
        let event = ManifestEvent {
            timestamp: time,
            provider: RUNTIME,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            process_id: 100,
            thread_id: 101,
            payload,
            ..ManifestEvent::default()
        };
        writer.write(0, event).unwrap();
    };
    for (module, name, guid) in [(0x50, "methods", guid), (0x51, "other", Guid::ZERO)] {
        let payload = [
            bytes(&[(module, 8), (0, 8), (0, 4), (0, 4)]),
            wide(&format!("C:\\app\\{name}.exe")),
            wide(""),
            bytes(&[(0, 2)]),
            guid.to_bytes().to_vec(),
            bytes(&[(1, 4)]),
            wide(&format!("D:\\build\\{name}.pdb")),
        ];
        event(152, 2, &payload.concat());
    }
    let methods = [
        (1, 0x50, 0x1000, "Added"),
        (2, 0x50, 0x2000, "Total"),
        (1, 0x50, 0x3000, "Early"),
        (1, 0x51, 0x4000, "Other"),
    ];
    for (row, module, start, name) in methods {
        let head = [
            (start, 8),
            (module, 8),
            (start, 8),
            (0x100, 4),
            (0x0600_0000 + row, 4),
            (8, 4),
        ];
        let names = [wide("Methods"), wide(name), wide("int32 ()")].concat();
        let payload = [bytes(&head), names, bytes(&[(0, 2)])].concat();
        event(143, 1, &payload);
        if has == Has::NoMaps || name == "Early" {
            continue;
        }
        // Prolog, then IL 0, 3, 10 and 13, then the end of the method.
        let numbers = [
            &[(start, 8), (0, 8), (0, 1), (6, 2)][..],
            &[0xFFFF_FFFE, 0, 3, 10, 13, 0xFFFF_FFFD].map(|il| (il, 4)),
            &[0, 0x10, 0x20, 0x30, 0x40, 0x50].map(|native| (native, 4)),
            &[(0, 2)],
        ];
        event(190, 0, &bytes(&numbers.concat()));
    }
    // 0x1010 is the first address behind a call in the prolog, 0x2040 behind one of IL 10.
    for stack in [
        [0x2035, 0x1018, 0x3010],
        [0x2025, 0x1010, 0x3010],
        [0x2055, 0x2040, 0x4018],
    ] {
        event(80, 0, &[wide("A"), wide("message"), vec![0; 16]].concat());
        let addresses = stack.map(|address| (address, 8));
        event(82, 0, &bytes(&[&[(0, 4), (3, 4)][..], &addresses].concat()));
    }
    let file = writer.finish(end).unwrap().into_inner();
    folder.write("run.etl", &file)
}

fn from(folder: &Path) -> NameFrom<'static> {
    NameFrom {
        path: SearchPath::default().with_folder(folder),
        options: Options::default(),
        on_symbols: &|_, _| {},
    }
}

/// Extracts a trace, with symbols of a folder if there is one.
fn extracted(folder: &Folder, has: Has, symbols: Option<&Path>) -> (PathBuf, Option<Naming>) {
    let guid = Portable::open(pdb()).unwrap().guid();
    extracted_of(folder, has, guid, symbols)
}

fn extracted_of(
    folder: &Folder,
    has: Has,
    guid: Guid,
    symbols: Option<&Path>,
) -> (PathBuf, Option<Naming>) {
    let (input, target) = (
        open_one(&trace(folder, has, guid)).unwrap(),
        folder.path("run.etwx"),
    );
    let names = symbols.map(from);
    let options = ConvertOptions {
        names: names.as_ref(),
        ..ConvertOptions::default()
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    let converted = convert(&input, &target, options, go_on).unwrap();
    (target, converted.naming)
}

fn load(target: &Path, symbols: &Path) -> Naming {
    let extract = Extract::open(target).unwrap();
    name_again(&extract, &from(symbols)).unwrap().0
}

/// Each frame as `address file:line`.
fn frames(target: &Path) -> Vec<String> {
    let extract = Extract::open(target).unwrap();
    let file = extract.table("frame").unwrap();
    let mut all = Vec::new();
    for batch in file.batches(None).unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let address = column("address").as_primitive::<Int64Type>();
        let source = column("source_file").as_string::<i32>();
        let line = column("line").as_primitive::<Int32Type>();
        for row in 0..batch.num_rows() {
            let place = line
                .is_valid(row)
                .then(|| format!(" {}:{}", source.value(row), line.value(row)));
            assert_eq!(source.is_valid(row), line.is_valid(row));
            all.push(format!(
                "{:#x}{}",
                address.value(row),
                place.unwrap_or_default()
            ));
        }
    }
    all.sort();
    all
}

/// What a file gave: .NET addresses, lines, where it is, and the reasons.
fn told(file: &NamedFile) -> (usize, usize, bool, Vec<&str>) {
    let reasons = file.tried.iter().map(|tried| tried.reason.as_str());
    (
        file.dotnet_addresses,
        file.lines,
        file.source.is_some(),
        reasons.collect(),
    )
}

const LINES: [&str; 8] = [
    // The call was made before the first line.
    "0x1010",
    "0x1018 c:\\src\\methods.cs:12",
    // Code that the compiler made, of no line.
    "0x2025",
    "0x2035 c:\\src\\methods.cs:28",
    // The call, which ends before the address, is on another line than the code behind it.
    "0x2040 c:\\src\\methods.cs:28",
    // The end of the method.
    "0x2055",
    // No map.
    "0x3010",
    // No symbol file is known.
    "0x4018",
];
const ADDRESSES: [&str; 8] = [
    "0x1010", "0x1018", "0x2025", "0x2035", "0x2040", "0x2055", "0x3010", "0x4018",
];

#[test]
fn dotnet_frames_get_lines_from_a_portable_pdb() {
    let folder = Folder::new();
    fs::create_dir(folder.path("symbols")).unwrap();
    let symbols = folder.path("symbols");
    let (target, naming) = extracted(&folder, Has::Maps, Some(&symbols));
    assert_eq!(frames(&target), ADDRESSES);
    let naming = naming.unwrap();
    assert!(!naming.is_useful());
    assert_eq!(told(&naming.files[0]).3, ["does not have it"]);

    folder.write("symbols/methods.pdb", &pdb());
    let naming = load(&target, &symbols);
    assert!(naming.is_useful());
    let [file] = naming.files.as_slice() else {
        panic!("{:?}", naming.files)
    };
    assert_eq!((file.module.as_str(), file.addresses), ("methods.exe", 0));
    // 0x1010 and 0x2055 are in no IL.
    assert_eq!(told(file), (6, 3, true, vec![]));
    assert_eq!((naming.found(), naming.lines()), (1, 3));
    let dotnet = DotnetCode {
        addresses: 8,
        mapped: 7,
        unknown: 1,
    };
    assert_eq!(naming.dotnet, dotnet);
    assert_eq!(frames(&target), LINES);

    // Another time, or at once when the trace is extracted: the same rows.
    let again = fs::read(target.join("frame.parquet")).unwrap();
    load(&target, &symbols);
    assert_eq!(fs::read(target.join("frame.parquet")).unwrap(), again);
    let (target, naming) = extracted(&folder, Has::Maps, Some(&symbols));
    assert_eq!(naming.unwrap().lines(), 3);
    assert_eq!(fs::read(target.join("frame.parquet")).unwrap(), again);

    // Lines stay where the file is gone.
    fs::remove_file(symbols.join("methods.pdb")).unwrap();
    assert!(!load(&target, &symbols).is_useful());
    assert_eq!(frames(&target), LINES);
}

/// The assembly carries its symbol file, and lies where symbol files are looked for.
#[test]
fn dotnet_frames_get_lines_from_the_assembly() {
    let folder = Folder::new();
    fs::create_dir(folder.path("symbols")).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/fixtures");
    let assembly = fs::read(fixtures.join("methods-embedded.exe")).unwrap();
    let carried = embedded(&assembly).unwrap().unwrap();
    folder.write("symbols/methods.exe", &assembly);
    let guid = Portable::open(carried).unwrap().guid();
    let (target, naming) = extracted_of(&folder, Has::Maps, guid, Some(&folder.path("symbols")));
    let naming = naming.unwrap();
    let (addresses, lines, is_found, reasons) = told(&naming.files[0]);
    assert_eq!((addresses, lines, is_found), (6, 3, true));
    assert_eq!(reasons, ["does not have it"]);
    assert_eq!(frames(&target), LINES);
}

/// Native code of the same assembly has no names in a portable PDB, and without maps its .NET code
/// has no lines: the file is not counted as found.
#[test]
fn a_portable_pdb_without_effect_says_why() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let guid = Portable::open(pdb()).unwrap().guid();
    let module = Module {
        name: "methods.exe".to_owned(),
        pdb_guid: Some(guid.to_string()),
        pdb_age: Some(1),
        pdb_name: Some("methods.pdb".to_owned()),
        ..Module::default()
    };
    let frame = Frame {
        module_id: Some(0),
        rva: Some(0x1000),
        ..Frame::default()
    };
    writer.write(Module::TABLE, batch([module])).unwrap();
    writer.write(Frame::TABLE, batch([frame])).unwrap();
    writer.finish(manifest("00000000000000aa")).unwrap();
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/methods.pdb", &pdb());

    let naming = load(&target, &folder.path("symbols"));
    let (addresses, lines, is_found, reasons) = told(&naming.files[0]);
    assert_eq!((addresses, lines, is_found), (0, 0, false));
    assert_eq!((naming.found(), naming.is_useful()), (0, false));
    let [reason] = reasons.as_slice() else {
        panic!("{reasons:?}")
    };
    assert!(reason.contains("JittedMethodILToNativeMap (0x20000)"));
}

#[test]
fn without_maps_no_line_is_claimed() {
    let folder = Folder::new();
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/methods.pdb", &pdb());
    let (target, naming) = extracted(&folder, Has::NoMaps, Some(&folder.path("symbols")));
    let naming = naming.unwrap();
    assert_eq!((naming.files.len(), naming.is_useful()), (0, false));
    let dotnet = DotnetCode {
        addresses: 8,
        ..DotnetCode::default()
    };
    assert_eq!(naming.dotnet, dotnet);
    assert_eq!(frames(&target), ADDRESSES);
}

/// Only rows of frames with maps are added: everything else is as it was.
#[test]
fn maps_change_no_other_table() {
    let (with, without) = (Folder::new(), Folder::new());
    let (with_maps, _) = extracted(&with, Has::Maps, None);
    let (without_maps, _) = extracted(&without, Has::NoMaps, None);
    for table in ["module", "method", "stack", "exception"] {
        let read = |target: &Path| {
            let extract = Extract::open(target).unwrap();
            extract.table(table).unwrap().rows
        };
        assert_eq!(read(&with_maps), read(&without_maps), "{table}");
    }
    let has_offsets = |target: &Path| Extract::open(target).unwrap().table("il_offset").is_some();
    assert!(has_offsets(&with_maps) && !has_offsets(&without_maps));
}
