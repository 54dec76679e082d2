//! Traces that were cut: every command says what is missing, and it is what was cut off.

use std::path::{Path, PathBuf};

use etwkit_base::digits::noun;
use etwkit_etl::bytes::u32_at;
use etwkit_etl::wire::buffer::HEADER_LEN;
use etwkit_etl::{Order, Session};
use etwkit_testkit::{trace_files, traces};
use serde_json::Value;

use crate::support::{Answer, Exit, made, run};

/// Places at which a trace is cut.
const CUTS: usize = 20;

/// Dumps that ask files for nothing but their names, or need more than a trace.
const WITHOUT_ROWS: [&str; 3] = ["test-run", "region", "time"];

/// What a whole trace has, and where.
struct Whole {
    bytes: Vec<u8>,
    /// Where buffers begin, by their sizes alone.
    buffers: Vec<usize>,
    /// Time of each event, and behind which bytes of the file it is surely there, or may be there.
    events: Vec<(f64, usize, usize)>,
}

impl Whole {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let (mut buffers, mut at) = (Vec::new(), 0);
        while at + HEADER_LEN <= bytes.len() {
            buffers.push(at);
            at += u32_at(&bytes, at).unwrap() as usize;
        }
        let session = Session::open(vec![Box::new(bytes.clone())]).unwrap();
        let entries = session.files()[0].buffers();
        assert_eq!(entries.len(), buffers.len(), "{}", path.display());
        let mut events = Vec::new();
        let visit = |event: &etwkit_etl::RawEvent<'_>| {
            let buffer = &entries[event.buffer as usize];
            let (start, end) = (
                buffer.offset as usize,
                buffer.offset as usize + buffer.len as usize,
            );
            let place = if buffer.header.is_compressed() {
                // How far a compressed buffer is read depends on what is compressed.
                (end, start + HEADER_LEN)
            } else {
                let end = start + event.position as usize + event.record.len();
                (end, end)
            };
            events.push((session.clock().seconds(event.timestamp), place.0, place.1));
            std::ops::ControlFlow::Continue(())
        };
        session.for_each(Order::File, visit).unwrap();
        Self {
            bytes,
            buffers,
            events,
        }
    }

    /// Buffers that a cut takes away: those whose header is not complete.
    fn missing(&self, cut: usize) -> u64 {
        self.buffers
            .iter()
            .filter(|at| **at + HEADER_LEN > cut)
            .count() as u64
    }

    /// The least and the greatest time that the last event can have.
    fn last(&self, cut: usize) -> (f64, f64) {
        let last = |is_there: &dyn Fn(&(f64, usize, usize)) -> bool| {
            self.events
                .iter()
                .filter(|event| is_there(event))
                .map(|(time, ..)| *time)
                .fold(f64::MIN, f64::max)
        };
        (
            last(&|(_, surely, _)| *surely <= cut),
            last(&|(.., maybe)| *maybe <= cut),
        )
    }
}

