//! Agents that ask wrongly, for too much or for much at once, or give up; and hostile names in traces.

use serde_json::{Value, json};

use super::{answer, call, driven, error, synth};
use crate::support::trace;

#[test]
fn wrong_arguments_say_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = [
        (
            call("open", json!({})),
            "path: expected a text, found nothing",
        ),
        (
            call("open", json!({"path": 7})),
            "path: expected a text, found 7",
        ),
        (
            call("open", json!({"path": "/no/such/trace.etl"})),
            "there is no file or folder /no/such/trace.etl",
        ),
        (
            call("open", json!({"path": "abfs://traces/a.etl"})),
            "cannot open abfs://traces/a.etl: expected a folder, s3://BUCKET/FOLDER, \
             az://CONTAINER/FOLDER or gs://BUCKET/FOLDER",
        ),
        (
            call("open", json!({"path": "a\u{1b}]0;x\u{7}\u{202e}.etl"})),
            "\\u{1b}]0;x\\u{7}\\u{202e}.etl",
        ),
        (
            call("health", json!({"trace": "t9"})),
            "there is no trace \"t9\"; open: t1",
        ),
        (
            call("health", json!({"trace": "t1", "verbose": true})),
            "\"verbose\" is not an argument of this tool; expected: trace",
        ),
        (
            call("ask", json!({"trace": "t1", "question": "cpuu"})),
            "there is no question \"cpuu\"",
        ),
        (
            call(
                "ask",
                json!({"trace": "t1", "question": "cpu", "options": {"tpo": 5}}),
            ),
            "\"tpo\" is no option; there are:",
        ),
        (
            call(
                "ask",
                json!({"trace": "t1", "question": "cpu", "options": {"top": "x"}}),
            ),
            "--top: expected a whole number",
        ),
        (
            call(
                "ask",
                json!({"trace": "t1", "question": "cpu", "options": {"range": "5..1"}}),
            ),
            "--range",
        ),
        (
            call("ask", json!({"trace": "t1", "question": "test-run"})),
            "test-run takes names of recordings",
        ),
        (
            call("ask", json!({"trace": "t1", "question": "cpu", "rows": 0})),
            "rows: expected a whole number from 1 to 500, found 0",
        ),
        (
            call("critical_path", json!({"trace": "t1", "range": "x"})),
            "--range",
        ),
        (
            call("sql", json!({"trace": "t1", "sql": "SELEC 1"})),
            "SELEC",
        ),
        (
            call(
                "sql",
                json!({"trace": "t1", "sql": "SELECT * FROM nothing"}),
            ),
            "nothing",
        ),
        (
            call("sql", json!({"trace": "t1", "sql": "DROP TABLE process"})),
            "",
        ),
        (
            call(
                "sql",
                json!({"trace": "t1", "sql": "COPY process TO 'x.csv'"}),
            ),
            "",
        ),
        (
            call(
                "sql",
                json!({"trace": "t1", "sql": "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'"}),
            ),
            "",
        ),
        (
            call("diff", json!({"before": "t1"})),
            "after: expected a text, found nothing",
        ),
    ];
    let mut steps = vec![call("open", json!({"path": trace("sched-5.etl")}))];
    steps.extend(wrong.iter().map(|(step, _)| step.clone()));
    steps.push(call("no_such_tool", json!({})));
    let Some(replies) = driven("wrong_arguments", folder.path(), &["mcp"], &steps.into()) else {
        return;
    };
    answer(&replies[0]);
    for ((step, expected), reply) in wrong.iter().zip(&replies[1..]) {
        let (message, _) = error(reply);
        assert!(message.contains(expected), "{step}\n{message}");
    }
    assert!(error(&replies[6]).1.contains("`open`"));
    assert!(error(&replies[8]).1.contains("similar: cpu"));
    assert!(
        replies.last().unwrap()["refused"]
            .as_str()
            .unwrap()
            .contains("there is no tool"),
        "{replies:#?}"
    );
}

#[cfg(unix)]
#[test]
fn only_files_of_the_named_folder_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("sched.etl");
    std::fs::copy(trace("sched-5.etl"), &inside).unwrap();
    let link = folder.path().join("link.etl");
    std::os::unix::fs::symlink(trace("sched-5.etl"), &link).unwrap();
    let paths = [
        inside.display().to_string(),
        trace("sched-5.etl"),
        link.display().to_string(),
        format!(
            "{}/../{}/sched.etl",
            folder.path().display(),
            "no-such-folder"
        ),
        "/etc/passwd".to_owned(),
    ];
    let steps: Vec<Value> = paths
        .iter()
        .map(|path| call("open", json!({"path": path})))
        .collect();
    let confined = ["mcp", "--folder", &folder.path().display().to_string()];
    let Some(replies) = driven("confined", folder.path(), &confined, &steps.into()) else {
        return;
    };
    answer(&replies[0]);
    for at in [1, 2, 4] {
        let (message, hint) = error(&replies[at]);
        assert!(message.ends_with("may not be opened"), "{message}");
        assert!(hint.starts_with("this server opens files in "), "{hint}");
    }
    let missing = error(&replies[3]).0;
    assert!(missing.starts_with("there is no file"), "{missing}");
}

