//! All declared questions, from their declarations: options, JSON of requests, every sink, over one and
//! several extracts.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use etwkit_engine::{Asking, Engine, Error, questions};
use etwkit_question::{AnyQuestion, Opt, OptionKind, Values, request_schema};
use etwkit_sql::arrow::array::{Array, AsArray, RecordBatch};
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int64Type};
use etwkit_sql::arrow::ipc::reader::StreamReader;
use etwkit_testkit::is_exhaustive;
use serde_json::{Map, Value, json};

use crate::not_recorded::REGIONS;
use crate::support::{Exit, run};
use crate::together::extracts;

/// Values that an option takes, as a command line has them.
fn values(option: &Opt) -> Vec<Value> {
    match &option.kind {
        OptionKind::Flag => vec![json!(true)],
        OptionKind::Text => vec![json!("x"), json!("1..2")],
        OptionKind::Several(words) => vec![json!(words[0]), json!(words.join(","))],
        OptionKind::Words(words) => words.iter().map(|word| json!(word)).collect(),
        OptionKind::Range(_) => vec![json!("1..2"), json!("..2"), json!("1..")],
        OptionKind::Whole(least, most) => vec![json!(least), json!(most.min(&1))],
        OptionKind::Number => vec![json!("0.5")],
        OptionKind::Files => vec![json!(["a.stacktags", "b.stacktags"])],
        OptionKind::List => vec![json!(["1..2"]), json!(["1..2", "3..4"])],
        OptionKind::Two => vec![json!(["Start*", "Stop*"])],
    }
}

#[test]
fn declarations_are_whole() {
    let mut names = BTreeSet::new();
    for question in questions() {
        let (name, options) = (question.name(), question.options());
        for known in question.aliases().iter().chain([&name]) {
            assert!(names.insert(*known), "{known} is called twice");
        }
        let sentences = options
            .iter()
            .map(|option| option.sentence)
            .chain([question.sentence()]);
        for sentence in sentences {
            let has_stop = sentence.ends_with('.') && !sentence.ends_with("...");
            assert!(!sentence.is_empty() && !has_stop, "{name}: {sentence:?}");
        }
        let words: BTreeSet<&str> = options.iter().map(|option| option.name).collect();
        assert_eq!(
            words.len(),
            options.len(),
            "{name}: an option is declared twice"
        );
        for option in &options {
            let others = option.excludes.iter().chain(option.requires.as_ref());
            let unknown: Vec<&&str> = others.filter(|other| !words.contains(**other)).collect();
            assert!(unknown.is_empty(), "{name} --{}: {unknown:?}", option.name);
            let fits = option
                .name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(fits, "{name} --{}", option.name);
        }
    }
}

/// A request is the same whether its values come from a command line, from JSON, or from itself.
#[test]
fn requests_come_back_from_json_as_they_went() {
    for question in questions() {
        let name = question.name();
        assert_eq!(
            question
                .read(&Values::new())
                .map(|request| request.write())
                .unwrap(),
            Values::new()
        );
        for option in question.options() {
            for value in values(&option) {
                let given = Map::from_iter([(option.name.to_owned(), value.clone())]);
                let Ok(request) = question.read(&given) else {
                    // The error names the option that a word needs beside it.
                    let error = question.read(&given).err().unwrap().to_string();
                    assert!(error.starts_with("--"), "{name}: {error}");
                    continue;
                };
                let written = request.write();
                assert!(
                    written.len() <= 1,
                    "{name} --{} {value}: {written:?}",
                    option.name
                );
                let again = question
                    .read(&written)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(again.write(), written, "{name} --{} {value}", option.name);
                for also in option.also {
                    let given = Map::from_iter([((*also).to_owned(), value.clone())]);
                    assert_eq!(
                        question.read(&given).unwrap().write(),
                        written,
                        "{name} --{also} {value}"
                    );
                }
            }
        }
        let wrong = Map::from_iter([("no-such-option".to_owned(), json!(1))]);
        let error = question.read(&wrong).err().unwrap().to_string();
        assert!(
            error.starts_with("\"no-such-option\" is no option; there are: "),
            "{name}: {error}"
        );
    }
}

