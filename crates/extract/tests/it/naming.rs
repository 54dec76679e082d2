//! Symbols give an extract names: the rows that change, and the rows that do not.

use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_etl::Guid;
use etwkit_extract::manifest::Detail;
use etwkit_extract::{
    ConvertError, Extract, NameFrom, Naming, Writer, WriterOptions, derive_again, find_names,
    name_again,
};
use etwkit_symbols::{Options, SearchPath};
use etwkit_trace::table::{CpuMethod, CpuSample, Frame, Mark, Method, Module, Row, Stack, Table};

use crate::identity::fnv;
use crate::rows::{batch, manifest, marks};
use crate::support::Folder;

/// `CreateProcess` with lines and an inlined function, followed by the public symbol `Exit`.
const SYM: &str = "\
MODULE windows x86_64 497B72F6390A44FC878E5A2D63B6CC4B1 app.pdb
FILE 0 c:\\src\\app.cpp
INLINE_ORIGIN 0 app::Check
FUNC 1000 100 0 app::CreateProcess
INLINE 0 12 0 0 1010 10
1000 10 11 0
1010 10 40 0
1020 e0 13 0
PUBLIC 1200 0 Exit
";
const GUID: &str = "497b72f6-390a-44fc-878e-5a2d63b6cc4b";

/// An extract with the module in two processes, a .NET method, an unknown module, and one sample
/// for each frame.
pub(crate) fn extract(folder: &Folder, detail: Detail) -> std::path::PathBuf {
    extract_of(folder, detail, |module| module)
}

fn extract_of(folder: &Folder, detail: Detail, change: fn(Module) -> Module) -> std::path::PathBuf {
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let module = |module_id, name: &str, guid: Option<&str>| Module {
        module_id,
        process_key: Some(module_id),
        name: name.to_owned(),
        path: format!("C:\\app\\{name}"),
        pdb_guid: guid.map(str::to_owned),
        pdb_age: guid.map(|_| 1),
        pdb_name: guid.map(|_| "d:\\build\\app.pdb".to_owned()),
        ..Module::default()
    };
    let modules = [
        module(0, "app.exe", Some(GUID)),
        module(1, "app.exe", Some(GUID)),
        module(2, "odd.dll", None),
    ];
    let modules = modules.map(|module| {
        if module.name == "app.exe" {
            change(module)
        } else {
            module
        }
    });
    writer.write(Module::TABLE, batch(modules)).unwrap();
    let managed = Method {
        method_id: 0,
        name: "Shop.Cart.Add".to_owned(),
        process_key: Some(0),
        address: Some(0x7000),
        ..Method::default()
    };
    writer.write(Method::TABLE, batch([managed])).unwrap();
    let places = [
        (Some(0), Some(0x1005), None),
        (Some(0), Some(0x1015), None),
        (Some(1), Some(0x1015), None),
        (Some(0), Some(0x1200), None),
        (Some(0), Some(0x10), None),
        (Some(0), Some(0x2000), Some(0)),
        (Some(2), Some(0x50), None),
        (None, None, None),
        (Some(0), Some(0x1020), None),
    ];
    let frames = places
        .iter()
        .zip(0..)
        .map(|((module_id, rva, method_id), frame_id)| Frame {
            frame_id,
            module_id: *module_id,
            rva: *rva,
            method_id: *method_id,
            ..Frame::default()
        });
    writer.write(Frame::TABLE, batch(frames)).unwrap();
    let stack = |id| Stack {
        stack_id: id,
        frame_id: id,
        ..Stack::default()
    };
    // The last frame called the first.
    let called = Stack {
        stack_id: 9,
        parent_id: Some(8),
        depth: 1,
        ..Stack::default()
    };
    writer
        .write(
            Stack::TABLE,
            batch((0..places.len() as i32).map(stack).chain([called])),
        )
        .unwrap();
    let sample = |id| CpuSample {
        ts_ns: i64::from(id),
        stack_id: id,
        process_key: Some(0),
        weight_ns: 1000,
        ..CpuSample::default()
    };
    writer
        .write(
            CpuSample::TABLE,
            batch((0..places.len() as i32).map(sample)),
        )
        .unwrap();
    writer.write(Mark::TABLE, marks(&["here"])).unwrap();
    fs::write(writer.symbols_dir().unwrap().join("other.pdb"), b"kept").unwrap();
    let mut manifest = manifest("00000000000000aa");
    manifest.detail = detail;
    writer.finish(manifest).unwrap();
    target
}

/// Loads symbols from a folder.
fn name(target: &Path, folder: &Path) -> Naming {
    let path = SearchPath::default().with_folder(folder);
    let from = NameFrom {
        path,
        options: Options::default(),
        on_symbols: &|_, _| {},
    };
    name_again(&Extract::open(target).unwrap(), &from)
        .unwrap()
        .0
}

