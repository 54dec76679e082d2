//! Stacks unrolled, names of frames, and tags of stacks.

use std::sync::Arc;

use etwkit_sql::{Answer, Options, Session, Source};
use etwkit_trace::table::{Frame, Method, Module, Stack};
use etwkit_trace::tags::TagSet;

use super::support::{ask, error, rows};

fn frame(frame_id: i32, module_id: Option<i32>, rva: i64, method_id: Option<i32>) -> Frame {
    Frame {
        frame_id,
        module_id,
        rva: module_id.map(|_| rva),
        address: 0x7000 + rva,
        method_id,
        ..Frame::default()
    }
}

fn stack(stack_id: i32, parent_id: Option<i32>, frame_id: i32) -> Stack {
    Stack {
        stack_id,
        parent_id,
        frame_id,
        ..Stack::default()
    }
}

/// Two processes have loaded `a.dll`; `Run` is a method of it and calls itself through a frame
/// without name.
fn source(stacks: &[Stack]) -> Source {
    let module = |module_id, path: &str, name: &str| Module {
        module_id,
        path: path.into(),
        name: name.into(),
        ..Module::default()
    };
    let method = |method_id, name: &str, module_id| Method {
        method_id,
        name: name.into(),
        module_id,
        ..Method::default()
    };
    let tables = vec![
        rows(&[
            module(0, r"C:\a.dll", "a.dll"),
            module(1, r"c:\A.DLL", "A.DLL"),
            module(2, r"C:\App.dll", "App.dll"),
        ]),
        rows(&[
            method(0, "Run", None),
            method(1, "Jitted", Some(2)),
            method(2, "Stub", None),
        ]),
        rows(&[
            frame(0, Some(0), 0x10, Some(0)),
            frame(1, Some(0), 0x18, Some(0)),
            frame(2, Some(0), 0x1a2b, None),
            frame(3, Some(1), 0x1a2b, None),
            frame(4, None, 0x5, Some(1)),
            frame(5, None, 0x6, Some(2)),
            frame(6, None, 0x7, None),
        ]),
        rows(stacks),
    ];
    Source::batches("x", tables)
}

/// 0: Run ← 1: a.dll+0x1a2b ← 2: Run (elsewhere) ← 3: A.DLL+0x1a2b; 4: no module ← 5: JIT ← 6:
/// stub.
fn tree() -> Vec<Stack> {
    vec![
        stack(0, None, 0),
        stack(1, Some(0), 2),
        stack(2, Some(1), 1),
        stack(3, Some(2), 3),
        stack(4, None, 6),
        stack(5, Some(4), 4),
        stack(6, Some(5), 5),
    ]
}

fn session() -> Session {
    Session::new(vec![source(&tree())], &Options::default()).unwrap()
}

#[test]
fn frames_from_the_innermost_out() {
    let session = session();
    let sql = "SELECT frame_id, depth, first FROM stack_frame WHERE stack_id = 3 ORDER BY depth";
    assert_eq!(
        ask(&session, sql),
        "3|0|true\n1|1|true\n2|2|false\n0|3|false"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT count(*), count(DISTINCT stack_id) FROM stack_frame"
        ),
        "16|7"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT DISTINCT stack_id FROM stack_frame WHERE frame_id = 4 ORDER BY 1"
        ),
        "5\n6"
    );
    let sql = "SELECT stack_id, max(depth) FROM stack_frame WHERE stack_id IN (2, 4, 99) GROUP BY 1 ORDER BY 1";
    assert_eq!(ask(&session, sql), "2|2\n4|0");
    assert_eq!(
        ask(
            &session,
            "SELECT count(*) FROM stack_frame WHERE stack_id % 2 = 1 AND depth = 0"
        ),
        "3"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT stack_id FROM stack_frame WHERE stack_id > 100"
        ),
        ""
    );
    assert_eq!(
        ask(
            &session,
            "SELECT count(*) FROM (SELECT * FROM stack_frame LIMIT 3)"
        ),
        "3"
    );
}

#[test]
fn conditions_on_stacks_choose_before_frames_are_computed() {
    let plan = ask(
        &session(),
        "EXPLAIN SELECT * FROM stack_frame WHERE stack_id IN (SELECT 1) AND stack_id < 5 AND depth > 0",
    );
    assert!(
        plan.contains("full_filters=[stack_frame.stack_id < Int32(5)]"),
        "{plan}"
    );
}

