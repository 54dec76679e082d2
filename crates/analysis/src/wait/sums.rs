//! Sums of waits.

use etwkit_question::Format::{
    Id, Milliseconds, Moment, ProcessLine, Whole, WholeMicroseconds, Word,
};
use etwkit_question::rows::Field;
use etwkit_question::{Answer, Column, Ranked, Value, View};
use etwkit_sql::Session;

use super::{WaitBy, WaitRequest, WaitSort, WaitSum, ended_by};
use crate::Result;

/// A question with the properties of its rows.
#[derive(Clone)]
struct AskedSums {
    of: WaitRequest,
    has_open: bool,
    has_unknown: bool,
}

impl AskedSums {
    fn is_by(&self, by: WaitBy) -> bool {
        self.of.by == by
    }

    /// Returns `true` if rows are grouped by the end of the waits.
    fn is_by_end(&self) -> bool {
        self.is_by(WaitBy::Readying) || self.is_by(WaitBy::ReadyingThread)
    }
}

type WaitSumColumn = Column<AskedSums, WaitSum>;

const SUMS: View<AskedSums, WaitSum> = View::new(
    &[
        WaitSumColumn::new("Wait", "Wait ms", Milliseconds, |_, row| row.wait_ns.into()).cost(),
        WaitSumColumn::new("WaitSum", "Sum ms", Milliseconds, |_, row| {
            row.wait_sum_ns.into()
        })
        .cost(),
        WaitSumColumn::new("Max", "Max ms", Milliseconds, |_, row| {
            row.wait_max_ns.into()
        })
        .worst(),
        WaitSumColumn::new("Mean", "Mean µs", WholeMicroseconds, |_, row| {
            row.wait_mean_ns.into()
        })
        .worst(),
        WaitSumColumn::new("Count", "Waits", Whole, |_, row| row.waits.into()).sum(),
        WaitSumColumn::new("Unknown", "Unknown", Whole, |_, row| row.unknown.into())
            .sum()
            .shown_if(|asked| asked.has_unknown),
        WaitSumColumn::new("Open", "Open", Whole, |_, row| row.open_waits.into())
            .sum()
            .shown_if(|asked| asked.has_open),
        WaitSumColumn::new("OpenMax", "Open max ms", Milliseconds, |_, row| {
            row.open_max_ns.into()
        })
        .worst()
        .shown_if(|asked| asked.has_open),
        WaitSumColumn::new("Ready", "Ready ms", Milliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        WaitSumColumn::new("ReadySum", "Ready sum ms", Milliseconds, |_, row| {
            row.ready_sum_ns.into()
        })
        .cost()
        .shown_if(|asked| asked.of.details),
        WaitSumColumn::new("ReadyMax", "Ready max µs", WholeMicroseconds, |_, row| {
            row.ready_max_ns.into()
        })
        .worst()
        .shown_if(|asked| asked.of.details),
        WaitSumColumn::new("Preemptions", "Preempted", Whole, |_, row| {
            row.preemptions.into()
        })
        .cost()
        .shown_if(|asked| asked.of.details),
        WaitSumColumn::new("Threads", "Threads", Whole, |_, row| row.threads.into())
            .shown_if(|asked| asked.of.details),
        WaitSumColumn::new("First", "First", Moment, |_, row| row.first_ns.into())
            .shown_if(|asked| asked.of.details),
        WaitSumColumn::new("Thread", "Thread", Id, |_, row| row.tid.into())
            .shown_if(|asked| asked.is_by(WaitBy::Thread)),
        WaitSumColumn::new("Reason", "Reason", Word, |_, row| {
            row.wait_reason.clone().into()
        })
        .shown_if(|asked| asked.is_by(WaitBy::Reason)),
        // Without files of the user there is only one set, whose name is redundant.
        WaitSumColumn::new("TagSet", "Tag set", Word, |_, row| {
            row.tag_set.clone().into()
        })
        .shown_if(|asked| {
            asked.is_by(WaitBy::Tag) && (asked.of.details || !asked.of.stack_tag_file.is_empty())
        }),
        WaitSumColumn::new("Tag", "Tag", Word, |_, row| row.tag.clone().into())
            .shown_if(|asked| asked.is_by(WaitBy::Tag)),
        WaitSumColumn::new("Method", "", Word, |_, row| code(row).into())
            .titled(|asked| {
                if asked.is_by(WaitBy::Module) {
                    "Module"
                } else {
                    "Method"
                }
                .to_owned()
            })
            .shown_if(|asked| asked.is_by(WaitBy::Method) || asked.is_by(WaitBy::Module)),
        // Other sums have no value here, which must not be shown as preempted.
        WaitSumColumn::new("Readying", "Ended by", Word, |asked, row| {
            if asked.is_by_end() {
                readying(row).into()
            } else {
                Value::Missing
            }
        })
        .shown_if(AskedSums::is_by_end),
        WaitSumColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.of.sort == WaitSort::Time));

/// Declares the aggregation of columns of JSON and CSV.
pub(super) fn describe(question: &WaitRequest, fields: &mut [Field]) {
    let asked = AskedSums {
        of: question.clone(),
        has_open: true,
        has_unknown: true,
    };
    SUMS.describe(&asked, |row: WaitSum| row, fields);
}

/// Formats `module!method`; code without a name as `module+0x1a2b`.
fn code(row: &WaitSum) -> String {
    let module = row.module.as_deref().unwrap_or("?");
    match row.method.as_deref() {
        None => module.to_owned(),
        Some(offset) if offset.starts_with("+0x") => format!("{module}{offset}"),
        Some(method) => format!("{module}!{method}"),
    }
}

fn readying(row: &WaitSum) -> String {
    ended_by(
        row.ended_by.as_deref(),
        row.readying_process.as_deref(),
        row.readying_pid,
        row.readying_tid,
    )
}

pub(super) fn answer(question: &WaitRequest, session: &Session) -> Result<Answer> {
    let rows = question.ask(session)?;
    let asked = AskedSums {
        of: question.clone(),
        has_open: question.details || rows.iter().any(|row| row.open_waits > 0),
        has_unknown: question.details || rows.iter().any(|row| row.unknown > 0),
    };
    Ok(Answer::rows(&asked, &SUMS, rows))
}
