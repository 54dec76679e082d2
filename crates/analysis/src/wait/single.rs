//! Single waits.

use etwkit_question::Format::{FineMilliseconds, Id, Moment, Process, Word};
use etwkit_question::{Answer, Column, Ranked, View};
use etwkit_sql::Session;
use serde::Serialize;

use super::{WaitRequest, WaitRow, WaitSort, ended_by};
use crate::Result;
use crate::stacks::{StackText, Stacks};

/// Default number of single waits that are listed.
const LISTED: usize = 20;

#[derive(Serialize)]
pub(super) struct Wait {
    #[serde(flatten)]
    row: WaitRow,
    #[serde(flatten)]
    stacks: Stacks,
}

impl Wait {
    /// Creates a wait whose stacks were not read.
    pub(super) fn without_stacks(row: WaitRow) -> Self {
        Self {
            row,
            stacks: Stacks::default(),
        }
    }
}

type WaitColumn = Column<WaitRequest, Wait>;

pub(super) const WAITS: View<WaitRequest, Wait> = View::new(
    &[
        WaitColumn::new("Start", "Start", Moment, |_, it| it.row.start_ns.into()),
        WaitColumn::new("Wait", "Wait ms", FineMilliseconds, |_, it| {
            it.row.wait_ns.into()
        })
        .cost(),
        WaitColumn::new("Ready", "Ready ms", FineMilliseconds, |_, it| {
            it.row.ready_ns.into()
        })
        .cost(),
        WaitColumn::new("Reason", "Reason", Word, |_, it| {
            it.row.wait_reason.clone().into()
        }),
        WaitColumn::new("Thread", "Thread", Id, |_, it| it.row.tid.into()),
        WaitColumn::new("Process", "Process", Process, |_, it| (&it.row).into()),
        WaitColumn::new("Readying", "Ended by", Word, |_, it| {
            let row = &it.row;
            let process = row.readying_process.as_deref();
            ended_by(
                row.ended_by.as_deref(),
                process,
                row.readying_pid,
                row.readying_tid,
            )
            .into()
        }),
        WaitColumn::new("Stack", "Waited in", Word, |_, it| {
            it.stacks.stack.clone().into()
        }),
        WaitColumn::new("ReadyingStack", "Ended in", Word, |_, it| {
            it.stacks.readying_stack.clone().into()
        })
        .shown_if(|asked| asked.details),
    ],
    |it| it.row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == WaitSort::Time));

pub(super) fn answer(question: &WaitRequest, session: &Session) -> Result<Answer> {
    let rows = listed(question).list(session)?;
    let note = left_out(question, rows.len());
    let text = StackText::new(session)?;
    let wait = |row: WaitRow| {
        let stacks = Stacks::of(
            &text,
            question.stacks,
            (row.stack_id, row.readying_stack_id),
        );
        Wait { row, stacks }
    };
    let waits = rows.into_iter().map(wait).collect();
    let mut answer = Answer::rows(question, &WAITS, waits);
    answer.notes.extend(note);
    Ok(answer)
}

/// Returns the request with the default number of rows if it has none.
pub(super) fn listed(question: &WaitRequest) -> WaitRequest {
    let mut listed = question.clone();
    listed.top.count = listed.top.count.or(Some(LISTED));
    listed
}

/// Returns a note that only so many waits are listed, if there may be more and nobody chose a
/// number.
fn left_out(question: &WaitRequest, rows: usize) -> Option<String> {
    let is_full = question.top.count.is_none() && rows == LISTED;
    is_full.then(|| format!("only {LISTED} waits are listed; --top 0 lists all"))
}

#[cfg(test)]
mod tests {
    use etwkit_question::group::Top;

    use super::*;

    #[test]
    fn a_list_that_nobody_limited_says_that_it_is_not_all() {
        let note = |count, rows| {
            let top = Top { count, skip: 0 };
            let question = WaitRequest {
                top,
                ..WaitRequest::default()
            };
            left_out(&question, rows)
        };
        assert_eq!(note(None, LISTED - 1), None);
        assert_eq!(
            note(None, LISTED).as_deref(),
            Some("only 20 waits are listed; --top 0 lists all")
        );
        assert_eq!(note(Some(LISTED), LISTED), None);
        assert_eq!(note(Some(0), LISTED), None);
    }
}
