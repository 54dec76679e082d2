//! Symbol files that PerfView and WPR pack next to the trace.

use std::fs;
use std::ops::ControlFlow;
use std::time::Instant;

use etwkit_etl::Order;
use etwkit_extract::{ConvertError, ConvertOptions, Input, KeptSymbol, Limits, convert};
use etwkit_testkit::files::{zipped, zipped_as};
use zip::CompressionMethod;

use crate::rows::names;
use crate::support::{Folder, labels, made, open_one, summary};

const ID: &str = "0123456789ABCDEF0123456789ABCDEF1";

fn keep(input: &Input, folder: &Folder, limits: Limits) -> Vec<KeptSymbol> {
    let go_on = || ControlFlow::Continue(());
    input
        .keep_symbols(&folder.path("symbols"), limits, go_on)
        .unwrap()
        .continue_value()
        .unwrap()
}

#[test]
fn a_trace_with_symbol_files_opens_and_they_are_unpacked_on_request() {
    let folder = Folder::new();
    let store = format!("symbols/System.ni.pdb/{ID}/System.ni.pdb");
    let wpr = format!("run.etl.NGENPDB/App.ni.pdb/{ID}/App.ni.pdb");
    let members: [(&str, &[u8]); 7] = [
        ("symbols/", b""),
        (&store, b"Microsoft C/C++ MSF 7.00"),
        ("PerfViewData.etl", &made("power-5.etl")),
        (&wpr, b"second"),
        ("app.pdb/app.PDB", b"third"),
        ("LogFile.txt", b"collected"),
        ("../../evil.pdb", b"fourth"),
    ];
    let input = open_one(&folder.write("run.etl.zip", &zipped(&members))).unwrap();
    assert_eq!(labels(&input), ["run.etl.zip: PerfViewData.etl"]);
    assert_eq!(summary(&input, Order::Time).events, 154);
    let listed: Vec<_> = input.symbol_files().collect();
    assert_eq!(
        listed,
        [
            "../../evil.pdb",
            "app.pdb/app.PDB",
            wpr.as_str(),
            store.as_str()
        ]
    );

    fs::create_dir(folder.path("symbols")).unwrap();
    let kept = keep(&input, &folder, Limits::default());
    let wanted = [
        ("evil.pdb".to_owned(), "fourth"),
        ("app.PDB".to_owned(), "third"),
        (format!("App.ni.pdb/{ID}/App.ni.pdb"), "second"),
        (
            format!("System.ni.pdb/{ID}/System.ni.pdb"),
            "Microsoft C/C++ MSF 7.00",
        ),
    ];
    for (kept, (path, content)) in kept.iter().zip(&wanted) {
        let path = folder.path("symbols").join(path);
        assert_eq!((kept.path.as_ref(), &kept.left_out), (Some(&path), &None));
        assert_eq!(
            (fs::read_to_string(path).unwrap().as_str(), kept.size),
            (*content, content.len() as u64)
        );
    }
    assert_eq!(
        names(&folder.path("symbols")),
        ["App.ni.pdb", "System.ni.pdb", "app.PDB", "evil.pdb"]
    );
    assert_eq!(names(&folder.path("")), ["run.etl.zip", "symbols"]);
}

/// PerfView on Windows packs the symbol files of native images with backslashes in their names.
#[test]
fn names_with_backslashes_are_those_of_a_store() {
    let folder = Folder::new();
    let member = format!("symbols\\mscorlib.ni.pdb\\{ID}\\mscorlib.ni.pdb");
    let members: [(&str, &[u8]); 2] = [
        ("PerfViewData.etl", &made("power-5.etl")),
        (&member, b"native"),
    ];
    let input = open_one(&folder.write("run.etl.zip", &zipped(&members))).unwrap();
    assert_eq!(labels(&input), ["run.etl.zip: PerfViewData.etl"]);
    fs::create_dir(folder.path("symbols")).unwrap();
    let kept = keep(&input, &folder, Limits::default());
    let path = folder
        .path("symbols")
        .join(format!("mscorlib.ni.pdb/{ID}/mscorlib.ni.pdb"));
    assert_eq!(
        (kept[0].path.as_ref(), &kept[0].left_out),
        (Some(&path), &None)
    );
    assert_eq!(fs::read(path).unwrap(), b"native");
}