/// Loads symbols that name the fixture.
pub(crate) fn load_symbols(folder: &Folder, target: &Path) {
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/app.sym", SYM.as_bytes());
    name(target, &folder.path("symbols"));
}

pub(crate) fn all(target: &Path, table: &Table) -> RecordBatch {
    let extract = Extract::open(target).unwrap();
    extract
        .table(table.name)
        .unwrap()
        .batches(None)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
}

/// Each frame as `method file:line [inlined]`.
fn frames(target: &Path) -> Vec<String> {
    let (frame, method) = (all(target, Frame::TABLE), all(target, Method::TABLE));
    let text = |batch: &RecordBatch, column: &str, row: usize| {
        let column = batch.column_by_name(column).unwrap().as_string::<i32>();
        arrow_array::Array::is_valid(column, row).then(|| column.value(row).to_owned())
    };
    let number = |column: &str, row: usize| {
        let column = frame
            .column_by_name(column)
            .unwrap()
            .as_primitive::<Int32Type>();
        arrow_array::Array::is_valid(column, row).then(|| column.value(row))
    };
    let line = |row| {
        let name = number("method_id", row).and_then(|id| text(&method, "name", id as usize));
        let place = text(&frame, "source_file", row).zip(number("line", row));
        let place = place
            .map(|(file, line)| format!(" {file}:{line}"))
            .unwrap_or_default();
        let inlined = text(&frame, "inlined", row)
            .map(|names| format!(" [{names}]"))
            .unwrap_or_default();
        format!("{}{place}{inlined}", name.unwrap_or_else(|| "-".to_owned()))
    };
    (0..frame.num_rows()).map(line).collect()
}

const NAMED: [&str; 9] = [
    "app::CreateProcess c:\\src\\app.cpp:11",
    "app::CreateProcess c:\\src\\app.cpp:12 [app::Check]",
    "app::CreateProcess c:\\src\\app.cpp:12 [app::Check]",
    "Exit",
    "-",
    "Shop.Cart.Add",
    "-",
    "-",
    // The line of the call, which ends before the address.
    "app::CreateProcess c:\\src\\app.cpp:12 [app::Check]",
];

#[test]
fn native_frames_get_names_and_the_rest_stays() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    let before = fs::read(target.join("cpu_sample.parquet")).unwrap();
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/app.sym", SYM.as_bytes());

    let naming = name(&target, &folder.path("symbols"));

    let [file] = naming.files.as_slice() else {
        panic!("{:?}", naming.files)
    };
    assert_eq!(
        (file.module.as_str(), file.addresses, file.named),
        ("app.exe", 5, 4)
    );
    assert!(file.source.as_ref().unwrap().ends_with("app.sym"));
    let unknown: Vec<_> = naming
        .unknown
        .iter()
        .map(|file| (file.module.as_str(), file.addresses))
        .collect();
    assert_eq!(unknown, [("odd.dll", 1)]);
    assert_eq!(frames(&target), NAMED);
    assert_eq!(fs::read(target.join("cpu_sample.parquet")).unwrap(), before);
    assert_eq!(fs::read(target.join("symbols/other.pdb")).unwrap(), b"kept");
    let methods = all(&target, CpuMethod::TABLE);
    let names: Vec<_> = methods
        .column_by_name("method")
        .unwrap()
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(
        names,
        [
            "app::CreateProcess",
            "Exit",
            "+0x10",
            "Shop.Cart.Add",
            "+0x50",
            "+0x0"
        ]
    );
    let methods = all(&target, Method::TABLE);
    assert_eq!(methods.num_rows(), 3);
    // Hashes, which are equal in other traces, are computed from the new names.
    let names = methods.column_by_name("name").unwrap().as_string::<i32>();
    let hashes = methods
        .column_by_name("method_hash")
        .unwrap()
        .as_primitive::<Int64Type>();
    for (name, hash) in names.iter().flatten().zip(hashes) {
        let module = if name == "Shop.Cart.Add" {
            ""
        } else {
            "app.exe"
        };
        assert_eq!(
            hash,
            Some(fnv(format!("{module}!{name}").as_bytes())),
            "{name}"
        );
    }
}

