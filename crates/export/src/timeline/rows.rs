//! Converts rows of the queries to items.

use etwkit_question::FromRows;
use etwkit_sql::Session;

use super::merge::Batches;
use super::{
    Io, Item, Order, Ready, Readying, Sample, Slice, SwitchOut, TimelineSelection, Wait, What, sql,
};
use crate::Result;

etwkit_question::declare! {
    /// A scheduling slice.
    row SliceRow {
        thread_key: i64 = "Thread.",
        cpu: i64 = "Processor.",
        time_ns: i64 = "Start.",
        end_ns: i64 = "End.",
        priority: Option<i64> = "Priority.",
        state: Option<i64> = "State from then on.",
        reason: Option<i64> = "Why.",
        is_user: Option<bool> = "Whether it waited in user mode.",
        is_chosen: bool = "Whether the thread is exported.",
    }

    /// A wait.
    row WaitRow {
        thread_key: i64 = "Thread.",
        time_ns: i64 = "Start.",
        end_ns: Option<i64> = "End.",
        reason: Option<i64> = "Why.",
        by_thread_key: Option<i64> = "Who ended it.",
        is_dpc: bool = "Whether a DPC did.",
    }

    /// A ready time.
    row ReadyRow {
        thread_key: i64 = "Thread.",
        time_ns: i64 = "Start.",
        end_ns: Option<i64> = "End.",
        cpu: Option<i64> = "Processor of the switch-in.",
        is_event: bool = "Whether an event reports its start.",
        by_thread_key: Option<i64> = "Who made it ready.",
        is_dpc: bool = "Whether a DPC did.",
        adjust_reason: Option<i64> = "Why its priority was adjusted.",
    }

    /// A sample.
    row SampleRow {
        thread_key: i64 = "Thread.",
        time_ns: i64 = "Time.",
        cpu: i64 = "Processor.",
        weight_ns: i64 = "What it stands for.",
        stack_id: i64 = "Stack.",
    }

    /// An operation.
    row IoRow {
        thread_key: Option<i64> = "Thread.",
        time_ns: i64 = "Start.",
        end_ns: Option<i64> = "End.",
        operation: String = "What was done.",
        path: Option<String> = "Path.",
        offset_bytes: Option<i64> = "Position.",
        size_bytes: Option<i64> = "Bytes.",
        disk: Option<i64> = "Number of the disk.",
        status: Option<i64> = "Result.",
    }

    /// A mark.
    row MarkRow {
        time_ns: i64 = "Time.",
        text: String = "Text.",
    }
}

/// Runs one query; its rows are read while they are taken.
fn question<R: FromRows + 'static>(
    session: &Session,
    sql: &str,
    item: impl Fn(R) -> Item + 'static,
) -> Result<Batches> {
    let answer = session.sql(sql)?;
    Ok(Box::new(answer.map(move |batch| {
        Ok(R::read(&batch?)?.into_iter().map(&item).collect())
    })))
}

/// Runs all queries. Simultaneous items come in this order: a thread waits, is ready, runs, and is
/// sampled while it runs.
///
/// # Errors
/// A question fails.
pub(super) fn ask(
    asked: TimelineSelection<'_>,
    session: &Session,
    order: Order,
) -> Result<Vec<Batches>> {
    Ok(vec![
        question(session, &sql::marks(asked, order), mark)?,
        question(session, &sql::waits(asked, order), |row| wait(&row))?,
        question(session, &sql::readies(asked, order), |row| ready(&row))?,
        question(session, &sql::slices(asked, order), |row| slice(&row))?,
        question(session, &sql::samples(asked, order), |row| sample(&row))?,
        question(session, &sql::file_operations(asked, order), |row| {
            operation(row, false)
        })?,
        question(session, &sql::disk_operations(asked, order), |row| {
            operation(row, true)
        })?,
    ])
}

fn mark(row: MarkRow) -> Item {
    Item {
        time_ns: row.time_ns,
        thread: None,
        what: What::Mark(row.text),
    }
}

fn wait(row: &WaitRow) -> Item {
    let WaitRow {
        thread_key,
        time_ns,
        end_ns,
        reason,
        by_thread_key,
        is_dpc,
    } = *row;
    let by = Readying {
        thread: by_thread_key,
        is_dpc,
    };
    let what = What::Wait(Wait { end_ns, reason, by });
    Item {
        time_ns,
        thread: Some(thread_key),
        what,
    }
}

fn ready(row: &ReadyRow) -> Item {
    let ReadyRow {
        thread_key,
        time_ns,
        end_ns,
        cpu,
        is_event,
        by_thread_key,
        is_dpc,
        adjust_reason,
    } = *row;
    let what = What::Ready(Ready {
        end_ns,
        cpu,
        is_event,
        by: Readying {
            thread: by_thread_key,
            is_dpc,
        },
        adjust_reason,
    });
    Item {
        time_ns,
        thread: Some(thread_key),
        what,
    }
}

fn slice(row: &SliceRow) -> Item {
    let SliceRow {
        thread_key,
        cpu,
        time_ns,
        end_ns,
        priority,
        state,
        reason,
        is_user,
        is_chosen,
    } = *row;
    let left = state.map(|state| SwitchOut {
        state,
        reason,
        is_user,
    });
    let what = What::Slice(Slice {
        is_chosen,
        cpu,
        end_ns,
        priority,
        left,
    });
    Item {
        time_ns,
        thread: Some(thread_key),
        what,
    }
}

fn sample(row: &SampleRow) -> Item {
    let SampleRow {
        thread_key,
        time_ns,
        cpu,
        weight_ns,
        stack_id,
    } = *row;
    // No stack of an extract has this number: the sample has no frames.
    let stack_id = i32::try_from(stack_id).unwrap_or(-1);
    let what = What::Sample(Sample {
        cpu,
        weight_ns,
        stack_id,
    });
    Item {
        time_ns,
        thread: Some(thread_key),
        what,
    }
}

fn operation(row: IoRow, is_disk: bool) -> Item {
    let what = What::Io(Io {
        is_disk,
        operation: row.operation,
        end_ns: row.end_ns,
        path: row.path,
        offset_bytes: row.offset_bytes,
        size_bytes: row.size_bytes,
        disk: row.disk,
        status: row.status,
    });
    Item {
        time_ns: row.time_ns,
        thread: row.thread_key,
        what,
    }
}
