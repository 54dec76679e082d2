//! The process that runs cases: what `info`, `events` and `extract` do with a file, and reading back what was
//! extracted.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::sync::Mutex;

use etwkit_decode::Decoder;
use etwkit_decode::render::{Limits, Renderer};
use etwkit_etl::{Order, Session};
use etwkit_extract::json7z::{import_json, open_json};
use etwkit_extract::{ConvertOptions, Extract, Options, WriterOptions, convert, open};
use etwkit_fuzz::passes;

use crate::cases::Subject;
use crate::watch::status_kib;

/// Events that are rendered; printing all of a large trace takes longer than reading it twenty times.
const RENDERED: u64 = 10_000;

/// Bytes of a file that is mapped.
const MAX_MAPPED: u64 = 64 << 20;

/// Peak of a case after which a process ends, and another one does the rest: what the allocator keeps of one
/// case must not count for the next.
const FRESH_KIB: u64 = 128 << 10;

/// Where the last panic came from.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs cases and tells the parent of each when it begins and how it ended.
pub(crate) fn run(subject: &str, first: usize, step: usize) {
    let subject = Subject::open(Path::new(subject));
    note_panics();
    for case in (first..subject.len()).step_by(step) {
        say(&format!("case {case}"));
        let text = outcome(&subject, case, None);
        let peak_kib = status_kib("/proc/self/status", "VmHWM:");
        say(&format!("{peak_kib} {}", text.replace('\n', " ")));
        if peak_kib > FRESH_KIB && case.saturating_add(step) < subject.len() {
            return say("fresh");
        }
    }
    say("end");
}

/// Runs one case and keeps its bytes.
pub(crate) fn replay(subject: &str, case: usize, keep: Option<&Path>) {
    let subject = Subject::open(Path::new(subject));
    note_panics();
    let text = outcome(&subject, case, keep);
    say(&format!(
        "{text}\n{} KiB",
        status_kib("/proc/self/status", "VmHWM:")
    ));
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("the parent listens");
}

fn note_panics() {
    set_hook(Box::new(|info| {
        *PANIC.lock().unwrap() = info.to_string();
    }));
}

fn outcome(subject: &Subject, case: usize, keep: Option<&Path>) -> String {
    let (ending, bytes) = subject.case(case);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("case.{ending}"));
    fs::write(keep.unwrap_or(&file), &bytes).unwrap();
    if let Some(keep) = keep {
        fs::copy(keep, &file).unwrap();
    }
    drop(bytes);
    // Peak memory is that of reading the case; making its bytes takes more.
    let _ = fs::write("/proc/self/clear_refs", "5");
    // Pictures lie beside a trace, with names and contents of whoever sent them.
    if case.is_multiple_of(100) {
        let pictures = folder.path().join("case.Screenshots");
        fs::create_dir(&pictures).unwrap();
        fs::write(
            pictures.join("Screenshot_\u{1B}[2J\u{202E}1.png"),
            "no picture",
        )
        .unwrap();
    }
    match catch_unwind(AssertUnwindSafe(|| read(&file, folder.path()))) {
        Ok(Ok(text)) => text.to_owned(),
        Ok(Err(wrong)) => format!("wrong: {wrong}"),
        Err(_) => format!("panic: {}", PANIC.lock().unwrap()),
    }
}

fn read(file: &Path, folder: &Path) -> Result<&'static str, String> {
    let spool = folder.join("spool");
    fs::create_dir(&spool).map_err(|e| e.to_string())?;
    // Pages of a mapped file count as memory, and the system takes them back whenever it wants.
    let is_small = file.metadata().is_ok_and(|file| file.len() < MAX_MAPPED);
    let options = Options {
        mmap: is_small,
        temp_dir: Some(spool),
        ..Options::default()
    };
    if file.extension().is_some_and(|ending| ending == "json") {
        return import(file, folder, &options);
    }
    let input = match open(&[file.to_owned()], &options) {
        Ok(input) => input,
        Err(error) => {
            return refused(
                &error,
                file.extension().is_some_and(|ending| ending == "etl"),
            );
        }
    };
    let session = input.session();
    passes::summary(session);
    let mut damaged = !session.damage().is_empty();
    damaged |= events(session);
    let target = folder.join("case.etwx");
    let converted = convert(&input, &target, ConvertOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let converted = converted.map_err(|e| format!("it can be read but not extracted: {e}"))?;
    damaged |= converted
        .imported
        .diagnostics
        .iter()
        .any(|d| d.severity != "info");
    read_back(&target)?;
    Ok(if damaged { "damage" } else { "clean" })
}

/// What `extract` does with an extract of ETWAnalyzer.
fn import(file: &Path, folder: &Path, options: &Options) -> Result<&'static str, String> {
    let target = folder.join("case.etwx");
    let hinted = |hint: Option<&str>, error: &dyn std::error::Error| match hint {
        Some(_) => Ok("refused"),
        None => Err(format!("no hint: {error}")),
    };
    let input = match open_json(file, options) {
        Ok(input) => input,
        Err(error) => return hinted(error.hint(), &error),
    };
    match import_json(&input, &target, WriterOptions::default(), BTreeMap::new()) {
        Ok(_) => read_back(&target).map(|()| "clean"),
        Err(error) => hinted(error.hint(), &error),
    }
}

/// Reads all rows of an extract.
fn read_back(target: &Path) -> Result<(), String> {
    let extract = Extract::open(target).map_err(|e| format!("the extract does not open: {e}"))?;
    for table in extract.tables() {
        let mut rows = 0;
        for batch in table.batches(None).map_err(|e| e.to_string())? {
            rows += batch.map_err(|e| e.to_string())?.num_rows() as u64;
        }
        if rows != table.rows {
            return Err(format!(
                "{} has {rows} rows, not {}",
                table.name, table.rows
            ));
        }
    }
    Ok(())
}

/// A refusal says where and what to do.
fn refused(error: &etwkit_extract::Error, is_trace: bool) -> Result<&'static str, String> {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    if error.hint().is_none() {
        return Err(format!("no hint: {text}"));
    }
    // What is wrong with an archive is wrong with it as a whole.
    let has_place = !is_trace || text.contains("offset") || text.contains("empty");
    if has_place {
        Ok("refused")
    } else {
        Err(format!("no position: {text}"))
    }
}

/// Decodes and renders events in the order of time; whether there was damage.
fn events(session: &Session) -> bool {
    let mut decoder = Decoder::new();
    let pass = session.for_each(Order::File, |event| {
        decoder.observe(event);
        ControlFlow::Continue(())
    });
    let damage = pass.expect("the file is still there").damage;
    decoder.finish_observing();
    let renderer = Renderer {
        clock: Some(session.clock()),
        limits: Limits::NONE,
    };
    let mut left = RENDERED;
    let pass = session.for_each(Order::Time, |event| {
        if let Some(plan) = decoder.plan(event) {
            let (fields, _) = renderer.object(&plan, event.payload());
            std::hint::black_box(decoder.text(event, &plan, &fields));
            std::hint::black_box(serde_json::Value::Object(fields).to_string());
        }
        left -= 1;
        if left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    !damage.is_empty() || !pass.expect("the file is still there").damage.is_empty()
}