#[test]
fn names_stay_where_symbols_are_gone_and_change_where_there_are_others() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    let symbols = folder.path("symbols");
    fs::create_dir(&symbols).unwrap();
    fs::write(symbols.join("app.sym"), SYM).unwrap();
    name(&target, &symbols);
    let named = fs::read(target.join("frame.parquet")).unwrap();

    fs::write(symbols.join("app.sym"), SYM.replace(" 497B", " 597B")).unwrap();
    let naming = name(&target, &symbols);
    assert_eq!(naming.found(), 0);
    let reasons: Vec<&str> = naming.files[0]
        .tried
        .iter()
        .map(|tried| tried.reason.as_str())
        .collect();
    assert!(
        reasons
            .iter()
            .any(|reason| reason.contains("another build")),
        "{reasons:?}"
    );
    assert_eq!(fs::read(target.join("frame.parquet")).unwrap(), named);

    fs::write(symbols.join("app.sym"), SYM.replace("Exit", "Leave")).unwrap();
    name(&target, &symbols);
    let expected: Vec<String> = NAMED
        .iter()
        .map(|name| name.replace("Exit", "Leave"))
        .collect();
    assert_eq!(frames(&target), expected);
    assert_eq!(all(&target, Method::TABLE).num_rows(), 3);
    derive_again(&Extract::open(&target).unwrap()).unwrap();
}

/// An untrusted extract may contain a folder `symbols`: links out of it are not followed, and the
/// report shows this.
#[test]
fn pointers_and_links_in_an_extract_are_not_followed() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    fs::create_dir_all(folder.path("outside")).unwrap();
    let outside = folder.write("outside/app.sym", SYM.as_bytes());
    let reasons = || {
        let from = NameFrom {
            path: SearchPath::default(),
            options: Options::default(),
            on_symbols: &|_, _| {},
        };
        let naming = name_again(&Extract::open(&target).unwrap(), &from)
            .unwrap()
            .0;
        assert_eq!(naming.found(), 0);
        naming.files[0]
            .tried
            .iter()
            .map(|tried| tried.reason.clone())
            .collect::<Vec<_>>()
            .join("; ")
    };
    let identity = name(&target, &folder.path("")).files[0]
        .identity
        .clone()
        .unwrap();
    let place = target
        .join("symbols")
        .join(identity.name())
        .join(identity.key());
    fs::create_dir_all(&place).unwrap();
    fs::write(
        place.join("file.ptr"),
        format!("PATH:{}", outside.display()),
    )
    .unwrap();
    assert!(
        reasons().contains("a pointer to another place; those in a folder that came with a trace")
    );
    fs::write(place.join("file.ptr"), "PATH:\\\\host\\share\\app.sym").unwrap();
    assert!(reasons().contains("a pointer to another place"));
    #[cfg(unix)]
    {
        fs::remove_dir_all(target.join("symbols")).unwrap();
        std::os::unix::fs::symlink(folder.path("outside"), target.join("symbols")).unwrap();
        assert!(reasons().contains("a link; "));
        // The targets of such links are not copied when the extract is rewritten.
        name(&target, &folder.path("outside"));
        assert!(!target.join("symbols").join("app.sym").exists());
    }
}

#[test]
fn a_search_that_is_given_up_changes_nothing() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/app.sym", SYM.as_bytes());
    let before = frames(&target);
    let options = Options::default();
    let cancel = options.cancel.clone();
    // Given up while the first file is looked for, which is found nevertheless.
    let from = NameFrom {
        path: SearchPath::default().with_folder(folder.path("symbols")),
        options,
        on_symbols: &|_, _| cancel.ask(),
    };
    let found = find_names(&Extract::open(&target).unwrap(), &from);
    assert!(matches!(found, Err(ConvertError::Interrupted)), "{found:?}");
    assert_eq!(frames(&target), before);
}

#[test]
fn names_are_written_after_they_were_found() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Full);
    fs::create_dir(folder.path("symbols")).unwrap();
    folder.write("symbols/app.sym", SYM.as_bytes());
    let before = frames(&target);
    let from = NameFrom {
        path: SearchPath::default().with_folder(folder.path("symbols")),
        options: Options::default(),
        on_symbols: &|_, _| {},
    };
    let opened = Extract::open(&target).unwrap();
    let found = find_names(&opened, &from).unwrap();
    assert!(found.has_news());
    assert_eq!(frames(&target), before);
    found.write(&opened).unwrap();
    assert_eq!(frames(&target), NAMED);
}

#[test]
fn a_summary_keeps_the_names_it_has() {
    let folder = Folder::new();
    let target = extract(&folder, Detail::Summary);
    let path = SearchPath::default().with_folder(folder.path(""));
    let from = NameFrom {
        path,
        options: Options::default(),
        on_symbols: &|_, _| {},
    };
    let refused = name_again(&Extract::open(&target).unwrap(), &from).unwrap_err();
    assert!(refused.to_string().contains("is a summary"), "{refused}");
    assert!(refused.hint().unwrap().contains("--symbols"));
}

