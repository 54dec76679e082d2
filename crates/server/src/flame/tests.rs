//! The worked example: `main` calls `f`, which calls itself and `g`; other time is in `main` alone.

use etwkit_trace::table::{Columns, Frame, Method, Module, Row, Stack, Table};

use super::*;

pub(super) fn rows<R: Row>(
    rows: &[R],
) -> (&'static Table, Vec<etwkit_sql::arrow::array::RecordBatch>) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// Returns a session with stacks by number: 0 `main`, 1 `main f`, 2 `main f f`, 3 `main f f g`, 4
/// `main g`.
pub(super) fn session() -> Session {
    let module = |module_id, name: &str| Module {
        module_id,
        name: name.into(),
        path: format!(r"C:\{name}"),
        ..Module::default()
    };
    let method = |method_id, name: &str| Method {
        method_id,
        module_id: Some(0),
        name: name.into(),
        ..Method::default()
    };
    let methods = [method(0, "main"), method(1, "f"), method(2, "g")];
    let frame = |id| Frame {
        frame_id: id,
        module_id: Some(0),
        method_id: Some(id),
        address: 1,
        ..Frame::default()
    };
    // `f` once more, in a process that writes the module's name differently.
    let again = Frame {
        frame_id: 3,
        module_id: Some(1),
        ..frame(1)
    };
    let frames = [frame(0), frame(1), frame(2), again];
    let stack = |stack_id, parent_id, frame_id| Stack {
        stack_id,
        parent_id,
        frame_id,
        ..Stack::default()
    };
    let stacks = [
        stack(0, None, 0),
        stack(1, Some(0), 1),
        stack(2, Some(1), 1),
        stack(3, Some(2), 2),
        stack(4, Some(0), 2),
    ];
    let modules = [module(0, "a.exe"), module(1, "A.EXE")];
    Session::from_batches(vec![
        rows(&modules),
        rows(&methods),
        rows(&frames),
        rows(&stacks),
    ])
    .unwrap()
}

/// Returns names with total, own and rows, indented by depth.
fn drawn(
    direction: Direction,
    focus: Option<&str>,
    least_share: f64,
    max_nodes: u32,
) -> (Vec<String>, i64) {
    drawn_below(direction, focus, &[], least_share, max_nodes)
}

/// Returns the same of the part at a path.
fn drawn_below(
    direction: Direction,
    focus: Option<&str>,
    below: &[&str],
    least_share: f64,
    max_nodes: u32,
) -> (Vec<String>, i64) {
    let session = session();
    let all = session.frames().unwrap();
    let mut names = Names::new(all.trace(0).unwrap(), focus);
    let leaf = |stack, weight| Leaf {
        stack,
        weight,
        count: 1,
    };
    let leaves = vec![leaf(0, 5), leaf(1, 10), leaf(3, 20), leaf(4, 1)];
    let group = Group {
        leaves,
        without_stack: 4,
        without_stack_count: 1,
    };
    let request = FlameRequest {
        trace: 0,
        selection: crate::wire::Selection::default(),
        weight: Weight::Cpu,
        direction,
        by_process: false,
        by_tag: false,
        focus: focus.map(str::to_owned),
        below: below.iter().map(|name| (*name).to_owned()).collect(),
        least_share,
        max_nodes,
    };
    let tree = build(
        [((None, None), group)].into(),
        &BTreeMap::new(),
        &mut names,
        &request,
    );
    let pruned = prune::prune(tree, least_share, max_nodes);
    let (nodes, texts) = names.used(&pruned.nodes);
    let mut depths = vec![0];
    let mut lines = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let parent = node.parent as usize;
        assert!(
            at == 0 || parent < at,
            "parents stand in front of their children"
        );
        if at > 0 {
            depths.push(depths[parent] + 1);
        }
        let text = &texts[node.name as usize];
        lines.push(format!(
            "{}{text} {} {} {}",
            " ".repeat(depths[at]),
            node.total,
            node.own,
            node.count
        ));
    }
    (lines, pruned.left_out)
}

#[test]
fn callees_stand_below_callers_and_the_heaviest_first() {
    let (lines, left_out) = drawn(Direction::TopDown, None, 0.0, 100);
    let expected = [
        "all 40 4 5",
        " a.exe!main 36 5 4",
        "  a.exe!f 30 10 2",
        "   a.exe!f 20 0 1",
        "    a.exe!g 20 20 1",
        "  a.exe!g 1 1 1",
    ];
    assert_eq!((lines, left_out), (expected.map(str::to_owned).to_vec(), 0));
}