#[test]
fn schemas_name_every_option_and_every_column() {
    for question in questions() {
        let schema = request_schema(question);
        for option in question.options() {
            let property = &schema["properties"][option.name];
            assert_eq!(
                property["description"],
                option.sentence,
                "{} --{}",
                question.name(),
                option.name
            );
        }
        let shown = run(&["dump", question.name(), "--show-schema"]);
        let shown: Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(shown["request"], schema);
        let fields = question.read(&Values::new()).unwrap().fields();
        assert!(!fields.is_empty(), "{}", question.name());
        for field in fields {
            let sentence = &shown["row"]["properties"][field.name]["description"];
            assert!(
                sentence
                    .as_str()
                    .is_some_and(|sentence| !sentence.is_empty()),
                "{} {}",
                question.name(),
                field.name
            );
        }
    }
}

#[test]
fn what_is_declared_needs_no_extract() {
    for (args, begins) in [
        (&["diagnose", "--show-schema"][..], "{"),
        (&["critical-path", "--show-schema"], "{"),
        (&["dump", "dns", "--show-sql"], "SELECT"),
    ] {
        let shown = run(args);
        assert_eq!(shown.exit, Exit::Answered, "{args:?}: {}", shown.err);
        assert!(shown.out.starts_with(begins), "{args:?}: {}", shown.out);
    }
    let without = run(&["dump", "dns"]);
    assert_eq!(without.exit, Exit::Error);
    assert!(
        without
            .err
            .contains("Usage: etwkit dump dns [OPTIONS] <EXTRACT>..."),
        "{}",
        without.err
    );
}

/// The extracts of a question: a comparison of one compares it with itself.
fn compared(question: &str, extracts: &[PathBuf]) -> Vec<PathBuf> {
    match extracts {
        [one] if question == "diff" => vec![one.clone(), one.clone()],
        all => all.to_vec(),
    }
}

fn lines(args: &[&str], extracts: &[PathBuf]) -> (Exit, String, String) {
    let extracts = compared(args[1], extracts);
    let paths = extracts.iter().map(|path| path.to_str().unwrap());
    let args: Vec<&str> = args.iter().copied().chain(paths).collect();
    let answer = run(&args);
    assert!(answer.exit != Exit::Error, "{args:?}: {}", answer.err);
    (answer.exit, answer.out, answer.err)
}

/// The objects of rows, without the first line and without what has no answer.
fn rows(out: &str) -> Vec<Value> {
    let all = out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|row| row.get("nothing").is_none() && row.get("incomplete").is_none())
        .collect()
}

/// What a question cannot be asked without: files, which options name.
fn needed(question: &dyn AnyQuestion, folder: &Path) -> Values {
    let options = question
        .options()
        .into_iter()
        .filter(|option| option.is_required);
    let named = options.map(|option| {
        let file = folder.join(option.name);
        let text = match option.name {
            "regions" => REGIONS,
            other => panic!("{}: what stands in the file of --{other}?", question.name()),
        };
        std::fs::write(&file, text).unwrap();
        (option.name.to_owned(), json!(file.to_str().unwrap()))
    });
    named.collect()
}

/// Values as options of a command line.
fn as_options(values: &Values) -> Vec<String> {
    let words = |(name, value): (&String, &Value)| {
        [format!("--{name}"), value.as_str().unwrap().to_owned()]
    };
    values.iter().flat_map(words).collect()
}

/// Three extracts that have rows for most questions, or all if tests are exhaustive.
fn some_extracts() -> Vec<PathBuf> {
    let mut extracts = extracts();
    if !is_exhaustive() {
        extracts.truncate(3);
    }
    extracts
}