/// An image that names `app.pdb` of the identity above: header, one section, a debug directory with
/// one entry.
fn image(stamp: u32, size: u32) -> Vec<u8> {
    let mut bytes = vec![0; 0x400];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, b"MZ");
    put(0x3C, &[0x80]);
    put(0x80, b"PE\0\0\x64\x86\x01\0");
    put(0x88, &stamp.to_le_bytes());
    put(0x94, &240_u16.to_le_bytes());
    put(0x98, &0x20B_u16.to_le_bytes());
    for (at, number) in [(56, size), (108, 16), (160, 0x1000), (164, 28)] {
        put(0x98 + at, &number.to_le_bytes());
    }
    for (at, number) in [(8, 0x100_u32), (12, 0x1000), (16, 0x200), (20, 0x200)] {
        put(0x98 + 240 + at, &number.to_le_bytes());
    }
    let record = [
        b"RSDS",
        &Guid::literal(GUID).to_bytes()[..],
        &1_u32.to_le_bytes(),
        b"d:\\build\\app.pdb\0",
    ]
    .concat();
    for (at, number) in [
        (12, 2),
        (16, record.len() as u32),
        (20, 0x1100),
        (24, 0x300),
    ] {
        put(0x200 + at, &number.to_le_bytes());
    }
    put(0x300, &record);
    bytes
}

const STAMP: i32 = 0x0D9F_641E;
const SIZE: i64 = 0x9000;

/// A trace that was never merged does not name symbol files: the image is found by time stamp and
/// size in the same places.
#[test]
fn an_image_names_the_symbol_file_of_a_trace_that_was_never_merged() {
    let folder = Folder::new();
    let target = extract_of(&folder, Detail::Full, |module| {
        let (time_date_stamp, size) = (STAMP, SIZE);
        let (pdb_guid, pdb_age, pdb_name) = (None, None, None);
        Module {
            time_date_stamp,
            size,
            pdb_guid,
            pdb_age,
            pdb_name,
            ..module
        }
    });
    let symbols = folder.path("symbols");
    fs::create_dir_all(&symbols).unwrap();
    fs::write(symbols.join("app.sym"), SYM).unwrap();
    let texts = |column: &str| {
        let modules = all(&target, Module::TABLE);
        let values = modules
            .column_by_name(column)
            .unwrap()
            .as_string::<i32>()
            .clone();
        values
            .iter()
            .map(|value| value.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let functions = || {
        let modules = all(&target, Module::TABLE);
        modules
            .column_by_name("function_count")
            .unwrap()
            .as_primitive::<Int32Type>()
            .iter()
            .collect::<Vec<_>>()
    };

    // Without the image, with the image of another build, and with the image in a store.
    let naming = name(&target, &symbols);
    let of_app = |naming: &Naming| {
        naming
            .unknown
            .iter()
            .find(|file| file.module == "app.exe")
            .map(|file| {
                let reasons: String = file
                    .tried
                    .iter()
                    .map(|tried| tried.reason.as_str())
                    .collect();
                (file.addresses, file.image.as_ref().unwrap().key(), reasons)
            })
    };
    let (addresses, key, reasons) = of_app(&naming).unwrap();
    assert_eq!((addresses, key.as_str()), (5, "0D9F641E9000"));
    assert!(reasons.starts_with("does not have it"), "{reasons}");
    assert_eq!((naming.files.len(), texts("pdb_name")), (0, vec![None; 3]));
    fs::write(symbols.join("app.exe"), image(1, SIZE as u32)).unwrap();
    let (_, _, reasons) = of_app(&name(&target, &symbols)).unwrap();
    assert!(
        reasons.contains("another build: it is 000000019000"),
        "{reasons}"
    );
    assert_eq!(functions(), [None; 3]);

    fs::remove_file(symbols.join("app.exe")).unwrap();
    let store = symbols.join("app.exe/0D9F641E9000");
    fs::create_dir_all(&store).unwrap();
    fs::write(
        store.join("app.exe"),
        image(STAMP.cast_unsigned(), SIZE as u32),
    )
    .unwrap();
    let naming = name(&target, &symbols);
    let [file] = naming.files.as_slice() else {
        panic!("{naming:?}")
    };
    assert_eq!((file.addresses, file.named), (5, 4));
    assert!(file.image_source.as_ref().unwrap().contains("0D9F641E9000"));
    assert_eq!(frames(&target), NAMED);
    // The extract now contains the identity: the image is not needed again.
    let of_both = |text: &str| vec![Some(text.to_owned()), Some(text.to_owned()), None];
    assert_eq!(texts("pdb_guid"), of_both(GUID));
    assert_eq!(texts("pdb_name"), of_both("d:\\build\\app.pdb"));
    // `CreateProcess` and the public symbol `Exit`.
    assert_eq!(functions(), [Some(2), Some(2), None]);
    fs::remove_dir_all(symbols.join("app.exe")).unwrap();
    let naming = name(&target, &symbols);
    assert!(naming.files[0].image.is_none() && naming.files[0].named == 4);
    assert_eq!(functions(), [Some(2), Some(2), None]);
}