#[test]
fn texts_of_frames() {
    let session = session();
    let text = |stack| {
        ask(
            &session,
            &format!("SELECT text FROM stack_text WHERE stack_id = {stack}"),
        )
    };
    assert_eq!(text(3), "A.DLL+0x1a2b\na.dll!Run\na.dll+0x1a2b\na.dll!Run");
    assert_eq!(text(6), "?!Stub\nApp.dll!Jitted\n?!0x7007");
    assert_eq!(text(7), "");
    let frames = session.frames().unwrap();
    let trace = frames.trace(0).unwrap();
    assert_eq!(
        trace
            .stack(3)
            .map(|frame| trace.text(frame))
            .collect::<Vec<_>>()
            .join("\n"),
        text(3)
    );
    assert_eq!(
        (trace.stacks(), trace.frames(), trace.stack(-1).count()),
        (7, 7, 0)
    );
}

/// A chain of a million callers, and names of 64 Ki on the way: texts are bounded, say so, and come
/// in batches that are.
#[test]
fn texts_of_stacks_without_end_are_cut_and_say_so() {
    let nodes = 1_000_000;
    let chain: Vec<Stack> = (0..nodes)
        .map(|id| stack(id, (id > 0).then(|| id - 1), 0))
        .collect();
    let session = Session::new(vec![source(&chain)], &Options::default()).unwrap();
    let text = ask(
        &session,
        "SELECT text FROM stack_text WHERE stack_id = 999999",
    );
    assert_eq!(text.matches("a.dll!Run\n").count(), 4096);
    assert!(
        text.ends_with("\n… (frames further out are left out)"),
        "{}",
        &text[text.len() - 100..]
    );
    let whole = ask(
        &session,
        "SELECT text FROM stack_text WHERE stack_id = 4095",
    );
    assert!(whole.matches("a.dll!Run").count() == 4096 && !whole.contains('…'));
    let counts =
        "SELECT count(*), max(octet_length(text)) FROM stack_text WHERE stack_id >= 999000";
    assert_eq!(ask(&session, counts), "1000|40997");

    let long = Method {
        method_id: 0,
        name: "x".repeat(1 << 16),
        ..Method::default()
    };
    let tables = vec![
        rows(&[long]),
        rows(&[frame(0, None, 0x10, Some(0))]),
        rows(&chain[..60]),
    ];
    let session = Session::new(vec![Source::batches("x", tables)], &Options::default()).unwrap();
    let text = ask(&session, "SELECT text FROM stack_text WHERE stack_id = 59");
    assert!(
        text.len() < (1 << 20) + (1 << 17) && text.ends_with("… (frames further out are left out)")
    );
    let total = "SELECT count(*) FROM stack_text WHERE text LIKE '%left out)'";
    // Sixteen frames of 64 KiB each are whole.
    assert_eq!(ask(&session, total), "44");
}

#[test]
fn stacks_are_found_by_their_frames() {
    let session = session();
    let found = |pattern: &str| {
        ask(
            &session,
            &format!(
                "SELECT stack_id FROM stack WHERE stack_contains(stack_id, '{pattern}') ORDER BY 1"
            ),
        )
        .replace('\n', ",")
    };
    assert_eq!(found("run"), "0,1,2,3");
    assert_eq!(found("a.dll+*"), "1,2,3");
    assert_eq!(found("app.dll!*;?!stub"), "5,6");
    assert_eq!(found("nothing"), "");
    assert_eq!(
        ask(
            &session,
            "SELECT stack_contains(99, '*'), stack_contains(0, 'Run')"
        ),
        "-|true"
    );
    let inside = "SELECT count(*) FROM stack WHERE stack_id IN (SELECT stack_id FROM stack WHERE stack_contains(stack_id, 'jit*'))";
    assert_eq!(ask(&session, inside), "2");
}

