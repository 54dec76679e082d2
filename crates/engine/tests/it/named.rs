//! Arguments of a command line that name recordings.

use std::path::{Path, PathBuf};

use etwkit_engine::{InputKind, named, places};

/// A folder with empty files; names that end with `.etwx` are folders, as extracts are.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if file.ends_with(".etwx") {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::write(path, "").unwrap();
        }
    }
    folder
}

const FILES: [&str; 11] = [
    "runs/A_1msP.20200717-120200.etl",
    "runs/A_1msP.20200717-120200.etwx",
    "runs/B_1msP.20200717-120100.etl",
    "runs/C_1msP.20200717-120000.etwx.zip",
    "hidden/.hidden.etwx",
    "runs/notes.txt",
    "runs/deep/one/d.etwx",
    "runs/deep/one/d.etwx/manifest.json",
    "runs/deep/two/e.7z",
    "runs/deep/two/f[1].etl",
    "other/g.etl",
];

fn words(folder: &Path, words: &[&str]) -> Vec<PathBuf> {
    // Lists keep their sign in front.
    let word = |word: &&str| match word.strip_prefix('@') {
        Some(list) => PathBuf::from(format!("@{}", folder.join(list).display())),
        None => folder.join(word),
    };
    words.iter().map(word).collect()
}

fn short(folder: &Path, paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| {
        path.strip_prefix(folder)
            .unwrap()
            .display()
            .to_string()
            .replace('\\', "/")
    };
    paths.iter().map(name).collect()
}

#[test]
fn files_folders_and_patterns_name_what_can_be_asked() {
    let folder = folder(&FILES);
    let (a, b, c) = (
        "runs/A_1msP.20200717-120200.etwx",
        "runs/B_1msP.20200717-120100.etl",
        "runs/C_1msP.20200717-120000.etwx.zip",
    );
    let (d, e, f) = (
        "runs/deep/one/d.etwx",
        "runs/deep/two/e.7z",
        "runs/deep/two/f[1].etl",
    );
    for (named_by, expected) in [
        // As they are named, even if nothing is there: opening it reports that.
        (
            &["other/g.etl", "nowhere.etl"][..],
            &["other/g.etl", "nowhere.etl"][..],
        ),
        (
            &["other/g.etl", "other/g.etl"],
            &["other/g.etl", "other/g.etl"],
        ),
        // An extract is not a folder; any other folder means its contents, by time, with extracts
        // for traces.
        (&[d], &[d]),
        (&["runs"], &[c, b, a]),
        // So is a pattern, in any case of letters. It finds no hidden names.
        (&["runs/*"], &[c, b, a]),
        (&["runs/*.etl"], &[b, "runs/A_1msP.20200717-120200.etl"]),
        (&["runs/b_*.ETL"], &[b]),
        (&["runs/?_1msp.20200717-1201*"], &[b]),
        (&["hidden/.h*"], &["hidden/.hidden.etwx"]),
        (&["runs/deep/*/*"], &[d, e, f]),
        (&["*/g.etl"], &["other/g.etl"]),
        (&["runs/**/*.7z"], &[e]),
        (&["runs/**/d.etwx"], &[d]),
        // Names without a time are first, by path.
        (&["runs/**"], &[d, e, f, c, b, a]),
        (&["**/deep/**/e.*"], &[e]),
        // A name with signs of a pattern is a name if it is there.
        (&[f], &[f]),
        // A file that is found twice, or found and named, is listed once, at its first place.
        (
            &["runs/**/e.*", "runs/deep/two", "runs/deep/two/e.7z"],
            &[e, f],
        ),
        (&["runs/deep/two/e.7z", "runs/deep/two"], &[e, f]),
    ] {
        let found = named(&words(folder.path(), named_by), InputKind::Answers, false);
        let found = found.unwrap_or_else(|error| panic!("{named_by:?}: {error}"));
        assert_eq!(short(folder.path(), &found), expected, "{named_by:?}");
    }
    let deep = named(
        &words(folder.path(), &["runs/deep"]),
        InputKind::Answers,
        true,
    )
    .unwrap();
    assert_eq!(short(folder.path(), &deep).len(), 3);
}

