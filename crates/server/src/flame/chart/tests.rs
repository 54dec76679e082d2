//! The worked example of `docs/numbers/timeline.md`, and chains of stacks around it.

use super::stacks::{Off, Sample};
use super::*;
use crate::flame::tests::session;

const MS: i64 = 1_000_000;

/// Number of the reason `UserRequest`.
const USER_REQUEST: Option<i32> = Some(6);

/// What a thread does, with times in milliseconds.
#[derive(Clone, Copy)]
enum Act {
    /// A sample, and its stack.
    Sample(i64, i32),
    /// A switch-out, the end of the wait, the switch-in, and the stack.
    Off(i64, Option<i64>, i64, Option<i32>),
}

/// Returns the answer for a range of 100 ms. Stacks are those of the tests of trees: 0 `main`,
/// 1 `main f`, 2 `main f f`, 3 `main f f g`, 4 `main g`.
fn answer(acts: &[Act], grain_ns: i64) -> FlameChartAnswer {
    let session = session();
    let all = session.frames().unwrap();
    let mut names = Names::new(all.trace(0).unwrap(), None);
    let several = names.text(SEVERAL, Kinds::SEVERAL);
    let mut stacks = Stacks::new(&mut names, Boxes::new(grain_ns, 1_000, several));
    let range = Range {
        from_ns: 0,
        to_ns: 100 * MS,
    };
    for act in acts {
        match *act {
            Act::Sample(at, stack) => stacks.sample(Sample {
                at_ns: at * MS,
                stack,
                weight_ns: MS,
            }),
            Act::Off(from, ready, to, stack) => stacks.off(
                Off {
                    from_ns: from * MS,
                    to_ns: to * MS,
                    ready_ns: ready.map(|ready| ready * MS),
                    reason: USER_REQUEST,
                    stack,
                }
                .within(range),
            ),
        }
    }
    let boxes = stacks.finish();
    sent(range, &boxes, &names)
}

/// Returns boxes in words, indented by level: name, first and last moment, samples, waits, boxes
/// that are one.
fn drawn(acts: &[Act], grain_ns: i64) -> Vec<String> {
    let answer = answer(acts, grain_ns);
    let mut lines = Vec::new();
    for (level, count) in answer.levels.iter().enumerate() {
        for _ in 0..*count {
            let at = lines.len();
            lines.push(format!(
                "{}{} {}-{} {} {} {}",
                " ".repeat(level),
                answer.texts[answer.names[at] as usize],
                answer.from_ns[at] / MS,
                answer.to_ns[at] / MS,
                answer.samples[at],
                answer.waits[at],
                answer.pieces[at],
            ));
        }
    }
    assert_eq!(lines.len(), answer.to_ns.len());
    lines
}

#[test]
fn the_example_of_the_page_has_a_box_for_each_frame_and_state() {
    let acts = [
        Act::Sample(1, 1),
        Act::Sample(2, 1),
        Act::Sample(4, 4),
        Act::Off(5, Some(18), 20, Some(4)),
        Act::Sample(21, 0),
        Act::Sample(30, 0),
    ];
    let expected = [
        "a.exe!main 1-21 4 1 1",
        "a.exe!main 30-30 1 0 1",
        " a.exe!f 1-2 2 0 1",
        " a.exe!g 4-20 1 1 1",
        "  waiting (UserRequest) 5-18 0 1 1",
        "  ready 18-20 0 0 1",
    ];
    assert_eq!(drawn(&acts, 1), expected);
}

#[test]
fn a_gap_of_more_than_three_intervals_ends_frames() {
    let near = [Act::Sample(1, 1), Act::Sample(4, 1)];
    assert_eq!(
        drawn(&near, 1),
        ["a.exe!main 1-4 2 0 1", " a.exe!f 1-4 2 0 1"]
    );
    let far = [Act::Sample(1, 1), Act::Sample(5, 1)];
    assert_eq!(
        drawn(&far, 1),
        [
            "a.exe!main 1-1 1 0 1",
            "a.exe!main 5-5 1 0 1",
            " a.exe!f 1-1 1 0 1",
            " a.exe!f 5-5 1 0 1"
        ]
    );
}

#[test]
fn a_method_that_calls_itself_has_a_box_on_each_level() {
    let acts = [
        Act::Sample(1, 1),
        Act::Sample(2, 3),
        Act::Sample(3, 2),
        Act::Sample(4, 4),
    ];
    let expected = [
        "a.exe!main 1-4 4 0 1",
        " a.exe!f 1-3 3 0 1",
        " a.exe!g 4-4 1 0 1",
        "  a.exe!f 2-3 2 0 1",
        "   a.exe!g 2-2 1 0 1",
    ];
    assert_eq!(drawn(&acts, 1), expected);
}

/// Without a stack of its own, a wait is below the frames that both stacks around it have.
#[test]
fn a_wait_without_a_stack_is_below_common_frames_if_it_is_short() {
    let short = [
        Act::Sample(1, 1),
        Act::Off(2, Some(3), 3, None),
        Act::Sample(4, 4),
    ];
    let expected = [
        "a.exe!main 1-4 2 0 1",
        " a.exe!f 1-1 1 0 1",
        " waiting (UserRequest) 2-3 0 1 1",
        " a.exe!g 4-4 1 0 1",
    ];
    assert_eq!(drawn(&short, 1), expected);
    let long = [
        Act::Sample(1, 0),
        Act::Off(2, None, 50, None),
        Act::Sample(51, 0),
    ];
    let expected = [
        "a.exe!main 1-1 1 0 1",
        "off the processor 2-50 0 0 1",
        "a.exe!main 51-51 1 0 1",
    ];
    assert_eq!(drawn(&long, 1), expected);
}

#[test]
fn times_off_the_processor_are_cut_at_the_range() {
    let acts = [
        Act::Off(-20, Some(-10), 5, Some(0)),
        Act::Off(90, Some(150), 160, Some(0)),
    ];
    let expected = [
        "a.exe!main 0-5 0 0 1",
        "a.exe!main 90-100 0 1 1",
        " ready 0-5 0 0 1",
        " waiting (UserRequest) 90-100 0 1 1",
    ];
    assert_eq!(drawn(&acts, 1), expected);
}

#[test]
fn different_frames_narrower_than_a_pixel_are_one_box() {
    let acts: Vec<Act> = (0..20)
        .map(|at| Act::Sample(at, if at % 2 == 0 { 1 } else { 4 }))
        .collect();
    let expected = ["a.exe!main 0-19 20 0 1", " several frames 0-19 20 0 20"];
    assert_eq!(drawn(&acts, 5 * MS), expected);
    let answer = answer(&acts, 5 * MS);
    let at = answer.texts.iter().position(|text| text == SEVERAL);
    assert_eq!(answer.kinds[at.unwrap()], Kinds::SEVERAL);
}

#[test]
fn damaged_stacks_have_no_box() {
    for stack in [-1, 99, i32::MIN] {
        assert_eq!(drawn(&[Act::Sample(1, stack)], 1), Vec::<String>::new());
    }
}
