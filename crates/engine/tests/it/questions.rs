//! Declared questions by name and JSON, to traces and extracts.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use etwkit_engine::{
    Asking, Engine, Error, ExtractAnswer, Extracting, Progress, question, questions,
};
use etwkit_question::{Answer, Values};
use etwkit_sql::rename::RenameRules;
use serde_json::{Map, Value, json};

use super::support::{Place, answers};

/// Returns the answers of a question to values in JSON.
fn ask(
    engine: &Engine,
    asking: &Asking,
    paths: &[PathBuf],
    name: &str,
    values: &Value,
) -> Vec<ExtractAnswer<Answer>> {
    let mut request = question(name)
        .unwrap()
        .read(values.as_object().unwrap())
        .unwrap();
    answers(engine, asking, paths, &mut *request).unwrap()
}

/// The rows of the first table.
fn rows(asked: &ExtractAnswer<Answer>) -> Vec<Map<String, Value>> {
    let (_, answer) = asked.answer.as_ref().unwrap();
    let part = &answer.as_ref().unwrap().parts[0];
    (0..part.table.len())
        .map(|row| part.table.record(row).unwrap())
        .collect()
}

#[test]
fn a_question_in_json_has_the_rows_of_its_answer() {
    let place = Place::new();
    let paths = [place.trace.clone()];
    let all = ask(
        &place.engine,
        &Asking::default(),
        &paths,
        "process",
        &json!({}),
    );
    assert!(
        all[0].notes[0].ends_with("which later questions use"),
        "{:?}",
        all[0].notes
    );
    assert!(rows(&all[0]).len() > 3);
    // The choice of the question, and the extract that now exists.
    let name = rows(&all[0])[0]["name"].as_str().unwrap().to_owned();
    let one = ask(
        &place.engine,
        &Asking::default(),
        &paths,
        "process",
        &json!({ "process": name }),
    );
    assert!(one[0].notes.is_empty(), "{:?}", one[0].notes);
    assert!(rows(&one[0]).iter().all(|row| row["name"] == *name) && !rows(&one[0]).is_empty());
    assert_eq!(place.extracts().len(), 1);
}

