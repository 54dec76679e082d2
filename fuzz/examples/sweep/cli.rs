//! Cases through the program itself: exit codes and messages.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::Subject;
use crate::watch::Outcome;

/// Time of a command; processes may be stopped for a while.
const MAX_WALL: Duration = Duration::from_secs(600);

/// Runs the cases from `first` on, `step` apart.
pub(crate) fn subject(program: &Path, path: &Path, first: usize, step: usize) -> Vec<Outcome> {
    let subject = Subject::open(path);
    let cases = (first..subject.len()).step_by(step);
    cases
        .map(|case| Outcome {
            case,
            text: outcome(program, &subject, case),
            peak_kib: 0,
        })
        .collect()
}

fn outcome(program: &Path, subject: &Subject, case: usize) -> String {
    let (ending, bytes) = subject.case(case);
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (
        folder.path().join(format!("case.{ending}")),
        folder.path().join("case.etwx"),
    );
    std::fs::write(&file, bytes).unwrap();
    let extract = command(
        program,
        folder.path(),
        &["extract".as_ref(), &file, "--out".as_ref(), &out],
    );
    // An extract of ETWAnalyzer has no events that `info` could read.
    let info = if ending == "json" {
        extract.clone()
    } else {
        command(program, folder.path(), &["info".as_ref(), &file])
    };
    let dumps = ["overview", "process", "stats", "wait"].map(|dump| {
        let asked = out.exists().then(|| {
            command(
                program,
                folder.path(),
                &["dump".as_ref(), dump.as_ref(), &out],
            )
        });
        asked.unwrap_or(Ok("answered"))
    });
    if let Some(Err(text)) = dumps.iter().find(|answer| answer.is_err()) {
        return text.clone();
    }
    match (info, extract) {
        (Ok(info), Ok(extract)) if info != extract => {
            format!("wrong: info is {info}, extract is {extract}")
        }
        (Ok("refused"), _) if out.exists() => "wrong: half an extract".to_owned(),
        (Ok(text), Ok(_)) => text.to_owned(),
        (Err(text), _) | (_, Err(text)) => text,
    }
}

fn command(program: &Path, folder: &Path, args: &[&Path]) -> Result<&'static str, String> {
    let (out, err) = (folder.join("out.txt"), folder.join("err.txt"));
    let stream = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut command = Command::new(program);
    command
        .args(args)
        .env("ETWKIT_CACHE", folder.join("cache"))
        .env("TMPDIR", folder);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stream(&out))
        .stderr(stream(&err))
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > MAX_WALL => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("hang: it was ended".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let [out, err] =
        [out, err].map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned());
    if let Some(c) = out
        .chars()
        .chain(err.chars())
        .find(|c| c.is_control() && *c != '\n')
    {
        return Err(format!("wrong: {c:?} is printed"));
    }
    let is_trace = args
        .iter()
        .any(|arg| arg.extension().is_some_and(|ending| ending == "etl"));
    let has_place = !is_trace || err.contains("offset") || err.contains("empty");
    match status.code() {
        Some(0) => Ok("answered"),
        Some(1) if args.first().is_some_and(|arg| arg.as_os_str() == "dump") => Ok("answered"),
        Some(2) if err.contains("error: ") && err.contains("hint: ") && has_place => Ok("refused"),
        _ => Err(format!("wrong: {status}: {err}")),
    }
}