/// `Runs` for each stack with `Run`, in `a.dll` of any case or without a name; `Jit` only for code
/// without a file.
fn own_tags() -> Arc<[TagSet]> {
    let rules = r#"<Tag Name="">
        <Tag Name="Runs"><Entrypoint Module="a.dll" Method="Run"/></Tag>
        <Tag Name="Unnamed" Priority="1"><Entrypoint Module="A.dll" Method="*"/></Tag>
        <Tag Name="Jit"><Entrypoint Module="" Method="Jitted"/></Tag>
    </Tag>"#;
    let first = TagSet::read("own", &[("own.stacktags", rules.as_bytes())]).unwrap();
    let rules = rules.replace(r#"Priority="1""#, "");
    let second = TagSet::read("equal", &[("equal.stacktags", rules.as_bytes())]).unwrap();
    Arc::new([first, second])
}

#[test]
fn stacks_have_one_tag_of_each_set() {
    let session = session();
    session.use_tags(own_tags());
    let tags = |set: &str| {
        let sql = format!("SELECT stack_id, stack_tag(stack_id, '{set}') FROM stack ORDER BY 1");
        ask(&session, &sql).replace('\n', ",")
    };
    assert_eq!(
        tags("own"),
        "0|Unnamed,1|Unnamed,2|Unnamed,3|Unnamed,4|-,5|Jit,6|Jit"
    );
    // Of rules for the same frame the first of the file wins, else the frame nearest to the
    // innermost one.
    assert_eq!(
        tags("equal"),
        "0|Runs,1|Unnamed,2|Runs,3|Unnamed,4|-,5|Jit,6|Jit"
    );
    assert!(
        tags("default")
            .split(',')
            .all(|row| row.ends_with("|Other"))
    );
    // A stack that was not recorded, or is not there.
    let missing = "SELECT stack_tag(NULL, 'default'), stack_tag(99, 'default'), stack_tag(NULL, 'own'), stack_tag(0, NULL)";
    assert_eq!(ask(&session, missing), "Other|Other|-|-");
    let by_tag = "SELECT count(*) FROM stack GROUP BY stack_tag(stack_id, 'own') ORDER BY 1";
    assert_eq!(ask(&session, by_tag), "1\n2\n4");
}

#[test]
fn sets_of_tags_that_are_not_there_are_named() {
    let session = session();
    let refused = |sql: &str| {
        let answer = session.sql(sql).and_then(Answer::collect);
        answer.unwrap_err().to_string()
    };
    for sql in [
        "SELECT stack_tag(stack_id, 'own') FROM stack",
        "SELECT stack_tag(0, 'own')",
    ] {
        assert!(
            refused(sql).contains("there is no set 'own'"),
            "{}",
            refused(sql)
        );
    }
    session.use_tags(own_tags());
    assert_eq!(ask(&session, "SELECT stack_tag(0, 'own')"), "Unnamed");
    session.use_tags(Arc::new([]));
    assert!(refused("SELECT stack_tag(0, 'own')").contains("there is no set 'own'"));
}

#[test]
fn several_extracts_have_stacks_of_their_own() {
    let other = source(&[stack(0, None, 4)]);
    let none = Source::batches("none", Vec::new());
    let session = Session::new(vec![source(&tree()), none, other], &Options::default()).unwrap();
    assert_eq!(
        ask(
            &session,
            "SELECT trace_id, text FROM stack_text WHERE stack_id = 0 ORDER BY 1"
        ),
        "0|a.dll!Run\n2|App.dll!Jitted"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT trace_id, count(*) FROM stack_frame GROUP BY 1 ORDER BY 1"
        ),
        "0|16\n2|1"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT count(*) FROM stack_frame WHERE trace_id = 2"
        ),
        "1"
    );
    let sql = "SELECT trace_id, stack_id FROM stack WHERE stack_contains(trace_id, stack_id, 'Jitted') ORDER BY 1, 2";
    assert_eq!(ask(&session, sql), "0|5\n0|6\n2|0");
    let refused = error(&session, "SELECT stack_contains(stack_id, 'x') FROM stack").to_string();
    assert!(
        refused.contains("stack_contains(trace_id, stack_id, pattern) expects"),
        "{refused}"
    );
    session.use_tags(own_tags());
    let sql = "SELECT trace_id, stack_tag(trace_id, stack_id, 'own') FROM stack WHERE stack_id = 0 ORDER BY 1";
    assert_eq!(ask(&session, sql), "0|Unnamed\n2|Jit");
    assert_eq!(
        ask(
            &session,
            "SELECT stack_tag(1, 0, 'default'), stack_tag(NULL, 0, 'default')"
        ),
        "Other|-"
    );
}