/// Writes a trace up to a cut.
fn write_cut(whole: &Whole, cut: usize, path: &Path) -> String {
    std::fs::write(path, &whole.bytes[..cut]).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Checks what `info` says of a cut trace. Returns the sentence that says to what time events reach.
#[track_caller]
fn check_info(whole: &Whole, cut: usize, path: &str) -> String {
    let answer = run(&["info", "--json", path]);
    assert_eq!(
        answer.exit,
        Exit::Answered,
        "{path} cut at {cut}: {}",
        answer.err
    );
    let info: Value = serde_json::from_str(&answer.out).unwrap();
    let (completeness, counts) = (&info["completeness"], &info["completeness"]["files"][0]);
    let missing = whole.missing(cut);
    assert_eq!(
        completeness["missing_buffers"], missing,
        "{path} cut at {cut}"
    );
    assert_eq!(
        counts["buffers_expected"],
        whole.buffers.len(),
        "{path} cut at {cut}"
    );
    assert_eq!(
        counts["buffers_in_file"],
        whole.buffers.len() as u64 - missing,
        "{path} cut at {cut}"
    );
    assert_eq!(completeness["is_cut"], true, "{path} cut at {cut}");
    let reach = completeness["events_reach_s"].as_f64().unwrap();
    let (least, most) = whole.last(cut);
    assert!(
        reach >= least - 1e-9 && reach <= most + 1e-9,
        "{path} cut at {cut}: {least} {reach} {most}"
    );
    let text = run(&["info", path]).out;
    let sentence = format!("the end of the file is missing: events reach to {reach:.3} s");
    assert!(
        text.contains(&sentence),
        "{path} cut at {cut}: {sentence}\n{text}"
    );
    sentence
}

/// Checks what the overview and each dump say of a cut trace.
#[track_caller]
fn check_dumps(whole: &Whole, cut: usize, path: &str, sentence: &str, dumps: &[String]) {
    let extract = path.replace(".etl", ".etwx");
    let made = run(&["extract", path, "--out", &extract, "--json"]);
    assert_eq!(made.exit, Exit::Answered, "{path}: {}", made.err);
    assert!(made.out.contains("cut_short"), "{}", made.out);
    let manifest = std::fs::read_to_string(Path::new(&extract).join("manifest.json")).unwrap();
    let verb = noun(whole.missing(cut), ["is", "are"]);
    let count = format!(
        "{} of {} buffers {verb} missing",
        whole.missing(cut),
        whole.buffers.len()
    );
    assert!(manifest.contains(sentence), "{manifest}");
    assert!(
        whole.missing(cut) == 0 || manifest.contains(&count),
        "{manifest}"
    );
    let overview = run(&["dump", "overview", &extract]).out;
    assert!(overview.contains(sentence), "{overview}");
    for dump in dumps
        .iter()
        .filter(|dump| *dump != "overview" && !WITHOUT_ROWS.contains(&dump.as_str()))
    {
        // A comparison of one compares it with itself.
        let second = (dump == "diff").then_some(extract.as_str());
        let words = ["dump", dump, &extract].into_iter().chain(second);
        let Answer { err, exit, out } = run(&words.collect::<Vec<_>>());
        assert!(exit != Exit::Error, "{dump}: {err}");
        let lines: Vec<&str> = err
            .lines()
            .filter(|line| line.contains("is incomplete: "))
            .collect();
        assert!(
            lines.len() == 1 && lines[0].contains(sentence),
            "{dump} of {path}:\n{out}{err}"
        );
        assert!(
            whole.missing(cut) == 0 || lines[0].contains(&count),
            "{dump} of {path}: {err}"
        );
    }
    let json = run(&["dump", "process", "--json", &extract]).out;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(
        first["incomplete"][0]["incomplete"]["cut_short"], 1,
        "{first}"
    );
    std::fs::remove_dir_all(&extract).unwrap();
}

fn places(whole: &Whole) -> impl Iterator<Item = usize> + use<> {
    let len = whole.bytes.len();
    // In front of that there is not even a trace header.
    (1..=CUTS)
        .map(move |i| len * i / (CUTS + 1))
        .filter(|cut| *cut > 1024)
}

fn check_all(files: &[PathBuf], every: usize, dumps: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let whole = Whole::read(file);
        let name = file.file_stem().unwrap().to_str().unwrap();
        for (i, cut) in places(&whole).enumerate().step_by(every) {
            let path = write_cut(&whole, cut, &folder.path().join(format!("{name}-{i}.etl")));
            let sentence = check_info(&whole, cut, &path);
            if !dumps.is_empty() {
                check_dumps(&whole, cut, &path, &sentence, dumps);
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// Traces that are not whole to begin with.
fn is_whole(file: &Path) -> bool {
    !["lost-5.etl", "lost-6.etl"]
        .iter()
        .any(|name| file.ends_with(name))
}

#[test]
fn a_cut_trace_says_what_is_missing() {
    let fixtures = ["sched-5.etl", "files-5.etl", "power-5.etl"].map(|name| made().join(name));
    check_all(&fixtures, 1, &[]);
    let small = trace_files()
        .into_iter()
        .filter(|file| is_whole(file) && file.metadata().unwrap().len() < 1 << 18);
    check_all(&small.collect::<Vec<_>>(), 7, &[]);
}

#[test]
fn every_dump_of_a_cut_trace_says_what_is_missing() {
    check_all(
        &[made().join("sched-5.etl")],
        CUTS,
        &crate::support::dumps(),
    );
}

/// The long form, for `benches/cuts`.
#[test]
#[ignore = "takes an hour; benches/cuts runs it"]
fn every_trace_cut_at_twenty_places() {
    let files: Vec<PathBuf> = trace_files()
        .into_iter()
        .filter(|file| is_whole(file))
        .collect();
    assert!(!files.is_empty(), "ETWKIT_TRACES names no traces");
    check_all(&files, 1, &crate::support::dumps());
}

/// No command reports that a whole trace lacks anything, and of the others it reports what is known to be
/// missing.
#[test]
fn whole_traces_miss_nothing() {
    // Buffers that are missing, and whether that is the end.
    let expected = |file: &Path| match file.file_name().unwrap().to_str().unwrap() {
        "lost-5.etl" => (9, true),
        "lost-6.etl" => (9, true),
        // Two numbers of the sequence are missing, though the header counts no lost event.
        "tx_Process.etl" => (2, false),
        _ => (0, false),
    };
    let fixtures = std::fs::read_dir(made())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let fixtures = fixtures.filter(|path| path.extension().is_some_and(|ending| ending == "etl"));
    let archive = traces().map(|folder| folder.join("TraceLoggingTester.7z"));
    for file in fixtures.chain(trace_files()).chain(archive) {
        let input = etwkit_extract::open(
            std::slice::from_ref(&file),
            &etwkit_extract::Options::default(),
        )
        .unwrap();
        let session = input.session();
        assert_eq!(
            (session.missing_buffers(), session.is_cut()),
            expected(&file),
            "{}",
            file.display()
        );
    }
}

/// The times of a trace header can be anything, and what was recorded is their difference.
#[test]
fn a_cut_trace_whose_header_has_absurd_times_is_read() {
    // Behind the payload's first members, see `TRACE_LOGFILE_HEADER`.
    const PAYLOAD: usize = HEADER_LEN + 32;
    let mut whole = Whole::read(&made().join("sched-5.etl"));
    let cut = whole.bytes.len() / 2;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.etl");
    for (start, end) in [
        (i64::MIN, i64::MAX),
        (-1, i64::MAX),
        (i64::MIN, 0),
        (i64::MAX, i64::MIN),
    ] {
        whole.bytes[PAYLOAD + 16..PAYLOAD + 24].copy_from_slice(&end.to_le_bytes());
        whole.bytes[PAYLOAD + 264..PAYLOAD + 272].copy_from_slice(&start.to_le_bytes());
        let answer = run(&["info", &write_cut(&whole, cut, &path)]);
        assert_eq!(answer.exit, Exit::Answered, "{start} {end}: {}", answer.err);
        assert!(
            answer.out.contains("the end of the file is missing"),
            "{start} {end}: {}",
            answer.out
        );
    }
}
