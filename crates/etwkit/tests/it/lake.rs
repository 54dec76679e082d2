//! Lakes: their commands, and the same answers as from the extracts that they were made of.

use std::path::{Path, PathBuf};

use etwkit_base::shell::quoted_pattern;
use etwkit_engine::library;
use etwkit_extract::lake::Snapshot;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::arrow::util::pretty::pretty_format_batches;
use etwkit_sql::{Options, Session, Source};
use etwkit_trace::table::DERIVED;
use etwkit_trace::topics::TABLES;
use serde_json::Value;

use crate::extracts::Extract;
use crate::support::{Exit, json_lines, run, trace};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A path in a command line that is a text of JSON.
fn in_command(path: &str) -> String {
    let text = Value::from(quoted_pattern(path)).to_string();
    text[1..text.len() - 1].to_owned()
}

/// A lake of three extracts.
struct Farm {
    folder: tempfile::TempDir,
    /// The extracts in the order of the lake, and the names of their runs.
    runs: Vec<(String, String)>,
}

impl Farm {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lake = folder.path().join("lake");
        assert_eq!(run(&["lake", "init", text(&lake)]).exit, Exit::Answered);
        let traces = ["dns-5.etl", "sched-5.etl", "power-5.etl"].map(trace);
        let extracts = traces.map(|trace| Extract::of(&[&trace], &[]).path.clone());
        for extract in &extracts {
            let added = run(&["lake", "add", text(&lake), extract]);
            assert_eq!(
                (added.exit, added.err.as_str()),
                (Exit::Answered, ""),
                "{extract}"
            );
        }
        let snapshot = Snapshot::open(&lake).unwrap();
        let path = |hash: &str| {
            let has = |extract: &&String| {
                let manifest = etwkit_extract::manifest_of(extract.as_ref()).unwrap();
                manifest.source.hash == hash
            };
            extracts.iter().find(has).unwrap().clone()
        };
        let names = snapshot.run_paths().zip(snapshot.runs());
        let runs = names
            .map(|(name, run)| (path(run.hash()), text(&name).to_owned()))
            .collect();
        Self { folder, runs }
    }

    fn lake(&self) -> PathBuf {
        self.folder.path().join("lake")
    }

    fn extracts(&self) -> Vec<&str> {
        self.runs
            .iter()
            .map(|(extract, _)| extract.as_str())
            .collect()
    }

    /// A text in which runs have the names of their extracts.
    fn named(&self, text: &str) -> String {
        let mut named = text.to_owned();
        for (extract, run) in &self.runs {
            let file = |path: &str| {
                Path::new(path)
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            };
            // In command lines the paths of runs are quoted, in JSON once more.
            named = named.replace(&in_command(run), &in_command(extract));
            named = named.replace(run, extract);
            named = named.replace(&file(run), &file(extract));
        }
        named
    }

    /// Sessions over the extracts and over the lake.
    fn sessions(&self) -> [Session; 2] {
        let of_lake = self.runs.iter().map(|(_, name)| {
            let path = Path::new(name);
            Source::from((Snapshot::run_at(path).unwrap().unwrap(), path))
        });
        [
            Session::open(&self.extracts()).unwrap(),
            Session::new(of_lake.collect(), &Options::default()).unwrap(),
        ]
    }
}

