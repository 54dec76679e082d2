//! Queries a timeline and passes it to a format.

use etwkit_question::Error::NeedsRows;
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::CpuRow;
use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

use super::{Scene, Timeline, TimelineSelection, TimelineSums, merge, rows, sql};
use crate::Result;

/// Tables with a row for each event, which an extract of sums lacks.
const TABLES: [&str; 4] = ["context_switch", "cpu_sample", "disk_io", "file_io"];

/// Queries the extract and writes the answer. Memory grows with processes, threads and distinct
/// stacks, not with items.
///
/// # Errors
/// The extract holds only sums; a question fails; nothing more can be written.
pub(crate) fn write(
    asked: TimelineSelection<'_>,
    session: &Session,
    mut timeline: Box<dyn Timeline + '_>,
) -> Result<TimelineSums> {
    // One table with rows is enough: a timeline shows all recorded kinds of items.
    if TABLES.iter().all(|table| session.leaves_out(table)) {
        return Err(NeedsRows {
            what: "samples, context switches and I/O",
        }
        .into());
    }
    let frames = session.frames()?;
    let none = TraceFrames::default();
    let scene = Scene::of(asked, session, frames.trace(0).unwrap_or(&none))?;
    let mut sums = TimelineSums {
        processes: scene
            .processes
            .values()
            .filter(|process| process.is_chosen)
            .count(),
        threads: scene.chosen().count(),
        ..TimelineSums::default()
    };
    timeline.start(&scene)?;
    let order = timeline.order();
    merge::merged(rows::ask(asked, session, order)?, order, |item| {
        sums.add(&item);
        timeline.item(&item, &scene)
    })?;
    timeline.end(&scene)?;
    Ok(sums)
}

etwkit_question::declare! {
    /// A process that can be chosen.
    row Choice {
        process_key: i64 = "Its key.",
        pid: i64 = "Process id.",
        process: Option<String> = "What it is called.",
        threads: i64 = "Its threads.",
    }
}

/// Returns the processes that a timeline can be of, with their names, ids and numbers of threads;
/// the rest of their rows is empty. These are all processes of the trace, including inactive ones.
///
/// # Errors
/// The query fails.
pub fn processes(
    session: &Session,
    processes: &ProcessQuery,
    time: Range,
) -> etwkit_question::Result<Vec<CpuRow>> {
    let asked = TimelineSelection {
        name: "",
        processes,
        tags: &TagQuery::default(),
        time,
    };
    let choices: Vec<Choice> = etwkit_question::ask(session, &sql::choices(asked))?;
    let row = |choice: Choice| CpuRow {
        process_key: Some(choice.process_key),
        pid: Some(choice.pid),
        process: choice.process,
        threads: choice.threads,
        ..CpuRow::default()
    };
    Ok(choices.into_iter().map(row).collect())
}
