//! Names that strangers chose never reach a terminal as they are: all commands, over traces, archives and
//! extracts with names that would clear the screen, forge lines or reorder text.

use std::path::Path;

use etwkit_etl::Guid;
use etwkit_etl::wire::extended::kind;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use serde_json::json;
use tempfile::TempDir;

use crate::colors::plain;
use crate::support::{Answer, Exit, run};

/// What each command below is run over: characters of every forbidden kind.
const HOSTILE: &str =
    "\u{1B}[2J\u{1B}[35m\u{202E}\u{2066}\u{9B}31m\r\n\u{7}\u{7F}\u{2028}\u{200F}error: x";

/// Runs a command. Neither stream may hold a control character but the ends of lines, or one that changes the
/// direction of text.
#[track_caller]
fn clean(args: &[&str]) -> String {
    let answer = run(args);
    check(args, &answer);
    // Colours are ours alone: what is left without them is as clean, and no name chooses one.
    let mut colored = run(&[args, &["--color", "always"]].concat());
    (colored.out, colored.err) = (plain(&colored.out), plain(&colored.err));
    check(args, &colored);
    assert!(
        answer.exit != Exit::Error || answer.err.contains("hint: "),
        "{args:?}: {}",
        answer.err
    );
    answer.out + &answer.err
}