/// Checks that a stream of Arrow has the rows of JSON with their values, and the columns that tell
/// extracts apart.
fn check_typed(name: &str, arrows: &Path, in_json: &[Value]) {
    let stream = StreamReader::try_new(std::fs::File::open(arrows).unwrap(), None).unwrap();
    let schema = stream.schema();
    for column in [
        "trace",
        "extract",
        "computer",
        "start_utc",
        "run_id",
        "labels",
    ] {
        assert!(
            schema.column_with_name(column).is_some(),
            "{name}: {column}"
        );
    }
    for field in schema.fields() {
        let is_documented = field.metadata().contains_key("doc") || field.name() == "table";
        assert!(is_documented, "{name}: {} is not declared", field.name());
    }
    let batches: Vec<RecordBatch> = stream.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1, "{name}");
    assert_eq!(batches[0].num_rows(), in_json.len(), "{name}");
    for (row, object) in in_json.iter().enumerate() {
        for (column, value) in object.as_object().unwrap() {
            let values = batches[0].column_by_name(column);
            let values = values.unwrap_or_else(|| panic!("{name}: no column {column}"));
            let found = match values.data_type() {
                _ if values.is_null(row) => Value::Null,
                DataType::Int64 => json!(values.as_primitive::<Int64Type>().value(row)),
                DataType::Float64 => json!(values.as_primitive::<Float64Type>().value(row)),
                DataType::Boolean => json!(values.as_boolean().value(row)),
                DataType::Utf8 => json!(values.as_string::<i32>().value(row)),
                // JSON has a text.
                DataType::Timestamp(..) => value.clone(),
                other => panic!("{name}: {column} is {other}"),
            };
            // Fractions of JSON may differ in their last digit when they are read again.
            let is_near = |a: f64, b: f64| (a - b).abs() <= a.abs() * 1e-12;
            let numbers = found.as_f64().zip(value.as_f64());
            let is_equal =
                found == *value || !value.is_i64() && numbers.is_some_and(|(a, b)| is_near(a, b));
            assert!(is_equal, "{name}: {column}: {found} and {value}");
        }
    }
}

/// One extract, several, and these in one list.
const TURNS: usize = 3;

