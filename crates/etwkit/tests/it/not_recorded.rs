//! Every dump of a trace that holds nothing: it says which recording would have an answer.

use etwkit_etl::writer::{SessionOptions, TraceWriter};

use crate::support::{Exit, dumps, run, trace};

/// Dumps that answer from what every trace has: its header with the number of processors, its sessions, its
/// name, its events; a diagnosis says of each rule what it lacks, and two ask several extracts together.
const ALWAYS: &[&str] = &[
    "overview",
    "process",
    "cores",
    "stats",
    "metrics",
    "test-run",
    "loggers",
    "trace-stats",
    "diagnose",
    "explain",
    "diff",
];

/// Dumps that need more than an extract.
const WITH: &[(&str, &[&str])] = &[
    ("time", &["--time", "1s"]),
    ("region", &["--regions", "REGIONS"]),
];

pub(crate) const REGIONS: &str = r#"<InstrumentationManifest><Instrumentation><Regions>
  <RegionRoot Guid="{d8d639a0-cf4c-45fb-976a-0000deadbeef}" Name="all" FriendlyName="all">
    <Region Guid="{d8d639a1-cf4c-45fb-976a-100000000001}" Name="r" FriendlyName="r">
      <Start><Event Provider="{11111111-2222-3333-4444-555555555555}" Id="1" Version="0"/></Start>
      <Stop><Event Provider="{11111111-2222-3333-4444-555555555555}" Id="2" Version="0"/></Stop>
    </Region>
  </RegionRoot>
</Regions></Instrumentation></InstrumentationManifest>"#;

/// Writes a trace that holds nothing but its header.
fn write_empty(path: &str) {
    let options = SessionOptions::default();
    let end = options.t0;
    let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
    std::fs::write(path, writer.finish(end).unwrap().into_inner()).unwrap();
}

#[test]
fn rows_on_the_standard_output_have_no_sentence_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, extract) = (path("empty.etl"), path("empty.etwx"));
    write_empty(&trace);
    run(&["extract", &trace, "--out", &extract]);
    let answer = run(&["dump", "disk", "--csv", "-", &extract]);
    assert_eq!(answer.exit, Exit::Nothing, "{}", answer.err);
    assert!(answer.out.starts_with("trace,"), "{}", answer.out);
    assert!(
        answer.err.contains("recorded no disk I/O"),
        "{}",
        answer.err
    );
}

#[test]
fn dumps_of_what_was_not_recorded_say_how_to_record_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_empty(&path("empty.etl"));
    std::fs::write(path("regions.xml"), REGIONS).unwrap();
    for detail in ["full", "summary"] {
        let (trace, extract) = (path("empty.etl"), path(&format!("{detail}.etwx")));
        let made = run(&["extract", &trace, "--out", &extract, "--detail", detail]);
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
        let strace = run(&["strace", &extract]);
        assert_eq!(strace.exit, Exit::Nothing, "{}", strace.err);
        assert!(strace.out.contains("hint: "), "{}", strace.out);
        let all = dumps();
        assert!(all.len() >= 32, "{all:?}");
        for dump in all.iter().filter(|dump| !ALWAYS.contains(&dump.as_str())) {
            let with = WITH
                .iter()
                .find(|(name, _)| name == dump)
                .map_or(&[][..], |(_, with)| with);
            let with: Vec<String> = with
                .iter()
                .map(|arg| arg.replace("REGIONS", &path("regions.xml")))
                .collect();
            let mut args = vec!["dump", dump];
            args.extend(with.iter().map(String::as_str));
            args.push(&extract);
            let text = run(&args);
            if dump == "time" {
                assert_eq!(text.exit, Exit::Answered, "{}", text.err);
                continue;
            }
            assert_eq!(
                text.exit,
                Exit::Nothing,
                "{dump} of a {detail} extract:\n{}{}",
                text.out,
                text.err
            );
            let lines: Vec<&str> = text.out.lines().collect();
            assert!(
                lines.len() == 2 && lines[1].starts_with("hint: "),
                "{dump} of a {detail} extract:\n{}",
                text.out
            );
            let says_how = ["record", "wpr", "WPR"]
                .iter()
                .any(|how| lines[1].contains(how));
            assert!(says_how, "{dump}: {}", lines[1]);
            // The same table says what each of our profiles answers.
            if let Some(profile) = etwkit_record::profiles::of_question(dump).next() {
                let ours = lines[1]
                    .split_once("`etwkit record start ")
                    .map(|(_, rest)| rest);
                let name = ours
                    .and_then(|rest| rest.split('`').next())
                    .unwrap_or_default();
                assert!(
                    etwkit_record::profiles::find(name).is_some(),
                    "{dump} ({}): {}",
                    profile.name,
                    lines[1]
                );
            }
            args.push("--json");
            let json = run(&args);
            assert_eq!(json.exit, Exit::Nothing, "{dump}: {}", json.err);
            assert!(
                json.out
                    .lines()
                    .nth(1)
                    .is_some_and(|line| line.contains("\"hint\":\"")),
                "{}",
                json.out
            );
        }
    }
}

#[test]
fn a_comparison_says_what_was_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (one, other) = (path("one.etl"), path("other.etl"));
    write_empty(&one);
    write_empty(&other);
    let both = run(&["diff", &one, &other]);
    assert_eq!(both.exit, Exit::Answered, "{}", both.err);
    assert!(
        both.out.contains("A and B recorded nothing that can be"),
        "{}",
        both.out
    );
    assert!(both.out.contains(", Versions of modules"), "{}", both.out);
    let only_one = run(&["diff", &one, &trace("sched-5.etl")]).out;
    let remark = "Versions of modules: not compared, the trace recorded no modules (A)";
    assert!(only_one.contains(remark), "{only_one}");
}