/// The lines of an answer in alphabetical order, or its error.
fn lines(answer: etwkit_sql::Result<etwkit_sql::Answer>) -> Vec<String> {
    let batches: etwkit_sql::Result<Vec<RecordBatch>> =
        answer.and_then(etwkit_sql::Answer::collect);
    match batches {
        Ok(batches) => {
            let shown = pretty_format_batches(&batches).unwrap().to_string();
            let mut lines: Vec<String> = shown.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        }
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn every_table_has_the_same_rows() {
    let farm = Farm::new();
    let [extracts, lake] = farm.sessions();
    let mut with_rows = 0;
    for table in TABLES.iter().chain(DERIVED) {
        let name = table.name;
        assert_eq!(extracts.row_count(name), lake.row_count(name), "{name}");
        if extracts.row_count(name) == 0 {
            continue;
        }
        with_rows += 1;
        let sql = format!("SELECT * FROM {name}");
        assert_eq!(lines(extracts.sql(&sql)), lines(lake.sql(&sql)), "{name}");
    }
    assert!(with_rows > 20, "{with_rows}");
    for sql in [
        "SELECT * EXCLUDE (path) FROM extract",
        "SELECT * FROM topic",
        "SELECT * FROM process_recorded",
        "SELECT * FROM stack_frame",
        "SELECT * FROM stack_text",
        "SELECT count(*) FROM process",
        "SELECT p.trace_id, p.name, count(*) FROM thread t JOIN process p USING (run_id, process_key) GROUP BY ALL",
        "SELECT run_id, max(name) FROM process WHERE trace_id = 1 GROUP BY run_id",
    ] {
        assert_eq!(lines(extracts.sql(sql)), lines(lake.sql(sql)), "{sql}");
    }
}

#[test]
fn a_run_that_is_named_twice_has_its_rows_twice() {
    let farm = Farm::new();
    let path = Path::new(&farm.runs[1].1);
    let source = || Source::from((Snapshot::run_at(path).unwrap().unwrap(), path));
    let session = Session::new(vec![source(), source()], &Options::default()).unwrap();
    let sql = "SELECT count(*) AS t, count(DISTINCT n) AS d \
               FROM (SELECT trace_id, count(*) AS n FROM process GROUP BY trace_id)";
    let lines = lines(session.sql(sql));
    assert!(lines.contains(&"| 2 | 1 |".to_owned()), "{lines:?}");
}

#[test]
fn questions_of_the_library_have_the_same_answers() {
    let farm = Farm::new();
    let [extracts, lake] = farm.sessions();
    let step = if etwkit_testkit::is_exhaustive() {
        1
    } else {
        5
    };
    for query in library().step_by(step) {
        let answers = [&extracts, &lake].map(|session| lines(session.ask(query, &[])));
        assert_eq!(answers[0], answers[1], "{}", query.name);
    }
}

#[test]
fn a_lake_is_taken_where_extracts_are() {
    let farm = Farm::new();
    let lake = farm.lake();
    let extracts = farm.extracts();
    for question in [
        &["dump", "process", "--json"][..],
        &["dump", "cpu", "--json", "--process", "*"],
        &["dump", "dns", "--json"],
        &["explain", "--json"],
    ] {
        let of_extracts = run(&[question, &extracts[..]].concat());
        let of_lake = run(&[question, &[text(&lake)]].concat());
        assert_eq!(
            (of_lake.exit, farm.named(&of_lake.out)),
            (of_extracts.exit, of_extracts.out),
            "{question:?}: {}",
            of_lake.err
        );
    }
    let (extract, name) = &farm.runs[1];
    let names = |of: &str| {
        run(&[
            "sql",
            "--format",
            "csv",
            of,
            "SELECT name FROM process ORDER BY 1",
        ])
    };
    let (of_run, of_extract) = (names(name), names(extract));
    assert_eq!(of_run.exit, Exit::Answered, "{}", of_run.err);
    assert_eq!(of_run.out, of_extract.out);
    let both = ["diff", "--json"];
    let of_lake = run(&[&both[..], &[name.as_str(), farm.runs[0].1.as_str()]].concat());
    let of_extracts = run(&[&both[..], &[extract.as_str(), farm.runs[0].0.as_str()]].concat());
    assert_eq!(farm.named(&of_lake.out), of_extracts.out, "{}", of_lake.err);
}

#[test]
fn where_chooses_among_the_runs_of_a_lake() {
    let farm = Farm::new();
    let lake = farm.lake();
    let name = Path::new(&farm.runs[0].0)
        .file_stem()
        .unwrap()
        .to_str()
        .unwrap();
    let condition = format!("name = '{name}'");
    let args = ["sql", "--format", "csv", "--where", &condition, text(&lake)];
    let answer = run(&[&args[..], &["SELECT count(*) AS n FROM process"]].concat());
    let alone = [
        "sql",
        "--format",
        "csv",
        &farm.runs[0].0,
        "SELECT count(*) AS n FROM process",
    ];
    assert_eq!(answer.out, run(&alone).out, "{}", answer.err);
    // Both paths lead to one lake.
    let other = lake.join("..").join(lake.file_name().unwrap());
    let count = "SELECT count(*) AS n FROM extract";
    let answer = run(&["sql", "--format", "csv", text(&lake), text(&other), count]);
    assert_eq!(answer.out, "n\r\n3\r\n", "{}", answer.err);
    let of_lake = run(&["lake", "add", text(&lake), text(&lake)]);
    assert!(
        of_lake
            .err
            .contains("a run of a lake cannot be added to a lake: "),
        "{}",
        of_lake.err
    );
    let none = run(&["sql", "--where", "name = 'none'", text(&lake), "SELECT 1"]);
    assert_eq!(none.exit, Exit::Error);
    assert!(
        none.err
            .starts_with("error: none of 3 extracts matches --where"),
        "{}",
        none.err
    );
    let listed = run(&["lake", "list", "--json", "--where", &condition, text(&lake)]);
    let listed = json_lines(&listed.out);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["run"]["name"], *name);
}

#[test]
fn runs_are_added_dropped_compacted_and_answer_all_the_time() {
    let farm = Farm::new();
    let lake = farm.lake();
    let object = |args: &[&str]| -> Value {
        let answer = run(&[args, &["--json", text(&lake)]].concat());
        assert_eq!(answer.exit, Exit::Answered, "{args:?}: {}", answer.err);
        json_lines(&answer.out).remove(0)
    };
    let count = || {
        let sql = "SELECT count(DISTINCT run_id) AS runs, count(*) AS n FROM process";
        run(&["sql", "--format", "csv", text(&lake), sql]).out
    };
    let again = run(&[&["lake", "add", text(&lake)], &farm.extracts()[..]].concat());
    assert_eq!(again.out, "added 0 runs, replaced 0; 3 were there\n");
    let before = count();
    assert!(object(&["lake", "compact"])["tables"].as_u64() > Some(10));
    assert_eq!(count(), before);
    assert_eq!(
        object(&["lake", "check"])["problems"],
        Value::Array(Vec::new())
    );
    assert!(object(&["lake", "vacuum", "--older-than", "0"])["files"].as_u64() > Some(20));
    assert_eq!(count(), before);

    let name = Path::new(&farm.runs[0].0)
        .file_stem()
        .unwrap()
        .to_str()
        .unwrap();
    let condition = format!("name = '{name}'");
    let drop = ["lake", "drop", text(&lake), "--where", &condition];
    let planned = run(&[&drop[..], &["--dry-run"]].concat());
    let expected = "would drop 1 run\n";
    assert!(planned.out.ends_with(expected), "{}", planned.out);
    assert_eq!(count(), before);
    assert_eq!(run(&drop).out, "dropped 1 run\n");
    assert_eq!(run(&drop).exit, Exit::Nothing);
    assert!(count().contains("2,"), "{}", count());
    let compacted = object(&["lake", "compact", "--older-than", "0"]);
    assert!(compacted["rows_left_out"].as_u64() > Some(0), "{compacted}");
    assert_eq!(object(&["lake", "check"])["rows_of_no_run"], 0);
    // What was dropped can be added again.
    run(&["lake", "add", text(&lake), &farm.runs[0].0]);
    assert_eq!(count(), before);
}

/// The runs of a lake without the numbers of the attempts that added them.
fn listed(lake: &Path) -> Vec<Value> {
    let answer = run(&["lake", "list", "--json", text(lake)]);
    let mut runs = json_lines(&answer.out);
    for run in &mut runs {
        run["run"]["generation"].take();
    }
    runs
}

#[test]
fn traces_are_extracted_into_a_lake() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    let (lake, other) = (in_folder("lake"), in_folder("other"));
    for lake in [&lake, &other] {
        run(&["lake", "init", text(lake)]);
    }
    // Two traces with one name.
    let traces = [("a", "dns-5.etl"), ("b", "power-5.etl")].map(|(name, source)| {
        std::fs::create_dir(in_folder(name)).unwrap();
        let target = in_folder(name).join("run.etl");
        std::fs::copy(trace(source), &target).unwrap();
        text(&target).to_owned()
    });
    let options = ["extract", "--detail", "summary", "--label", "suite=Report"];
    let into = ["--lake", text(&lake), &traces[0], &traces[1]];
    let added = run(&[&options[..], &into].concat());
    assert_eq!(added.exit, Exit::Answered, "{}", added.err);
    let line = format!("{} → {}\n", traces[1], lake.display());
    assert!(added.out.contains(&line), "{}", added.out);
    assert!(
        added
            .out
            .ends_with("added 2 runs, replaced 0; 0 were there\n"),
        "{}",
        added.out
    );
    assert!(!in_folder("a").join("run.etwx").exists());
    // The same as both commands.
    for trace in &traces {
        run(&[&options[..], &[trace.as_str()]].concat());
        let extract = format!("{}wx", trace.strip_suffix('l').unwrap());
        run(&["lake", "add", text(&other), &extract]);
    }
    assert_eq!(listed(&lake), listed(&other));
    assert_eq!(listed(&lake).len(), 2);
    // Again, with a file that is not a trace and an extract that is kept.
    let junk = in_folder("junk.etl");
    std::fs::write(&junk, "junk").unwrap();
    let kept = in_folder("kept");
    std::fs::create_dir(&kept).unwrap();
    let out = ["--json", "--out", text(&kept), "--lake", text(&lake)];
    let again = run(&[&options[..], &out, &[traces[0].as_str(), text(&junk)]].concat());
    assert_eq!(again.exit, Exit::Error);
    let lines = json_lines(&again.out);
    assert_eq!(lines[0]["extract"], text(&kept.join("run.etwx")));
    let expected = serde_json::json!({"added": [], "replaced": [], "known": ["run"]});
    assert_eq!(lines.last(), Some(&expected));
    assert!(kept.join("run.etwx").exists());
    let no_lake = run(&["extract", "--lake", text(&kept), &traces[0]]);
    assert!(no_lake.err.contains("expected a lake"), "{}", no_lake.err);
}