/// Every declared question, also those that find nothing to answer.
#[test]
fn every_question_can_be_asked() {
    let place = Place::new();
    for question in questions() {
        let name = question.name();
        let Ok(mut request) = question.read(&Values::new()) else {
            panic!("{name} has no defaults")
        };
        let only = std::slice::from_ref(&place.trace);
        match answers(&place.engine, &Asking::default(), only, &mut *request) {
            Ok(all) => match &all[0].answer {
                Ok((_, Ok(answer))) if request.of_names().is_some() => {
                    assert_eq!(answer.len(), 1, "{name}");
                }
                Ok((trace, Ok(_))) => {
                    assert!(trace.file_name.contains("office"), "{}", trace.file_name);
                }
                // A comparison of one trace.
                Ok((_, Err(etwkit_question::Error::WrongCount { .. }))) if name == "diff" => {}
                Ok((_, Err(nothing))) => assert!(nothing.is_nothing(), "{name}: {nothing}"),
                Err(error) => panic!("{name}: {error}"),
            },
            // It requires a file that was not named.
            Err(Error::Files(error)) => {
                assert!(error.to_string().contains("is needed"), "{name}: {error}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// Answers are handed on one by one: after an error of `take` there is no further one.
#[test]
fn the_first_error_of_taking_ends_a_question() {
    let place = Place::new();
    let paths = vec![place.trace.clone(); 3];
    let mut request = question("process").unwrap().read(&Values::new()).unwrap();
    let mut taken = 0;
    let asked = place
        .engine
        .ask(&Asking::default(), &paths, &mut *request, |request, one| {
            taken += 1;
            assert!(one.answer.is_ok() && !request.is_of_all());
            Err(Error::from(etwkit_question::Error::OfNames))
        });
    assert!(asked.is_err());
    assert_eq!(taken, 1);
}

/// A question to names opens no file: the files need not even be traces.
#[test]
fn names_of_recordings_are_asked_without_opening_them() {
    let place = Place::new();
    let folder = place.folder.path().join("runs");
    std::fs::create_dir(&folder).unwrap();
    for name in [
        "Open_1100msCLIENT.20200717-120000.etl",
        "Close_450msCLIENT.20200718-121000.etl",
        "notes.txt",
    ] {
        std::fs::write(folder.join(name), name).unwrap();
    }
    let all = |values: Value| {
        let answered = ask(
            &place.engine,
            &Asking::default(),
            std::slice::from_ref(&folder),
            "test-run",
            &values,
        );
        assert!(answered[0].notes.is_empty(), "{:?}", answered[0].notes);
        let key = |row: &Map<String, Value>| (row["run"].clone(), row["test_case"].clone());
        rows(&answered[0]).iter().map(key).collect::<Vec<_>>()
    };
    assert_eq!(
        all(json!({})),
        [(json!(0), json!("Open")), (json!(1), json!("Close"))]
    );
    assert_eq!(
        all(json!({"test-case": "C*"})),
        [(json!(1), json!("Close"))]
    );
    assert_eq!(
        all(json!({"test-time": "..500;1s..", "test-run-count": 1})),
        [(json!(0), json!("Open"))]
    );
}

/// An extract that cannot be opened has an error as its answer, and the others answer.
#[test]
fn one_bad_extract_leaves_the_others() {
    let place = Place::new();
    let paths = [place.folder.path().join("none.etwx"), place.trace.clone()];
    let asked = ask(
        &place.engine,
        &Asking::default(),
        &paths,
        "process",
        &json!({"top": 1}),
    );
    let error = asked[0].answer.as_ref().err().unwrap();
    assert!(
        error.to_string().ends_with("none.etwx") && error.hint().is_some(),
        "{error:?}"
    );
    assert!(!rows(&asked[1]).is_empty());
    let twice = [place.trace.clone(), place.trace.clone()];
    let error = place
        .engine
        .open(&Asking::default(), &twice, &mut Vec::new())
        .unwrap_err();
    assert!(error.to_string().starts_with("named twice: "), "{error}");
}

/// Rules of one question do not rename the processes of another one, though both ask the same open
/// extract.
#[test]
fn names_belong_to_the_question() {
    let place = Place::new();
    let extract = place
        .engine
        .extract_of(&Asking::default(), &place.trace, &mut Vec::new())
        .unwrap();
    place.engine.pool().want([extract.clone()]);
    let names = |asking: &Asking| {
        let all = ask(
            &place.engine,
            asking,
            std::slice::from_ref(&extract),
            "process",
            &json!({}),
        );
        let name = |row: Map<String, Value>| row["name"].as_str().unwrap_or_default().to_owned();
        rows(&all[0]).into_iter().map(name).collect::<Vec<_>>()
    };
    let plain = names(&Asking::default());
    let first = plain.iter().find(|name| name.ends_with(".exe")).unwrap();
    let rules = format!(
        "<ProcessRenamer><ProcessRenamers><RenameRule><ExeName>{first}</ExeName><CmdLineSubstrings/>\
         <NotCmdLineSubstrings/><NewExeName>renamed.exe</NewExeName></RenameRule>\
         </ProcessRenamers></ProcessRenamer>"
    );
    let rules = RenameRules::parse("rules", rules.as_bytes()).unwrap();
    let renamed = Asking {
        process_names: Some(Arc::new(rules)),
        ..Asking::default()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(names(&renamed).contains(&"renamed.exe".to_owned())));
            scope.spawn(|| assert_eq!(names(&Asking::default()), plain));
        }
    });
    assert_eq!(place.engine.pool().open_count(), 1);
}

/// Counts the reported steps.
#[derive(Debug, Default)]
struct Counting {
    asked: Mutex<Vec<(usize, usize)>>,
    steps: Arc<AtomicUsize>,
}

impl Progress for Counting {
    fn asked(&self, done: usize, of: usize) {
        self.asked.lock().unwrap().push((done, of));
    }

    fn extracting(&self, _: &std::path::Path) -> Extracting {
        let steps = self.steps.clone();
        Box::new(move |_| {
            steps.fetch_add(1, Ordering::Relaxed);
            std::ops::ControlFlow::Continue(())
        })
    }
}

#[test]
fn whoever_asks_hears_how_far_it_is() {
    let place = Place::new();
    let progress = Arc::new(Counting::default());
    let asking = Asking {
        progress: progress.clone(),
        ..Asking::default()
    };
    let copy = place.folder.path().join("copy.etl");
    std::fs::copy(&place.trace, &copy).unwrap();
    ask(
        &place.engine,
        &asking,
        &[place.trace.clone(), copy],
        "process",
        &json!({}),
    );
    assert_eq!(*progress.asked.lock().unwrap(), [(1, 2), (2, 2)]);
    assert!(progress.steps.load(Ordering::Relaxed) > 0);
}
