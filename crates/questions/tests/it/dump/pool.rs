//! Memory of the kernel by tag and type, by process and stack, and single blocks.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_question::{Error, FromRows, ProcessQuery};
use etwkit_questions::pool::{PoolBlock, PoolBy, PoolRequest, PoolRow, PoolSort};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::derive::derive;
use etwkit_trace::table::{Frame, Method, Pool, PoolTag, Row, Stack, Table, Thread};

use super::super::support::rows;
use super::{MS, process, trace};

fn block(process_key: i32, tag: &str, bytes: i64, alloc: Option<i64>, free: Option<i64>) -> Pool {
    let is_paged = tag == "CamN";
    Pool {
        tag: tag.into(),
        pool_type: if is_paged { 1 } else { 512 },
        paging: Some(if is_paged { "paged" } else { "nonpaged" }),
        address: bytes,
        size_bytes: bytes,
        outcome: if free.is_some() {
            "freed"
        } else {
            "outstanding"
        },
        alloc_ns: alloc.map(|alloc| alloc * MS),
        free_ns: free.map(|free| free * MS),
        lifetime_ns: alloc.zip(free).map(|(alloc, free)| (free - alloc) * MS),
        alloc_process_key: alloc.map(|_| process_key),
        alloc_thread_key: alloc.map(|_| process_key),
        free_process_key: free.map(|_| 2),
        free_thread_key: free.map(|_| 2),
        alloc_stack_id: (tag == "CamF").then_some(0),
        ..Pool::default()
    }
}

fn session(is_summary: bool) -> Session {
    let pool = rows(&[
        block(1, "CamF", 4096, Some(1), Some(5)),
        block(1, "CamF", 8192, Some(2), None),
        block(2, "CamN", 40, Some(3), None),
        block(2, "CamO", 512, None, Some(4)),
    ]);
    let flat: Vec<(&'static Table, RecordBatch)> =
        pool.1.iter().map(|batch| (pool.0, batch.clone())).collect();
    let mut sums: Vec<(&'static Table, RecordBatch)> = Vec::new();
    derive(&flat, &[], &mut sums).unwrap();
    sums.retain(|(table, _)| table.name == PoolTag::TABLE.name);
    let thread = |key: i32| Thread {
        thread_key: key,
        tid: key * 10,
        ..Thread::default()
    };
    let mut tables = vec![
        rows(&[trace()]),
        rows(&[process(1, 100, "camera.exe"), process(2, 200, "viewer.exe")]),
        rows(&[thread(1), thread(2)]),
        rows(&[Frame {
            frame_id: 0,
            method_id: Some(0),
            ..Frame::default()
        }]),
        rows(&[Method {
            method_id: 0,
            name: "AllocateFrame".into(),
            ..Method::default()
        }]),
        rows(&[Stack::default()]),
    ];
    tables.extend(sums.into_iter().map(|(table, rows)| (table, vec![rows])));
    tables.extend((!is_summary).then_some(pool));
    Session::from_batches(tables).unwrap()
}

#[track_caller]
fn ask<R: FromRows>(
    asked: &PoolRequest,
    is_summary: bool,
    text: impl Fn(&R) -> String,
) -> Vec<String> {
    let rows = asked.ask::<R>(&session(is_summary));
    rows.unwrap_or_else(|error| panic!("{error}"))
        .iter()
        .map(text)
        .collect()
}

fn sum(row: &PoolRow) -> String {
    let of = row
        .process
        .as_deref()
        .or(row.tag.as_deref())
        .or(row.stack.as_deref())
        .unwrap_or("-");
    let (allocated, freed) = (row.allocated_bytes, row.freed_bytes);
    let left = (row.outstanding_blocks, row.outstanding_bytes);
    format!(
        "{of} {}/{allocated} {}/{freed} {}/{}",
        row.allocations, row.frees, left.0, left.1
    )
}

#[test]
fn blocks_are_added_up_by_tag_and_by_process() {
    let all = PoolRequest::default();
    for is_summary in [false, true] {
        let tags = ask(&all, is_summary, sum);
        assert_eq!(
            tags,
            [
                "CamO 0/0 1/512 0/0",
                "CamN 1/40 0/0 1/40",
                "CamF 2/12288 1/4096 1/8192"
            ]
        );
        let leaked = PoolRequest {
            leaked: true,
            ..all.clone()
        };
        assert_eq!(ask(&leaked, is_summary, sum).len(), 2);
        let paged = PoolRequest {
            paging: Some("paged".into()),
            tag: Some("Cam*".into()),
            ..all.clone()
        };
        assert_eq!(ask(&paged, is_summary, sum), ["CamN 1/40 0/0 1/40"]);
    }
    let by_process = PoolRequest {
        by: PoolBy::Process,
        ..all.clone()
    };
    let expected = [
        "viewer.exe 1/40 1/512 1/40",
        "camera.exe 2/12288 1/4096 1/8192",
    ];
    assert_eq!(ask(&by_process, false, sum), expected);
    assert!(matches!(
        by_process.ask::<PoolRow>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
    let by_stack = PoolRequest {
        by: PoolBy::Stack,
        stacks: true,
        ..all.clone()
    };
    let stacks = ask(&by_stack, false, sum);
    assert_eq!((stacks.len(), &*stacks[0]), (2, "- 1/40 1/512 1/40"));
    assert!(
        stacks[1].contains("AllocateFrame") && stacks[1].ends_with(" 2/12288 1/4096 1/8192"),
        "{stacks:?}"
    );
    let viewer = ProcessQuery {
        process: Some("viewer".into()),
        ..ProcessQuery::default()
    };
    for (asked, expected) in [
        (
            PoolRequest {
                processes: viewer,
                ..all.clone()
            },
            2,
        ),
        (
            PoolRequest {
                stack: Some("AllocateFrame".into()),
                ..all.clone()
            },
            1,
        ),
        (
            PoolRequest {
                time: Range {
                    min: 3 * MS,
                    max: 4 * MS,
                },
                ..all
            },
            2,
        ),
    ] {
        assert_eq!(ask(&asked, false, sum).len(), expected, "{asked:?}");
    }
}

#[test]
fn single_blocks_have_both_times_and_the_stack_of_the_allocation() {
    let text = |row: &PoolBlock| {
        let (tid, freed) = (row.tid.unwrap(), row.free_tid.unwrap_or_default());
        let stack = row.stack.as_deref().unwrap_or("-");
        format!(
            "{} {} {} {tid} {freed} {stack}",
            row.tag,
            row.outcome,
            row.lifetime_ns.unwrap_or_default()
        )
    };
    let asked = PoolRequest {
        details: true,
        stacks: true,
        ..PoolRequest::default()
    };
    let blocks = ask(&asked, false, text);
    assert_eq!(
        blocks[2..],
        ["CamN outstanding 0 20 0 -", "CamO freed 0 20 20 -"]
    );
    assert!(
        blocks[0].starts_with("CamF freed 4000000 10 20 ") && blocks[0].contains("AllocateFrame")
    );
    let largest = PoolRequest {
        leaked: true,
        sort: PoolSort::Size,
        ..asked
    };
    let sizes = ask(&largest, false, |row: &PoolBlock| {
        row.size_bytes.to_string()
    });
    assert_eq!(sizes, ["40", "8192"]);
}