#[test]
fn errors_of_lakes_have_hints() {
    let folder = tempfile::tempdir().unwrap();
    let error = |args: &[&str]| {
        let answer = run(args);
        assert_eq!(answer.exit, Exit::Error, "{args:?}");
        answer.err
    };
    let place = text(folder.path());
    let err = error(&["lake", "list", place]);
    assert!(
        err.contains("hint: `etwkit lake init LAKE` makes one"),
        "{err}"
    );
    let lake = folder.path().join("lake");
    run(&["lake", "init", text(&lake)]);
    let err = error(&["sql", text(&lake), "SELECT 1"]);
    assert!(
        err.contains("no run is in the lake") && err.contains("hint: `etwkit lake add "),
        "{err}"
    );
    let err = error(&["lake", "init", text(&lake)]);
    assert!(err.contains("it is a lake already"), "{err}");
    let unknown = format!("{}#0123456789abcdef", lake.display());
    let err = error(&["sql", &unknown, "SELECT 1"]);
    assert!(err.contains("there is no run 0123456789abcdef"), "{err}");
}

#[test]
fn a_lake_without_the_files_of_its_runs_does_not_answer() {
    let farm = Farm::new();
    let lake = farm.lake();
    std::fs::remove_dir_all(lake.join("process")).unwrap();
    let answer = run(&["sql", text(&lake), "SELECT count(*) FROM process"]);
    assert_eq!(answer.exit, Exit::Error, "{}", answer.out);
    assert!(
        answer.err.contains("rows of its runs, found fewer")
            && answer.err.contains("hint: `etwkit lake check LAKE`"),
        "{}",
        answer.err
    );
    let checked = run(&["lake", "check", text(&lake)]);
    assert_eq!(checked.exit, Exit::Error);
    assert!(
        checked.err.contains("error: process: rows of the run ")
            && checked.err.contains("the table is missing"),
        "{}",
        checked.err
    );
}