#[test]
fn callers_stand_below_callees() {
    let (lines, left_out) = drawn(Direction::BottomUp, None, 0.0, 100);
    let expected = [
        "all 40 4 5",
        " a.exe!g 21 0 2",
        "  a.exe!f 20 0 1",
        "   a.exe!f 20 0 1",
        "    a.exe!main 20 20 1",
        "  a.exe!main 1 1 1",
        " a.exe!f 10 0 1",
        "  a.exe!main 10 10 1",
        " a.exe!main 5 5 1",
    ];
    assert_eq!((lines, left_out), (expected.map(str::to_owned).to_vec(), 0));
}

/// A method that calls itself counts once for each stack, from its outermost frame.
#[test]
fn a_butterfly_has_each_stack_once() {
    for focus in ["a.exe!f", "f"] {
        let (callees, _) = drawn(Direction::TopDown, Some(focus), 0.0, 100);
        let expected = [
            format!("{focus} 30 10 2"),
            " a.exe!f 20 0 1".into(),
            "  a.exe!g 20 20 1".into(),
        ];
        assert_eq!(callees, expected);
        let (callers, _) = drawn(Direction::BottomUp, Some(focus), 0.0, 100);
        assert_eq!(
            callers,
            [format!("{focus} 30 0 2"), " a.exe!main 30 30 2".into()]
        );
    }
    assert_eq!(
        drawn(Direction::TopDown, Some("h"), 0.0, 100).0,
        ["h 0 0 0"]
    );
}

#[test]
fn a_method_is_called_as_its_first_frame_whichever_is_seen_first() {
    let session = session();
    let all = session.frames().unwrap();
    let frames = all.trace(0).unwrap();
    assert_eq!(
        (frames.text(1), frames.text(3)),
        ("a.exe!f".to_owned(), "A.EXE!f".to_owned())
    );
    for focus in ["f", "a.exe!f", "A.EXE!f"] {
        let mut names = Names::new(frames, Some(focus));
        let name = names.frame(3);
        assert_eq!(name, names.frame(1));
        assert!(names.is_focus(name), "{focus}");
        let node = tree::Node {
            parent: 0,
            name,
            total: 0,
            own: 0,
            count: 0,
        };
        assert_eq!(names.used(&[node]).1, ["a.exe!f"]);
    }
}

#[test]
fn what_is_small_is_left_out_and_counted() {
    let (lines, left_out) = drawn(Direction::TopDown, None, 0.5, 100);
    let expected = [
        "all 40 4 5",
        " a.exe!main 36 5 4",
        "  a.exe!f 30 10 2",
        "   a.exe!f 20 0 1",
        "    a.exe!g 20 20 1",
    ];
    assert_eq!((lines, left_out), (expected.map(str::to_owned).to_vec(), 1));
    let (lines, left_out) = drawn(Direction::TopDown, None, 0.0, 2);
    assert_eq!((lines.len(), left_out), (2, 31));
    let (lines, left_out) = drawn(Direction::BottomUp, None, 0.4, 100);
    assert_eq!((lines.len(), left_out), (5, 16));
}

/// The part at a node unfolds what the whole tree leaves out there, at both ends of stacks.
#[test]
fn the_part_at_a_path_has_only_rows_that_go_through_it() {
    for (direction, focus, path, expected) in [
        (
            Direction::TopDown,
            None,
            &["a.exe!main", "a.exe!g"][..],
            &["all 1 0 1", " a.exe!main 1 0 1", "  a.exe!g 1 1 1"][..],
        ),
        (
            Direction::BottomUp,
            None,
            &["a.exe!g", "a.exe!main"],
            &["all 1 0 1", " a.exe!g 1 0 1", "  a.exe!main 1 1 1"],
        ),
        (
            Direction::TopDown,
            Some("f"),
            &["a.exe!f"],
            &["f 20 0 1", " a.exe!f 20 0 1", "  a.exe!g 20 20 1"],
        ),
        (
            Direction::BottomUp,
            Some("f"),
            &["a.exe!main"],
            &["f 30 0 2", " a.exe!main 30 30 2"],
        ),
        (Direction::TopDown, None, &["a.exe!f"], &["all 0 0 0"]),
    ] {
        let (lines, left_out) = drawn_below(direction, focus, path, 0.5, 100);
        assert_eq!(
            (lines, left_out),
            (expected.iter().map(|line| (*line).to_owned()).collect(), 0)
        );
    }
}