#[test]
fn those_who_read_traces_get_traces() {
    let folder = folder(&FILES);
    let (a, b) = (
        "runs/A_1msP.20200717-120200.etl",
        "runs/B_1msP.20200717-120100.etl",
    );
    let of = |wanted, word| {
        short(
            folder.path(),
            &named(&words(folder.path(), &[word]), wanted, false).unwrap(),
        )
    };
    assert_eq!(of(InputKind::Sources, "runs"), [b, a]);
    assert_eq!(of(InputKind::Session, "runs/*"), [b, a]);
    // The reader of one session reports the problem with a folder.
    assert_eq!(of(InputKind::Session, "runs"), ["runs"]);
    // A choice of names sees both of a trace and its extract.
    let both = places(&words(folder.path(), &["runs/a_*", "other"])).unwrap();
    assert_eq!(
        short(folder.path(), &both),
        [a, "runs/A_1msP.20200717-120200.etwx", "other"]
    );
}

#[test]
fn folders_and_patterns_have_one_order_in_which_numbers_count() {
    let sorted = ["n/run1.etl", "n/run2.etl", "n/run10.etl", "n/run11.etwx"];
    let folder = folder(&["n/run11.etwx", "n/run10.etl", "n/run1.etl", "n/run2.etl"]);
    for word in ["n", "n/*", "n/run*"] {
        let found = named(&words(folder.path(), &[word]), InputKind::Answers, false).unwrap();
        assert_eq!(short(folder.path(), &found), sorted, "{word}");
    }
}

#[test]
fn lists_name_what_their_lines_name() {
    let folder = folder(&FILES);
    let in_folder = |line: &str| folder.path().join(line).display().to_string();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let lines = [
        "\u{feff}# nightly".to_owned(),
        String::new(),
        format!("  {}  ", in_folder("runs/B_1msP.20200717-120100.etl")),
        in_folder("runs/*.etl"),
        in_folder("other"),
        in_folder("other/g.etl"),
    ];
    write("list.txt", &lines.join("\r\n"));
    let found = named(
        &words(folder.path(), &["@list.txt"]),
        InputKind::Answers,
        false,
    )
    .unwrap();
    let expected = [
        "runs/B_1msP.20200717-120100.etl",
        "runs/A_1msP.20200717-120200.etl",
        "other/g.etl",
    ];
    assert_eq!(short(folder.path(), &found), expected);
    // A file with this name is that file.
    write("@x.etl", "");
    let path = folder.path().join("@x.etl");
    assert_eq!(
        named(std::slice::from_ref(&path), InputKind::Answers, false).unwrap(),
        [path]
    );
}

#[test]
fn a_list_names_lakes_in_buckets() {
    let folder = folder(&[]);
    let lake = PathBuf::from("s3://traces/farm*");
    let run = PathBuf::from("s3://traces/farm#0000000000000001");
    let azure = PathBuf::from("az://traces/farm");
    let google = PathBuf::from("gs://traces/farm");
    let lines = [&lake, &run, &azure, &google].map(|place| format!("{}\n", place.display()));
    std::fs::write(folder.path().join("list.txt"), lines.concat()).unwrap();
    let listed = places(&words(folder.path(), &["@list.txt"])).unwrap();
    assert_eq!(listed, [lake, run, azure, google]);
}

#[test]
fn a_lake_is_no_folder_of_traces() {
    let folder = folder(&[]);
    let lake = folder.path().join("farm");
    std::fs::create_dir_all(lake.join("run").join("_delta_log")).unwrap();
    let run = folder.path().join("farm#0123456789abcdef");
    for path in [
        lake,
        run,
        "az://traces/farm".into(),
        "gs://traces/farm".into(),
    ] {
        for wanted in [InputKind::Sources, InputKind::Session] {
            let error = named(std::slice::from_ref(&path), wanted, false).unwrap_err();
            let says = format!("a lake has rows and no traces: {}", path.display());
            assert_eq!(error.to_string(), says);
            assert!(error.hint().unwrap().contains("lake list"));
        }
    }
}

#[test]
fn an_address_of_another_store_is_not_a_missing_file() {
    let folder = folder(&[]);
    for address in ["gcs://farm/*.etl", "abfs://farm/a.etwx"] {
        let says = format!(
            "cannot open {address}: expected a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER \
             or gs://BUCKET/FOLDER"
        );
        for wanted in [InputKind::Answers, InputKind::Sources, InputKind::Session] {
            let error = named(&[address.into()], wanted, false).unwrap_err();
            assert_eq!(error.to_string(), says);
            assert!(error.hint().is_some(), "{address}");
        }
        assert_eq!(places(&[address.into()]).unwrap_err().to_string(), says);

        std::fs::write(folder.path().join("list.txt"), format!("\n{address}\n")).unwrap();
        let error = places(&words(folder.path(), &["@list.txt"])).unwrap_err();
        assert!(error.to_string().ends_with("list.txt, line 2"), "{error}");
        let cause = std::error::Error::source(&error).unwrap();
        assert_eq!(cause.to_string(), says);
    }
}