/// Reads a lake with delta-rs, which also writes a checkpoint, after which the first commit is deleted.
const OF_DELTA: &str = "
import sys, glob, os, duckdb
from deltalake import DeltaTable
lake = sys.argv[1]
run = DeltaTable(lake + '/run').to_pyarrow_table()
process = DeltaTable(lake + '/process')
rows = process.to_pyarrow_table()
keys = set(zip(run['run_id'].to_pylist(), run['run_generation'].to_pylist()))
live = [k for k in zip(rows['run_id'].to_pylist(), rows['run_generation'].to_pylist()) if k in keys]
print(len(keys), len(live))
files = lake + '/process/*/*.parquet'
runs = lake + '/run/*/*.parquet'
print(*duckdb.sql(f'''SELECT count(DISTINCT p.run_id), count(*) FROM read_parquet('{files}') p
    SEMI JOIN read_parquet('{runs}') r ON r.run_id = p.run_id AND r.run_generation = p.run_generation''').fetchall()[0])
print(sorted(run['labels'].to_pylist(), key=str) == [[]] * len(keys), run['tables'].to_pylist()[0] != [])
process.create_checkpoint()
os.remove(lake + '/process/_delta_log/00000000000000000000.json')
";

#[test]
fn others_read_a_lake_and_their_checkpoints_are_read() {
    let test = "lake::others_read_a_lake_and_their_checkpoints_are_read";
    let Some(mut python) = etwkit_testkit::python(test) else {
        return;
    };
    let farm = Farm::new();
    let lake = farm.lake();
    let counted = || {
        let sql = "SELECT count(DISTINCT run_id) AS runs, count(*) AS n FROM process";
        let answer = run(&["sql", "--format", "csv", text(&lake), sql]);
        let line = answer
            .out
            .lines()
            .nth(1)
            .unwrap_or_default()
            .replace(',', " ");
        assert!(!line.is_empty(), "{}", answer.err);
        line
    };
    let before = counted();
    let printed = etwkit_testkit::output_of(python.args(["-c", OF_DELTA, text(&lake)]));
    assert_eq!(printed, format!("{before}\n{before}\nTrue True\n"));
    assert_eq!(counted(), before);
    // The log goes on after the checkpoint.
    let extract = &farm.runs[0].0;
    let name = Path::new(extract).file_stem().unwrap().to_str().unwrap();
    run(&[
        "lake",
        "drop",
        text(&lake),
        "--where",
        &format!("name = '{name}'"),
    ]);
    run(&["lake", "add", text(&lake), extract]);
    assert_eq!(counted(), before);
    let checked = run(&["lake", "check", text(&lake)]);
    assert_eq!(checked.exit, Exit::Answered, "{}", checked.err);
}