#[track_caller]
fn check(args: &[&str], answer: &Answer) {
    for (stream, text) in [("out", &answer.out), ("err", &answer.err)] {
        let bad = text.chars().find(|c| {
            c.is_control() && *c != '\n'
                || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' |
                '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(bad, None, "{args:?} prints it to {stream}: {text:?}");
        // A name that breaks a line could forge an error.
        assert!(
            !text.lines().any(|line| line == "error: x"),
            "{args:?} forges a line: {text:?}"
        );
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let mut found = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    found
}

/// A trace of the simulated machine, in which processes, modules, files and methods got other names.
fn machine(folder: &Path) -> String {
    let path = folder.join("sl\u{1B}o\u{202E}w.etl");
    let path = path.to_str().unwrap();
    assert_eq!(
        run(&["synth", "write", "office", "--out", path]).exit,
        Exit::Answered
    );
    let mut bytes = std::fs::read(path).unwrap();
    // Endings and words of names in both encodings; what is left keeps them recognizable.
    for (word, hostile) in [
        ("exe", "\u{1B}\u{202E}\u{9B}"),
        ("dll", "\n\u{2066}\t"),
        ("sys", "\u{2028}\r\u{7F}"),
    ] {
        assert!(
            replace(&mut bytes, &utf16(word), &utf16(hostile)) > 0,
            "{word}"
        );
    }
    assert!(replace(&mut bytes, b"exe", "\u{202E}".as_bytes()) > 0);
    for (word, hostile) in [
        ("doc", "\u{7}\n\u{85}"),
        ("Service", "Se\n\u{1B}[2J"),
        ("Main", "\u{1B}[2J"),
    ] {
        replace(&mut bytes, &utf16(word), &utf16(hostile));
    }
    // Damage is reported as well.
    bytes.truncate(bytes.len() - 1000);
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}

/// A trace with one event that describes itself: hostile names of provider, event and field, and a hostile
/// value.
fn described(folder: &Path) -> String {
    described_as(folder, HOSTILE)
}

/// A trace with one event that describes itself, of a provider of that name.
fn described_as(folder: &Path, provider_name: &str) -> String {
    let sized = |parts: &[&[u8]]| {
        let content = parts.concat();
        [&(content.len() as u16 + 2).to_le_bytes()[..], &content].concat()
    };
    let name = [HOSTILE.as_bytes(), b"\0"].concat();
    // No tags, the name, a field of type 1: text in UTF-16.
    let metadata = sized(&[b"\0", &name, &name, b"\x01"]);
    let traits = sized(&[provider_name.as_bytes(), b"\0"]);
    let payload = [utf16(HOSTILE), vec![0, 0]].concat();
    let items = [
        (kind::EVENT_SCHEMA_TL, &metadata[..]),
        (kind::PROVIDER_TRAITS, &traits[..]),
    ];
    let mut options = SessionOptions::default();
    options.header.session_name = HOSTILE.to_owned();
    options.header.log_file_name = HOSTILE.to_owned();
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    let provider = Guid::from_bytes([7; 16]);
    let event = ManifestEvent {
        timestamp: 5,
        provider,
        extended: &items,
        payload: &payload,
        ..ManifestEvent::default()
    };
    writer.write(0, event).unwrap();
    let path = folder.join("described.etl");
    std::fs::write(&path, writer.finish(1000).unwrap().into_inner()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn commands_that_read_a_trace_print_no_controls() {
    let folder = TempDir::new().unwrap();
    let (machine, described) = (machine(folder.path()), described(folder.path()));
    for trace in [&machine, &described] {
        for args in [
            &["info"][..],
            &["info", "--json"],
            &["events", "--limit", "3000"],
            &["events", "--limit", "3000", "--json"],
            &["events", "--limit", "3000", "--format", "csv"],
            &["events", "--count"],
            &["events", "--count", "--json"],
            &["extract"],
            &["extract", "--json", "--detail", "summary"],
            &["extract", "--no-overwrite"],
        ] {
            clean(&[args, &[trace]].concat());
        }
    }
    assert!(clean(&["info", &machine]).contains("\\u{1b}\\u{202e}"));
    let shown = clean(&["events", &described]);
    assert!(
        shown.matches("\\u{1b}[2J\\u{1b}[35m\\u{202e}").count() >= 4,
        "{shown}"
    );
    let several = clean(&["info", &machine, &described]);
    assert!(several.contains("error: "), "{several}");
}

/// The tables that have rows, and those about the extract itself: the others have no text to print.
fn with_rows(extract: &str) -> Vec<&'static str> {
    let extract = etwkit_extract::Extract::open(Path::new(extract)).unwrap();
    let all = etwkit_trace::topics::TABLES
        .iter()
        .chain(etwkit_trace::table::DERIVED)
        .map(|table| table.name);
    let is_about = |name: &str| {
        etwkit_trace::table::ABOUT
            .iter()
            .any(|about| about.name == name)
    };
    let filled: Vec<&str> = all
        .filter(|name| extract.table(name).is_some() || is_about(name))
        .collect();
    assert!(filled.len() > 5, "{filled:?}");
    filled
}

#[test]
fn commands_that_read_an_extract_print_no_controls() {
    let folder = TempDir::new().unwrap();
    let traces = [machine(folder.path()), described(folder.path())];
    for trace in &traces {
        clean(&["extract", trace]);
        let extract = trace.replace(".etl", ".etwx");
        for args in [
            &["dump", "overview"][..],
            &["dump", "process"],
            &["dump", "process", "--sort-by", "tree"],
            &["dump", "cpu"],
            &["dump", "cpu", "--methods", "*", "--top-methods", "20"],
            &["dump", "disk"],
            &["dump", "disk", "--dir-level", "100"],
            &["dump", "file"],
            &["dump", "file", "--dir-level", "100"],
            &["dump", "stats"],
            &["dump", "version"],
            &["dump", "wait", "--by", "method"],
            &["dump", "wait", "--by", "wait"],
            &["dump", "wait", "--chain"],
        ] {
            clean(&[args, &[&extract]].concat());
            clean(&[args, &["--json", &extract]].concat());
            clean(&[args, &["--show-sql", &extract]].concat());
        }
        for args in [
            &["critical-path"][..],
            &["critical-path", "--tree"],
            &["critical-path", "--process", "*", "--json"],
        ] {
            clean(&[args, &[&extract]].concat());
        }
        for table in with_rows(&extract) {
            let sql = format!("SELECT * FROM {table} LIMIT 500");
            for format in ["table", "json"] {
                clean(&["sql", &extract, &sql, "--format", format]);
            }
            // A pipe gets CSV as it is, a terminal does not.
            let args = ["etwkit", "sql", &extract, &sql, "--format", "csv"];
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let terminal = etwkit::Terminal {
                width: Some(100),
                ..etwkit::Terminal::default()
            };
            let exit = etwkit::run_on_screen(args, &mut out, &mut err, terminal);
            let [out, err] = [out, err].map(|text| String::from_utf8(text).unwrap());
            check(&args, &Answer { out, err, exit });
        }
        // Errors that quote what the question names.
        clean(&[
            "sql",
            &extract,
            &format!("SELECT \"{HOSTILE}\" FROM process"),
        ]);
        clean(&["sql", &extract, &format!("SELECT * FROM \"{HOSTILE}\"")]);
        clean(&[
            "sql",
            &extract,
            &format!("SELECT name AS \"{HOSTILE}\" FROM process"),
        ]);
    }
    let both = traces
        .each_ref()
        .map(|trace| trace.replace(".etl", ".etwx"));
    clean(&["dump", "cpu", &both[0], &both[1]]);
    clean(&["sql", &both[0], &both[1], "SELECT * FROM trace"]);
}

/// A provider may be called like a path. No file is named after it, whatever is made of its events.
#[test]
fn names_of_providers_are_no_paths() {
    let folder = TempDir::new().unwrap();
    let inside = folder.path().join("a/b");
    std::fs::create_dir_all(&inside).unwrap();
    let absolute = folder.path().join("absolute").to_str().unwrap().to_owned();
    for name in [
        "../../up",
        "..\\..\\back",
        &absolute,
        "\\\\host\\share\\unc",
        "C:\\drive",
        "CON",
    ] {
        let trace = described_as(&inside, name);
        let extract = trace.replace(".etl", ".etwx");
        for args in [
            &["info"][..],
            &["events"],
            &["extract"],
            &["dump", "tracelog"],
            &[
                "export",
                "--out",
                inside.join("profile.json").to_str().unwrap(),
                "--force",
            ],
        ] {
            let of = if ["dump", "export"].contains(&args[0]) {
                &extract
            } else {
                &trace
            };
            clean(&[args, &[of]].concat());
        }
        let events = run(&[
            "sql",
            &extract,
            "SELECT DISTINCT provider FROM generic_event",
            "--format",
            "json",
        ]);
        assert!(
            events.out.contains(&serde_json::to_string(name).unwrap()),
            "{}{}",
            events.out,
            events.err
        );
        let names = |path: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(path).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.retain(|name| name != "profile.json");
            names.sort();
            names
        };
        assert_eq!(
            (names(folder.path()), names(&folder.path().join("a"))),
            (vec!["a".into()], vec!["b".into()])
        );
        assert_eq!(
            names(&inside),
            ["described.etl", "described.etwx"],
            "{name}"
        );
    }
}

/// A file of rules is read as far as a parser takes it.
#[cfg(unix)]
#[test]
fn a_file_of_regions_without_end_is_refused() {
    let folder = TempDir::new().unwrap();
    let trace = described(folder.path());
    assert_eq!(run(&["extract", &trace]).exit, Exit::Answered);
    let answer = run(&[
        "dump",
        "region",
        "--regions",
        "/dev/zero",
        &trace.replace(".etl", ".etwx"),
    ]);
    assert!(
        answer.exit == Exit::Error && answer.err.contains("hint: "),
        "{}",
        answer.err
    );
}

#[test]
fn errors_that_quote_names_out_of_files_print_no_controls() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // What stands behind a colon would be taken for the name without folders.
    let name = HOSTILE.replace(':', "");
    let missing = folder.path().join(&name);
    clean(&["info", missing.to_str().unwrap()]);
    let holds = clean(&[
        "info",
        &file("no_trace.zip", &zip(&format!("{name}.txt"), b"x")),
    ]);
    assert!(holds.contains("\\u{1b}[2J"), "{holds}");
    let broken = clean(&[
        "info",
        &file("broken.zip", &zip(&format!("{name}.etl"), b"no trace")),
    ]);
    assert!(broken.contains("\\u{1b}[2J"), "{broken}");
    for (key, value) in [
        ("format_version", json!(HOSTILE)),
        ("tables", json!({HOSTILE: {"rows": 1, "bytes": 1}})),
        ("detail", json!(HOSTILE)),
        (HOSTILE, json!(HOSTILE)),
    ] {
        let extract = folder.path().join("x.etwx");
        let trace = described(folder.path());
        assert_eq!(
            run(&["extract", &trace, "--out", extract.to_str().unwrap()]).exit,
            Exit::Answered
        );
        let path = extract.join("manifest.json");
        let mut manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        manifest[key] = value;
        std::fs::write(&path, manifest.to_string()).unwrap();
        clean(&["dump", "overview", extract.to_str().unwrap()]);
        clean(&["sql", extract.to_str().unwrap(), "SELECT * FROM process"]);
        std::fs::remove_dir_all(&extract).unwrap();
    }
}

/// A zip archive with one stored member, whose checksum is wrong.
fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let (name_len, len) = (
        (name.len() as u16).to_le_bytes(),
        (content.len() as u32).to_le_bytes(),
    );
    // Versions, flags (names are UTF-8), method, time and date, checksum, sizes, lengths of the name and of
    // what follows it.
    let common = [
        &[20, 0, 0, 8, 0, 0, 0, 0, 0, 0][..],
        &[1; 4],
        &len,
        &len,
        &name_len,
        &[0, 0],
    ]
    .concat();
    let mut zip = [b"PK\x03\x04", &common[..], name.as_bytes(), content].concat();
    let directory = zip.len() as u32;
    zip.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 14], name.as_bytes()].concat());
    let size = (zip.len() as u32 - directory).to_le_bytes();
    zip.extend(
        [
            &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
            &size,
            &directory.to_le_bytes(),
            &[0, 0],
        ]
        .concat(),
    );
    zip
}