/// Neither the names in an archive nor the names of the stores in it lead out of the folder, or to
/// another computer.
#[test]
fn names_in_archives_lead_nowhere() {
    let folder = Folder::new();
    let inside = [
        format!("symbols/../../../up.pdb/{ID}/up.pdb"),
        format!("symbols\\..\\..\\back.pdb\\{ID}\\back.pdb"),
        "\\\\host\\share\\unc.pdb".to_owned(),
        "//host/share/slashes.pdb".to_owned(),
        "\\\\?\\C:\\verbatim.pdb".to_owned(),
        "C:\\drive.pdb".to_owned(),
        format!("{0}/../root.pdb", folder.path("").display()),
        "a.pdb/../.pdb".to_owned(),
        "stream.pdb:hidden.pdb".to_owned(),
    ];
    let trace = made("power-5.etl");
    let mut members: Vec<(&str, &[u8])> = vec![("..\\..\\D1_evil_sc.user_aux.etl", &trace)];
    members.extend(inside.iter().map(|name| (name.as_str(), &b"pdb"[..])));
    // The place of Visual Studio's list of the contents of a session.
    members.push((
        "metadata.xml",
        br#"<Package><Content><Resource Id="..\..\x" FileName="\\host\share\x.etl"/></Content></Package>"#,
    ));
    let input = open_one(&folder.write("run.diagsession", &zipped(&members))).unwrap();
    assert_eq!(labels(&input), ["run.diagsession: D1_evil_sc.user_aux.etl"]);
    fs::create_dir(folder.path("symbols")).unwrap();
    let kept = keep(&input, &folder, Limits::default());
    for kept in &kept {
        let inside = kept
            .path
            .as_ref()
            .is_none_or(|path| path.starts_with(folder.path("symbols")));
        assert!(
            inside
                && !kept
                    .path
                    .as_ref()
                    .is_some_and(|path| path.to_string_lossy().contains("..")),
            "{kept:?}"
        );
    }
    assert_eq!(
        names_below(&folder.path("symbols")).len(),
        kept.iter().filter(|it| it.path.is_some()).count()
    );
    assert_eq!(names(&folder.path("")), ["run.diagsession", "symbols"]);
}

/// All files below a folder.
fn names_below(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(names_below(&entry.path()));
        } else {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found
}

#[test]
fn symbol_files_of_an_archive_in_an_archive_are_found() {
    let folder = Folder::new();
    let inner = zipped(&[("a.etl", &made("power-5.etl")), ("symbols/in.pdb", b"in")]);
    let outer = zipped(&[("a.etl.zip", &inner), ("symbols/out.pdb", b"out")]);
    let input = open_one(&folder.write("a.zip", &outer)).unwrap();
    fs::create_dir(folder.path("symbols")).unwrap();
    assert_eq!(keep(&input, &folder, Limits::default()).len(), 2);
    assert_eq!(fs::read(folder.path("symbols/in.pdb")).unwrap(), b"in");
    assert_eq!(fs::read(folder.path("symbols/out.pdb")).unwrap(), b"out");
}

#[test]
fn what_is_unsafe_too_large_or_damaged_is_left_out_with_a_reason() {
    let folder = Folder::new();
    let trace = made("power-5.etl");
    let text: Vec<u8> = (0..2000u32).flat_map(|n| (n * n).to_le_bytes()).collect();
    let mut bytes = zipped(&[
        ("a.etl", &trace),
        ("1/NUL.pdb", b"device"),
        ("2/large.pdb", &vec![7; 100_000]),
        ("3/same.pdb", b"first"),
        ("4/SAME.pdb", b"second"),
        ("5/damaged.pdb", &text),
    ]);
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[central - 50] ^= 0xFF;
    let input = open_one(&folder.write("a.zip", &bytes)).unwrap();
    fs::create_dir(folder.path("symbols")).unwrap();
    let limits = Limits {
        total_bytes: 50_000,
        ..Limits::default()
    };
    let kept = keep(&input, &folder, limits);
    let reasons: Vec<_> = kept
        .iter()
        .map(|kept| kept.left_out.as_deref().unwrap_or("kept"))
        .collect();
    assert_eq!(reasons[0], "its name is not a valid file name");
    assert!(
        reasons[1].contains("unpacking large.pdb needs 100000 bytes, and 50000 of the limit"),
        "{reasons:?}"
    );
    assert_eq!(reasons[2..4], ["kept", "another one has the same name"]);
    assert!(
        reasons[4].contains("damaged archive a.zip, member damaged.pdb, after "),
        "{reasons:?}"
    );
    assert_eq!(names(&folder.path("symbols")), ["same.pdb"]);
    assert_eq!(fs::read(folder.path("symbols/same.pdb")).unwrap(), b"first");
}