#[test]
fn what_names_nothing_is_said_with_its_line() {
    let folder = folder(&FILES);
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let here = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    write("none.txt", "\n# nothing\n");
    write("missing.txt", &format!("\n{here}missing.etl\n"));
    write("pattern.txt", &format!("# one\n{here}*.etl"));
    write("place.txt", &format!("{here}empty"));
    write("other.txt", "x\n@list.txt");
    std::fs::write(folder.path().join("bytes.txt"), [0xff, 0xfe, 0, 1]).unwrap();
    for (word, wanted, message) in [
        (
            "empty",
            InputKind::Answers,
            "no trace and no extract is in the folder HERE/empty",
        ),
        (
            "empty",
            InputKind::Sources,
            "no trace is in the folder HERE/empty",
        ),
        (
            "runs/*.bmp",
            InputKind::Answers,
            "no trace and no extract matches HERE/runs/*.bmp",
        ),
        (
            "runs/n*",
            InputKind::Answers,
            "no trace and no extract matches HERE/runs/n*",
        ),
        (
            "runs/*.zip",
            InputKind::Session,
            "no trace matches HERE/runs/*.zip",
        ),
        (
            "nowhere/**/*.etl",
            InputKind::Answers,
            "no trace and no extract matches HERE/nowhere/**/*.etl",
        ),
        (
            "@nowhere.txt",
            InputKind::Answers,
            "cannot read the list HERE/nowhere.txt",
        ),
        (
            "@none.txt",
            InputKind::Answers,
            "cannot read the list HERE/none.txt: it names nothing",
        ),
        (
            "@bytes.txt",
            InputKind::Answers,
            "cannot read the list HERE/bytes.txt: it is not text in UTF-8",
        ),
        (
            "@missing.txt",
            InputKind::Answers,
            "HERE/missing.txt, line 2: there is no HERE/missing.etl",
        ),
        (
            "@pattern.txt",
            InputKind::Session,
            "HERE/pattern.txt, line 2: no trace matches HERE/*.etl",
        ),
        (
            "@place.txt",
            InputKind::Answers,
            "HERE/place.txt, line 1: no trace and no extract is in the folder HERE/empty",
        ),
        (
            "@other.txt",
            InputKind::Answers,
            "cannot read the list HERE/other.txt, line 2: a list names no other lists, and @list.txt is one",
        ),
    ] {
        let error = named(&words(folder.path(), &[word]), wanted, false).expect_err(word);
        let text = error.to_string().replace(&here, "HERE/").replace('\\', "/");
        assert_eq!(text, message, "{word}");
        assert!(error.hint().is_some(), "{word}");
    }
    let dash = named(&["-".into()], InputKind::Answers, false).unwrap_err();
    assert!(
        dash.hint()
            .is_some_and(|hint| hint.contains("etwkit extract -")),
        "{dash}"
    );
    assert_eq!(
        named(&["-".into()], InputKind::Session, false).unwrap(),
        [PathBuf::from("-")]
    );
}

#[test]
fn a_pattern_without_matches_is_told_what_there_is() {
    let folder = folder(&[
        "nightly/run-1.etl.zip",
        "nightly/run-2.ETL.zip",
        "nightly/run-3.7z",
        "nightly/notes.txt",
        "empty/notes.txt",
    ]);
    let here = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    for (word, wanted, expected) in [
        (
            "nightly/*.etl",
            InputKind::Answers,
            "\"HERE/nightly/*.etl.zip\" has 2 matches",
        ),
        (
            "nightly/run-?.etwx",
            InputKind::Sources,
            "\"HERE/nightly/run-?.etl.zip\" has 2 matches",
        ),
        (
            "**/run-3*.etl",
            InputKind::Session,
            "\"HERE/**/run-3*.7z\" has 1 match",
        ),
        (
            "nightly/test*.etl",
            InputKind::Answers,
            "the folder HERE/nightly has 3 others, such as run-1.etl.zip",
        ),
        (
            "nowhere/*/*.etl",
            InputKind::Answers,
            "there is no folder HERE/nowhere",
        ),
        (
            "empty/*.etl",
            InputKind::Answers,
            "etwkit looks for names that end with",
        ),
    ] {
        let error = named(&words(folder.path(), &[word]), wanted, false).expect_err(word);
        let hint = error.hint().unwrap().replace(&here, "HERE/");
        let hint = hint.replace('\\', "/");
        assert!(hint.starts_with(expected), "{word}: {hint}");
    }
}