/// Text, JSON lines, CSV and Arrow have the same rows, of one extract, of several, and as one list. Unless
/// tests are exhaustive, one question after the other takes the next of these, and goes to all sinks.
#[test]
fn every_question_answers_in_every_sink() {
    let folder = tempfile::tempdir().unwrap();
    let extracts = some_extracts();
    let csv = folder.path().join("rows.csv");
    let arrows = folder.path().join("rows.arrows");
    for (at, question) in questions().enumerate() {
        let name = question.name();
        // Tables of a report have different columns: a file, or one list, has those of one.
        let tables = question
            .options()
            .into_iter()
            .filter(|option| option.name == "table");
        let first = tables
            .filter_map(|option| values(&option).last()?.as_str().map(str::to_owned))
            .next();
        let table: Vec<&str> = first.iter().flat_map(|first| ["--table", first]).collect();
        let given = first
            .iter()
            .map(|first| ("table".to_owned(), json!(first)))
            .collect();
        let needed = as_options(&needed(question, folder.path()));
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        // An answer to names is one list already.
        let of_names = question
            .read(&Values::new())
            .is_ok_and(|request| request.of_names().is_some());
        let is_one = of_names || question.is_of_all();
        let merges: &[&[&str]] = if is_one { &[&[]] } else { &[&[], &["--merge"]] };
        // A comparison needs two extracts.
        let several = if question.is_of_all() {
            &extracts[..2]
        } else {
            &extracts[..]
        };
        for some in [&extracts[..1], several] {
            // One list of a single extract is what it is without the option.
            let is_usual = some.len() > 1 || is_exhaustive();
            let merges = if is_usual { merges } else { &merges[..1] };
            for (place, merge) in merges.iter().enumerate() {
                let is_single = some.len() == 1;
                let is_list = !is_single && place + 1 == merges.len();
                let is_turn = match at % TURNS {
                    0 => is_single,
                    1 => !is_single && merge.is_empty(),
                    _ => is_list,
                };
                if !is_turn && !is_exhaustive() {
                    continue;
                }
                let base = [&["dump", name][..], &needed, &table, *merge].concat();
                let (exit, out, _) = lines(&[&base[..], &["--json"]].concat(), some);
                let in_json = rows(&out);
                assert_eq!(
                    exit == Exit::Answered,
                    !in_json.is_empty(),
                    "{name} {merge:?}"
                );
                let (exit, text, _) = lines(&base, some);
                assert_eq!(
                    exit == Exit::Answered,
                    !in_json.is_empty(),
                    "{name} {merge:?}: {text}"
                );
                let to_file = ["--csv", csv.to_str().unwrap()];
                lines(&[&base[..], &to_file].concat(), some);
                let file = std::fs::read_to_string(&csv).unwrap();
                let mut reader = csv_rows(&file);
                let header = reader.remove(0);
                assert_eq!(reader.len(), in_json.len(), "{name} {merge:?}");
                let fields = question.read(&given).unwrap().fields();
                for field in fields {
                    assert!(
                        header.iter().any(|title| *title == field.name),
                        "{name}: {} in {header:?}",
                        field.name
                    );
                }
                let to_arrow = ["--force", "--out", arrows.to_str().unwrap()];
                lines(&[&base[..], &to_arrow].concat(), some);
                check_typed(name, &arrows, &in_json);
                for (row, object) in reader.iter().zip(&in_json) {
                    assert_eq!(
                        row.len(),
                        object.as_object().unwrap().len(),
                        "{name}: {row:?}"
                    );
                }
            }
        }
    }
}

/// Chains of waits are sentences, which one list has no place for.
#[test]
fn sentences_are_printed_for_each_extract() {
    let extracts = extracts();
    let chain = ["dump", "wait", "--chain", "--top", "1"];
    let (exit, printed, _) = lines(&chain, &extracts[..2]);
    assert!(
        exit == Exit::Answered && printed.contains("root: "),
        "{printed}"
    );
    assert_eq!(
        lines(&[&chain[..], &["--merge"]].concat(), &extracts[..2]).1,
        printed
    );
}

/// The records of a CSV file; no field of ours has a line break without quotes.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

