//! Where answers and errors are printed, and with which exit code.

use std::io::{self, Write};

use etwkit::Exit;

use crate::support::{json, made, run, trace};

/// Takes some bytes, then fails.
struct Failing {
    room: usize,
    with: io::ErrorKind,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(self.with.into());
        }
        let len = bytes.len().min(self.room);
        self.room -= len;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.room == 0 {
            Err(self.with.into())
        } else {
            Ok(())
        }
    }
}

fn run_into(mut out: impl Write, args: &[&str]) -> (Exit, String) {
    let mut err = Vec::new();
    let exit = etwkit::run(["etwkit"].iter().chain(args), &mut out, &mut err);
    (exit, String::from_utf8(err).unwrap())
}

#[test]
fn a_closed_pipe_is_success_and_silent() {
    let trace = trace("power-5.etl");
    let with = io::ErrorKind::BrokenPipe;
    for args in [
        &["events", "--count", &trace][..],
        &["events", "--count", "--json", &trace],
        &["--help"],
    ] {
        for room in [0, 10] {
            assert_eq!(
                run_into(Failing { room, with }, args),
                (Exit::Answered, String::new())
            );
        }
    }
}

#[test]
fn a_pipe_that_closes_before_the_last_flush_is_success() {
    let out = io::BufWriter::with_capacity(
        1 << 20,
        Failing {
            room: 0,
            with: io::ErrorKind::BrokenPipe,
        },
    );
    assert_eq!(
        run_into(out, &["info", &trace("power-5.etl")]),
        (Exit::Answered, String::new())
    );
}

#[test]
fn a_full_disk_is_an_error() {
    let out = Failing {
        room: 10,
        with: io::ErrorKind::StorageFull,
    };
    let (exit, err) = run_into(out, &["info", &trace("power-5.etl")]);
    assert_eq!(exit, Exit::Error);
    assert!(
        err.starts_with("error: cannot write the answer\ncaused by: "),
        "{err}"
    );
}

#[test]
fn exit_codes_are_the_documented_ones() {
    let codes = [
        Exit::Answered,
        Exit::Nothing,
        Exit::Error,
        Exit::Interrupted,
    ]
    .map(Exit::code);
    assert_eq!(codes, [0, 1, 2, 130]);
    for args in [
        &["events"][..],
        &["no-such-command"],
        &["info", "--no-such-option", "x.etl"],
        &[],
    ] {
        let answer = run(args);
        assert_eq!(
            (answer.exit, answer.out.as_str()),
            (Exit::Error, ""),
            "{args:?}"
        );
        assert!(!answer.err.is_empty());
    }
    assert_eq!(
        run(&["--version"]).out,
        format!("etwkit {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn an_error_has_a_message_a_cause_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no\u{1B}trace.etl");
    std::fs::write(&path, [b'x'; 4096]).unwrap();
    let answer = run(&["info", path.to_str().unwrap()]);
    assert_eq!((answer.exit, answer.out.as_str()), (Exit::Error, ""));
    assert_eq!(
        answer.err,
        "error: cannot read no\\u{1b}trace.etl as an event trace\n\
         caused by: at offset 0x48: expected the trace header event (xx xx 01|02 c0 xx xx 00 00), found \
         78 78 78 78 78 78 78 78\n\
         hint: this is text, not a trace; name the .etl file that was recorded\n"
    );
}

#[test]
fn a_file_that_was_cut_is_not_called_closed_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.etl");
    let whole = std::fs::read(made().join("sched-5.etl")).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let text = run(&["info", path.to_str().unwrap()]).out;
    assert!(text.contains("yes, but its end is missing\n"), "{text}");
    let text = run(&["info", made().join("sched-5.etl").to_str().unwrap()]).out;
    assert!(!text.contains("its end is missing"), "{text}");
}

#[test]
fn names_out_of_a_trace_cannot_control_a_terminal() {
    let utf16 = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let (from, to) = (utf16("Relogger"), utf16("\u{1B}[2J\u{202E}\u{9B}\n\t"));
    let mut bytes = std::fs::read(made().join("power-5.etl")).unwrap();
    let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(&to);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.etl");
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let text = run(&["info", path]).out;
    assert!(
        text.contains("\\u{1b}[2J\\u{202e}\\u{9b}\\n\\t\n"),
        "{text}"
    );
    let answer = run(&["info", "--json", path]).out;
    assert!(
        answer.contains(r#""session_name":"\u001b[2J\u202e\u009b\n\t""#),
        "{answer}"
    );
    assert_eq!(
        json(&["info", "--json", path])["header"]["session_name"],
        "\u{1B}[2J\u{202E}\u{9B}\n\t"
    );
}

#[test]
fn damage_is_reported_in_text_and_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.etl");
    let bytes = std::fs::read(made().join("power-5.etl")).unwrap();
    std::fs::write(&path, &bytes[..5000]).unwrap();
    let path = path.to_str().unwrap();
    for command in [&["info", path][..], &["events", "--count", path]] {
        let text = run(command).out;
        let (_, damage) = text.split_once("\nDamage\n").unwrap();
        assert!(
            damage.contains("truncated_buffer at offset 0x1292 of cut.etl"),
            "{damage}"
        );
        let object = json(&[command, &["--json"]].concat());
        assert_eq!(object["damage"]["counts"]["truncated_buffer"]["places"], 1);
        assert_eq!(object["damage"]["first_places"][0]["offset"], 0x1292);
    }
}