#[test]
fn damaged_trees_end() {
    let damaged = [
        stack(0, Some(0), 0),
        stack(1, Some(2), 1),
        stack(2, Some(1), 2),
        stack(-5, None, 0),
        stack(1_000_000, Some(0), 1),
    ];
    let session = Session::new(vec![source(&damaged)], &Options::default()).unwrap();
    assert_eq!(
        ask(
            &session,
            "SELECT stack_id, count(*) FROM stack_frame GROUP BY 1 ORDER BY 1"
        ),
        "0|1\n1|1\n2|2"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT stack_contains(2, 'Run'), stack_contains(1000000, '*')"
        ),
        "true|-"
    );
    let mut deep: Vec<Stack> = (0..20_000)
        .map(|n| stack(n, (n > 0).then(|| n - 1), 99))
        .collect();
    deep[0].frame_id = 0;
    let session = Session::new(vec![source(&deep)], &Options::default()).unwrap();
    assert_eq!(
        ask(
            &session,
            "SELECT count(*) FROM stack_frame WHERE stack_id = 19999"
        ),
        "4096"
    );
}

#[test]
fn stacks_have_numbers_by_the_names_of_their_code_in_every_trace() {
    use etwkit_trace::code_hash::{of_method, of_offset, of_stack};
    let sql = "SELECT CAST(stack_hash AS VARCHAR) FROM stack_hash ORDER BY stack_id";
    let hashes = |stacks: &[Stack]| {
        let session = Session::new(vec![source(stacks)], &Options::default()).unwrap();
        ask(&session, sql)
    };
    let run = of_method("", "Run");
    let unnamed = of_offset(Some("a.dll"), Some(0x1a2b));
    let mut expected = vec![of_stack(0, run)];
    // Both names mean the same file, since Windows ignores the case of paths.
    for code in [unnamed, run, unnamed] {
        expected.push(of_stack(*expected.last().unwrap(), code));
    }
    expected.push(of_stack(0, of_offset(None, None)));
    let jitted = of_stack(expected[4], of_method("App.dll", "Jitted"));
    expected.extend([jitted, of_stack(jitted, of_method("", "Stub"))]);
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    let found = hashes(&tree());
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{found}");
}

/// `Run` calls the code at one place of a file, from two places in it and in two processes.
#[test]
fn stacks_that_begin_alike_have_one_root() {
    let stacks = [
        stack(0, None, 0),
        stack(1, None, 1),
        stack(2, Some(0), 2),
        stack(3, Some(1), 3),
        stack(4, Some(3), 4),
        stack(5, Some(2), 5),
    ];
    let session = Session::new(vec![source(&stacks)], &Options::default()).unwrap();
    let roots = |frames: &str| {
        let sql = format!("SELECT stack_id, stack_root(stack_id, {frames}) FROM stack ORDER BY 1");
        ask(&session, &sql)
            .lines()
            .map(|line| line.split_once('|').unwrap().1.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(roots("1"), ["0", "0", "0", "0", "0", "0"]);
    assert_eq!(roots("2"), ["0", "0", "2", "2", "2", "2"]);
    assert_eq!(roots("3"), ["0", "0", "2", "2", "4", "5"]);
    assert_eq!(
        roots("99999999999"),
        roots("3"),
        "stacks with fewer frames stay"
    );
    assert_eq!(roots("0"), ["-"; 6]);
    assert_eq!(
        roots("CASE WHEN stack_id > 3 THEN 3 ELSE 1 END"),
        ["0", "0", "0", "0", "4", "5"]
    );
    assert_eq!(
        ask(
            &session,
            "SELECT stack_root(99, 1), stack_root(NULL, 1), stack_root(5, NULL)"
        ),
        "-|-|-"
    );

    // Every cut of a chain of a thousand frames, and of one that bends in its middle.
    let bent = |id: i32| if id == 1000 { 499 } else { id - 1 };
    let chain: Vec<Stack> = (0..1500)
        .map(|id| stack(id, (id > 0).then(|| bent(id)), id % 2 * 2))
        .collect();
    let session = Session::new(vec![source(&chain)], &Options::default()).unwrap();
    // After the bend the same methods alternate, so both chains are one path.
    let wrong = "SELECT count(*) FROM (SELECT stack_id, unnest(range(1, 1001)) AS n FROM stack \
                 WHERE stack_id % 7 = 0) WHERE stack_root(stack_id, n) <> least(CASE WHEN stack_id < 1000 THEN stack_id \
                 ELSE stack_id - 500 END, n - 1)";
    assert_eq!(ask(&session, wrong), "0");
}