/// A request through the engine gives the rows of the command line, whoever else asks at the same
/// time, and whoever gives up meanwhile.
#[test]
fn requests_through_the_engine_give_the_rows_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let extracts = some_extracts();
    let count = extracts.len();
    // One question after the other takes the next extract; with `ETWKIT_ALL` each takes all of them.
    let jobs: Vec<(&'static dyn AnyQuestion, &PathBuf)> = questions()
        .enumerate()
        .flat_map(|(at, question)| {
            let is_taken = move |of: usize| is_exhaustive() || of == at % count;
            let taken = extracts
                .iter()
                .enumerate()
                .filter(move |(of, _)| is_taken(*of));
            taken.map(move |(_, extract)| (question, extract))
        })
        .collect();
    let needed: HashMap<&str, Values> = questions()
        .map(|question| (question.name(), needed(question, folder.path())))
        .collect();
    let (engine, next) = (Engine::default(), AtomicUsize::new(0));
    thread::scope(|scope| {
        // One of nine asks a question that takes long, and is given up in the middle.
        let cancelled = Asking::default();
        let slow = engine
            .open(&cancelled, &extracts[..1], &mut Vec::new())
            .unwrap();
        let given_up = scope.spawn(move || {
            let all = "SELECT sum(a.out_ns % (b.out_ns + c.out_ns + d.out_ns))
                FROM context_switch a, context_switch b, context_switch c, context_switch d";
            slow.sql(all).and_then(etwkit_sql::Answer::collect)
        });
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((question, extract)) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let name = question.name();
                    let values = &needed[name];
                    let mut request = question.read(values).unwrap();
                    let only = compared(name, std::slice::from_ref(*extract));
                    let mut all = Vec::new();
                    engine
                        .ask(&Asking::default(), &only, &mut *request, |_, one| {
                            all.push(one);
                            Ok::<_, Error>(())
                        })
                        .unwrap();
                    let (_, answer) = all.remove(0).answer.unwrap();
                    let ours: Vec<Value> = answer.map_or_else(
                        |error| {
                            assert!(error.is_nothing(), "{name}: {error}");
                            Vec::new()
                        },
                        |answer| {
                            let asked = answer.parts.iter().filter(|part| !part.is_aside);
                            let tables = asked.flat_map(|part| {
                                (0..part.records().len())
                                    .map(|row| Value::from(part.typed(row).unwrap()))
                            });
                            // As text, since reading numbers back can change their last digit.
                            tables
                                .map(|row| serde_json::from_str(&row.to_string()).unwrap())
                                .collect()
                        },
                    );
                    let options = as_options(values);
                    let options = options.iter().map(String::as_str);
                    let line: Vec<&str> = ["dump", name, "--json"]
                        .into_iter()
                        .chain(options)
                        .collect();
                    let (_, out, _) = lines(&line, std::slice::from_ref(extract));
                    let mut theirs = rows(&out);
                    for row in theirs.iter_mut().filter(|_| request.of_names().is_none()) {
                        row.as_object_mut().unwrap().remove("trace");
                    }
                    assert_eq!(ours, theirs, "{name} {}", extract.display());
                }
            });
        }
        thread::sleep(std::time::Duration::from_millis(500));
        cancelled.cancel.ask();
        assert!(given_up.join().unwrap().is_err(), "it was given up");
    });
}

/// What `docs/questions.md` says: every question, its options and the columns of its rows, from the
/// declarations.
fn page() -> String {
    let mut page = String::from(
        "# Questions\n\nEvery question of `etwkit dump`, with its options and the columns of its rows as JSON and CSV have them. This page is made \
         from the declarations\n(`crates/questions/src`, `crates/analysis`); a test keeps it fresh. What the numbers mean stands in \
         [dump.md](dump.md) and [numbers](numbers).\nOptions that all questions share are shown by `etwkit dump QUESTION --help`, JSON schemas of \
         requests and rows by `--show-schema`.\n",
    );
    for question in questions() {
        page.push_str(&format!(
            "\n## {}\n\n{}.\n\n",
            question.name(),
            question.sentence()
        ));
        page.push_str("| option | takes | default | |\n|---|---|---|---|\n");
        for option in question.options() {
            let takes = match &option.kind {
                OptionKind::Flag => String::new(),
                OptionKind::Words(words) => words.join(", "),
                _ => option.value_name.to_owned(),
            };
            let default = option.default.clone().unwrap_or_default();
            let cells = [
                format!("`--{}`", option.name),
                takes,
                default,
                option.sentence.to_owned(),
            ];
            page.push_str(&format!(
                "| {} |\n",
                cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
            ));
        }
        page.push_str("\n| column | type | |\n|---|---|---|\n");
        for field in question.read(&Values::new()).unwrap().fields() {
            let kind = format!(
                "{}{}",
                field.kind,
                if field.is_optional {
                    ", may be missing"
                } else {
                    ""
                }
            );
            page.push_str(&format!(
                "| `{}` | {kind} | {} |\n",
                field.name,
                field.sentence.replace('|', "\\|")
            ));
        }
    }
    page
}

#[test]
fn the_page_of_questions_is_fresh() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/questions.md");
    let page = page();
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == page,
        "docs/questions.md is out of date; ETWKIT_BLESS=1 writes it"
    );
}