/// Reads tables with delta-rs, before and after all commits are deleted.
const WITHOUT_COMMITS: &str = "
import sys, glob, os
from deltalake import DeltaTable
for name in ('process', 'run'):
    path = sys.argv[1] + '/' + name
    rows = DeltaTable(path).to_pyarrow_table().num_rows
    for commit in glob.glob(path + '/_delta_log/*.json'):
        os.remove(commit)
    table = DeltaTable(path)
    print(name, table.version(), table.to_pyarrow_table().num_rows == rows)
";

#[test]
fn others_read_the_checkpoints_of_a_lake() {
    let test = "lake::others_read_the_checkpoints_of_a_lake";
    let Some(mut python) = etwkit_testkit::python(test) else {
        return;
    };
    let farm = Farm::new();
    let lake = farm.lake();
    run(&["lake", "compact", text(&lake)]);
    let counted = || {
        let sql = "SELECT count(DISTINCT run_id) AS runs, count(*) AS n FROM process";
        run(&["sql", "--format", "csv", text(&lake), sql]).out
    };
    let before = counted();
    let printed = etwkit_testkit::output_of(python.args(["-c", WITHOUT_COMMITS, text(&lake)]));
    assert_eq!(printed, "process 3 True\nrun 4 True\n");
    assert_eq!(counted(), before);
    let checked = run(&["lake", "check", text(&lake)]);
    assert_eq!(checked.exit, Exit::Answered, "{}", checked.err);
}