#[test]
fn huge_answers_are_cut_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let generate =
        "SELECT ts_ns, repeat('x', 5000) AS text, 9007199254740993 AS large FROM cpu_sample";
    let on = |tool: &str, more: Value| {
        let mut arguments = json!({"trace": "t1"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call(tool, arguments)
    };
    let count = "SELECT count(*) AS n FROM context_switch c LEFT JOIN process p ON p.process_key = c.process_key \
                 WHERE (c.wait_ns IS NOT NULL OR c.is_open_wait) AND c.prev_state NOT IN (1, 3, 7) \
                   AND coalesce(p.pid, -1) <> 0";
    let steps = json!([
        call("open", json!({"path": trace("sched-5.etl")})),
        on("sql", json!({"sql": generate, "rows": 500})),
        on("sql", json!({"sql": count})),
        on(
            "ask",
            json!({"question": "wait", "options": {"by": "wait", "top": 0}, "rows": 7})
        ),
        on(
            "ask",
            json!({"question": "wait", "options": {"by": "wait", "top": 0}, "rows": 7, "skip": 7})
        ),
        on("ask", json!({"question": "overview", "rows": 500})),
        on("ask", json!({"question": "stats", "rows": 500})),
        on("health", json!({})),
    ]);
    let Some(replies) = driven("huge_answers", folder.path(), &["mcp"], &steps) else {
        return;
    };
    let texts = answer(&replies[1]);
    assert_eq!(
        (&texts["columns"][2], &texts["rows"][0][2]),
        (&json!("large"), &json!("9007199254740993"))
    );
    assert!(
        texts["rows"][0][1]
            .as_str()
            .unwrap()
            .ends_with("x… (4600 more characters)")
    );
    assert!(
        texts["cut"]["not_shown"].as_u64().unwrap() > 0 && texts["more"].is_string(),
        "{}",
        texts["cut"]
    );
    let all = answer(&replies[2])["rows"][0][0].as_u64().unwrap();
    let (first, second) = (answer(&replies[3]), answer(&replies[4]));
    let expected = json!({"shown": 7, "skipped": 0, "of": all, "not_shown": all - 7, "more": "ask again with skip 7"});
    assert_eq!(first["cut"], expected);
    assert_eq!(second["cut"]["skipped"], 7);
    assert_ne!(
        first["rows"][0], second["rows"][0],
        "the next page has other rows"
    );
    for reply in &replies {
        assert!(
            reply["bytes"].as_u64().unwrap() < 64_000,
            "{}",
            reply["bytes"]
        );
    }
}

#[test]
fn what_is_given_up_computes_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let endless = "SELECT count(*) FROM context_switch a, context_switch b, context_switch c, context_switch d \
                   WHERE a.in_ns + b.in_ns + c.in_ns + d.in_ns = 17";
    let endless = call("sql", json!({"trace": "t1", "sql": endless}));
    let steps = json!([
        call("open", json!({"path": trace("sched-5.etl")})),
        {"give_up": endless, "after": 3},
        call("sql", json!({"trace": "t1", "sql": "SELECT 1 AS one"})),
    ]);
    let Some(replies) = driven("what_is_given_up", folder.path(), &["mcp"], &steps) else {
        return;
    };
    assert_eq!(replies[1]["given_up"], true);
    if let Some(busy) = replies[1]["busy_seconds"].as_f64() {
        assert!(busy < 0.5, "it still computes: {busy} s of CPU in a second");
    }
    assert_eq!(answer(&replies[2])["rows"], json!([[1]]));
}

#[test]
fn twenty_at_once_are_answered_as_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let questions = ["cpu", "wait", "process", "cores", "stats"];
    let ask = |at: usize| {
        call(
            "ask",
            json!({"trace": "t1", "question": questions[at % questions.len()], "rows": 3}),
        )
    };
    let steps = json!([
        call("open", json!({"path": trace("sched-5.etl")})),
        {"together": (0..20).map(ask).collect::<Vec<_>>()},
        ask(0), ask(1), ask(2), ask(3), ask(4),
    ]);
    let Some(replies) = driven("twenty_at_once", folder.path(), &["mcp"], &steps) else {
        return;
    };
    let together = replies[1].as_array().unwrap();
    assert_eq!(together.len(), 20);
    for (at, one) in together.iter().enumerate() {
        assert_eq!(
            answer(one),
            answer(&replies[2 + at % questions.len()]),
            "{at}"
        );
    }
}

#[test]
fn names_of_a_trace_cannot_hide_anything() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = synth(folder.path(), "git-bash");
    // A path that would end a command line or a line of text, if anything let it.
    let hostile = folder.path().join("a'; reboot #\n\u{202e}lte.etl");
    if std::fs::rename(&path, &hostile).is_err() {
        return etwkit_testkit::skip("mcp::names_of_a_trace: such a name is none here");
    }
    let steps = json!([
        call("open", json!({"path": hostile})),
        call(
            "sql",
            json!({"trace": "t1", "sql": "SELECT chr(27) || '[2J' || chr(8238) AS name, 'a' || chr(10) || 'b' AS b"})
        ),
        call("view", json!({"trace": "t1"})),
    ]);
    let Some(replies) = driven("names_of_a_trace", folder.path(), &["mcp"], &steps) else {
        return;
    };
    let opened = answer(&replies[0]);
    assert!(
        opened["path"]
            .as_str()
            .unwrap()
            .ends_with("a'; reboot #\n\\u{202e}lte.etl"),
        "{opened}"
    );
    assert_eq!(
        answer(&replies[1])["rows"],
        json!([["\\u{1b}[2J\\u{202e}", "a\nb"]])
    );
    let command = answer(&replies[2])["command"].as_str().unwrap();
    let (view, path) = command.split_once('"').unwrap();
    assert_eq!(view, "etwkit view ");
    assert!(path.contains("a'; reboot #?"), "{command}");
    assert_eq!(path.find('"'), Some(path.len() - 1), "{command}");
}