#[test]
fn a_folder_that_is_missing_is_an_error() {
    let folder = Folder::new();
    let bytes = zipped(&[("a.etl", &made("power-5.etl")), ("a.pdb", b"x")]);
    let input = open_one(&folder.write("a.zip", &bytes)).unwrap();
    folder.write("symbols", b"a file where a folder should be");
    let go_on = || ControlFlow::Continue(());
    let error = input
        .keep_symbols(&folder.path("symbols"), Limits::default(), go_on)
        .unwrap_err();
    assert!(
        error.to_string().contains("cannot write the symbol file "),
        "{error}"
    );
}

/// Unpacking takes the same time per file, independent of their number, and omitted files are
/// reported.
#[test]
fn many_symbol_files_take_linear_time_and_can_be_interrupted() {
    let names: Vec<String> = (0..25_000).map(|number| format!("{number}.pdb")).collect();
    let trace = made("power-5.etl");
    let folder = Folder::new();
    let input_of = |count: usize| {
        let few = names
            .iter()
            .take(count)
            .map(|name| (name.as_str(), &b"x"[..]));
        let members: Vec<(&str, &[u8])> = std::iter::once(("a.etl", trace.as_slice()))
            .chain(few)
            .collect();
        open_one(&folder.write(
            &format!("{count}.zip"),
            &zipped_as(CompressionMethod::Stored, &members),
        ))
        .unwrap()
    };
    let time_of = |count: usize| {
        let (input, target) = (input_of(count), folder.path(&format!("{count}")));
        fs::create_dir(&target).unwrap();
        let start = Instant::now();
        let go_on = || ControlFlow::Continue(());
        let kept = input
            .keep_symbols(&target, Limits::default(), go_on)
            .unwrap()
            .continue_value()
            .unwrap();
        (start.elapsed(), kept)
    };
    let (short, few) = time_of(2500);
    assert!(few.iter().all(|symbol| symbol.path.is_some()));
    let (long, many) = time_of(25_000);
    let kept = many.iter().filter(|symbol| symbol.path.is_some()).count();
    assert_eq!((kept, many.len()), (20_000, 25_000));
    let reasons: Vec<_> = many
        .iter()
        .filter_map(|symbol| symbol.left_out.as_deref())
        .collect();
    assert_eq!(
        (reasons.len(), reasons[0]),
        (5000, "there are more than 20000 symbol files")
    );
    // Eight times the files: if each read the directory again, it would take many times as long.
    assert!(
        long < short * 40 + std::time::Duration::from_millis(500),
        "{long:?} after {short:?}"
    );

    let (input, mut asked) = (input_of(100), 0);
    let target = folder.path("interrupted");
    fs::create_dir(&target).unwrap();
    let stop = || {
        asked += 1;
        if asked > 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    assert!(
        input
            .keep_symbols(&target, Limits::default(), stop)
            .unwrap()
            .is_break()
    );
    assert_eq!(names_in(&target), 3);

    // A stop request during unpacking ends the extraction, and no files remain.
    let mut asked_at_end = 0;
    let mut progress = |progress: etwkit_trace::import::Progress| {
        asked_at_end += u32::from(progress.done >= 1.0);
        if asked_at_end > 50 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let target = folder.path("x.etwx");
    let error = convert(&input, &target, ConvertOptions::default(), &mut progress).unwrap_err();
    assert!(matches!(error, ConvertError::Interrupted), "{error}");
    assert!(!target.exists());
}

fn names_in(folder: &std::path::Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