#[test]
fn the_page_refuses_a_lake() {
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake");
    assert_eq!(run(&["lake", "init", text(&lake)]).exit, Exit::Answered);
    let of_lake = format!("{}#0123456789abcdef", lake.display());
    for named in [text(&lake), &of_lake] {
        let refused = run(&["view", "--no-open", named]);
        assert_eq!(refused.exit, Exit::Error);
        assert!(
            refused
                .err
                .contains("the page does not open the runs of a lake"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn names_are_not_loaded_into_a_lake() {
    let farm = Farm::new();
    let lake = farm.lake();
    for named in [text(&lake), &farm.runs[0].1] {
        let refused = run(&["symbols", "load", named]);
        assert_eq!(refused.exit, Exit::Error);
        let sentence = format!(
            "error: `etwkit symbols load` does not open the runs of a lake: {}",
            farm.runs[0].1
        );
        assert!(refused.err.starts_with(&sentence), "{}", refused.err);
        assert!(
            refused
                .err
                .contains("hint: load the names into the extract of the run"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn exports_of_a_run_are_those_of_its_extract() {
    let farm = Farm::new();
    let file = farm.folder.path().join("exported");
    let exported = |of: &str| {
        let options = ["--all-processes", "--format", "perfetto"];
        let out = ["--force", "--out", text(&file), of];
        let answer = run(&[&["export"][..], &options, &out].concat());
        assert_ne!(answer.exit, Exit::Error, "{of}: {}", answer.err);
        std::fs::read(&file).unwrap()
    };
    let (extract, name) = &farm.runs[1];
    assert_eq!(exported(extract), exported(name));
}

#[test]
fn no_command_takes_the_address_of_another_kind_of_place_for_a_folder() {
    let lake = "abfs://traces/farm";
    let extract = trace("dns-5.etl");
    for words in [
        &["lake", "init", lake][..],
        &["lake", "add", lake, &extract],
        &["lake", "list", lake],
        &["lake", "check", lake],
        &["lake", "compact", lake],
        &["lake", "vacuum", lake],
        &["lake", "drop", lake, "--where", "true"],
        &["extract", "--lake", lake, &extract],
        &["info", lake],
        &["dump", "process", lake],
        &["sql", lake, "SELECT 1"],
        &["diff", &extract, lake],
        &["explain", lake],
        &["diagnose", lake],
        &["view", lake],
    ] {
        let refused = run(words);
        assert_eq!(refused.exit, Exit::Error, "{words:?}");
        let said = "abfs://traces/farm: expected a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER";
        assert!(refused.err.contains(said), "{words:?}: {}", refused.err);
    }
    assert!(!Path::new("abfs:").exists());
}

#[cfg(not(feature = "object-store"))]
#[test]
fn a_bucket_is_an_error_that_says_how_to_open_it() {
    for lake in ["s3://traces/farm", "az://traces/farm", "gs://traces/farm"] {
        for words in [
            &["lake", "init", lake][..],
            &["lake", "add", lake, "slow.etwx"],
            &["lake", "list", lake],
            &["extract", "--lake", lake, &trace("dns-5.etl")],
            &["sql", lake, "SELECT 1"],
            &["dump", "process", lake],
            &["explain", lake],
        ] {
            let refused = run(words);
            assert_eq!(refused.exit, Exit::Error, "{words:?}");
            let said = format!("cannot open lakes in buckets: {lake}");
            for said in [&said, "--features object-store"] {
                assert!(refused.err.contains(said), "{words:?}: {}", refused.err);
            }
        }
    }
}