#[test]
fn damage_inside_a_buffer_is_reported_by_the_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.etl");
    let mut bytes = std::fs::read(made().join("power-5.etl")).unwrap();
    // The last buffer is compressed; matches that reach back in front of its start break it.
    bytes[0x1292 + 72..0x1292 + 120].fill(0xFF);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let counting = ["events", "--count", "--json", path];
    for command in [
        &["info", "--json", path][..],
        &counting,
        &[&counting[..], &["--unordered"]].concat(),
    ] {
        let object = json(command);
        assert_eq!(
            object["damage"]["counts"]["decompression"]["places"], 1,
            "{object}"
        );
    }
    let text = run(&["events", "--count", path]).out;
    assert!(
        text.contains("  decompression at offset 0x1292 of broken.etl: "),
        "{text}"
    );
}

#[test]
fn files_of_different_machines_are_distinguished() {
    let (first, other) = (trace("sched-5.etl"), trace("power-5.etl"));
    let answer = run(&["info", &first, &other]);
    assert!(
        answer
            .out
            .contains("  power-5.etl is of another machine or another boot"),
        "{}",
        answer.out
    );
    let note = "note: several files are read as one session, but power-5.etl was not recorded together with \
                sched-5.etl: ask about each session on its own\n";
    assert_eq!(answer.other_errors(), note);
    let machines = run(&["info", "--json", &first, &other]);
    let object: serde_json::Value = serde_json::from_str(&machines.out).unwrap();
    assert_eq!(
        object["files_of_other_sessions"],
        serde_json::json!(["power-5.etl"])
    );
    assert_eq!(machines.other_errors(), note);
    assert_eq!(
        json(&["info", "--json", &first])["files_of_other_sessions"],
        serde_json::json!([])
    );
}

#[test]
fn questions_that_cannot_be_meant_are_errors() {
    let trace = trace("power-5.etl");
    for (args, says) in [
        (
            &["--provider", ""][..],
            "error: --provider \"\": expected a name",
        ),
        (&["--name", " ; "], "error: --name \" ; \": expected a name"),
        (
            &["--json", "--format", "csv"],
            "error: the argument '--json' cannot be used with '--format <FORMAT>'",
        ),
        (
            &["--range", "2..-1"],
            "error: --range: \"2..-1\", character 4: the end is before the start",
        ),
    ] {
        let answer = run(&[&["events", &trace], args].concat());
        assert_eq!(
            (answer.exit, answer.out.as_str()),
            (Exit::Error, ""),
            "{args:?}"
        );
        assert!(answer.err.starts_with(says), "{}", answer.err);
    }
    assert_eq!(
        run(&["events", &trace, "--range", "-1..0"]).exit,
        Exit::Answered
    );
}

#[test]
fn sql_of_a_part_of_a_list_says_that_it_has_all_rows() {
    let sql = |more: &[&str]| {
        run(&[&["dump", "disk", "--show-sql"][..], more, &["slow.etl"]].concat()).out
    };
    let comment = "-- without --top and --skip";
    assert!(sql(&["--top", "2"]).starts_with(comment));
    assert!(!sql(&[]).contains(comment));
}

#[test]
fn a_reused_process_id_is_explained_where_it_is_shown() {
    let note = "(#2 is the second process with that id: Windows reuses ids)";
    assert!(!run(&["info", &trace("sched-5.etl")]).out.contains(note));
    if let Some(folder) = etwkit_testkit::traces() {
        let reuse = folder.join("made/reuse-5.etl");
        assert!(run(&["info", reuse.to_str().unwrap()]).out.contains(note));
    }
}

/// A large trace is summed up in a moment: who used the CPU is summed up only on request. That bytes of zero
/// follow the last buffer is nothing but a file that was made longer ahead.
#[test]
fn info_of_a_large_trace_leaves_out_what_takes_long() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.etl");
    std::fs::copy(made().join("sched-5.etl"), &large).unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&large)
        .unwrap()
        .set_len(513 << 20)
        .unwrap();
    let large = large.to_str().unwrap();
    let small = run(&["info", &trace("sched-5.etl")]).out;
    let (brief, full) = (
        run(&["info", large]).out,
        run(&["info", "--full", large]).out,
    );
    let section = |text: &str, from: &str, to: &str| {
        let start = text.find(from).unwrap();
        text[start..start + text[start..].find(to).unwrap()].to_owned()
    };
    for (from, to) in [("Recorded", "Health"), ("Machine", "size")] {
        assert_eq!(section(&brief, from, to), section(&small, from, to));
    }
    assert!(
        brief.contains("CPU\n  not summed up") && !brief.contains("Processes by"),
        "{brief}"
    );
    let cpu = |text: &str| section(text, "\nCPU", "\nDamage");
    assert_eq!(cpu(&full), cpu(&small));
}
