//! Columns of exceptions: of groups of equal ones, and of single ones.

use serde::Serialize;

use super::{ExceptionRequest, ExceptionRow, ExceptionSort, ThrownRow};
use crate::module_text::module_text;
use crate::stack::stacked::{Stacked, lines};
use etwkit_question::Format::{Id, Moment, Process, ProcessLine, Whole, Word};
use etwkit_question::group::Top;
use etwkit_question::{Column, Line, Ranked, Source, Value, View, largest};

const EXCEPTIONS: [&str; 2] = ["exception", "exceptions"];

type ExceptionColumn = Column<ExceptionRequest, Stacked<ExceptionRow>>;

pub(super) const TOGETHER: View<ExceptionRequest, Stacked<ExceptionRow>> = View::new(
    &[
        ExceptionColumn::new("Count", "Count", Whole, |_, it| it.row.count.into()).cost(),
        ExceptionColumn::new("Rethrown", "Again", Whole, |_, it| it.row.rethrown.into())
            .cost()
            .shown_if(|asked| asked.details),
        ExceptionColumn::new("First", "", Moment, |_, it| it.row.first_ns.into())
            .titled(|asked| asked.title_of_time("First"))
            .shown_if(|asked| asked.details),
        ExceptionColumn::new("Last", "", Moment, |_, it| it.row.last_ns.into())
            .titled(|asked| asked.title_of_time("Last"))
            .shown_if(|asked| asked.details),
        ExceptionColumn::new("Threads", "Threads", Whole, |_, it| it.row.threads.into())
            .shown_if(|asked| asked.details),
        ExceptionColumn::new("Session", "Session", Whole, |_, it| {
            it.row.session_id.into()
        })
        .shown_if(|asked| asked.details),
        ExceptionColumn::new("HResult", "HRESULT", Word, |_, it| hresult(it.row.hresult))
            .shown_if(|asked| asked.details),
        ExceptionColumn::new("Type", "Type", Word, |_, it| {
            it.row.exception_type.clone().into()
        }),
        ExceptionColumn::new("Message", "Message", Word, |asked, it| {
            asked.cut_message(&it.row.message).into()
        }),
        // In other lists it is above the rows of each process.
        ExceptionColumn::new("Process", "Process", ProcessLine, |_, it| (&it.row).into())
            .shown_when_merged(|_| true),
    ],
    |it| it.row.sort_value,
)
.ranking(|asked| match asked.sort {
    ExceptionSort::Count => Ranked::Rows,
    ExceptionSort::Type | ExceptionSort::Message => Ranked::Groups,
    ExceptionSort::Process | ExceptionSort::Time => Ranked::No,
})
.with_headings(|_, rows| {
    let thrown = rows
        .iter()
        .map(|it| it.row.count)
        .fold(0, i64::saturating_add);
    let process = Line::new("  ").value(ProcessLine, &rows.first()?.row);
    Some(process.words("  [").counted(thrown, EXCEPTIONS).words("]"))
})
.with_subheadings(|asked, rows| {
    let of = rows
        .first()
        .filter(|_| asked.modules.is_some())
        .map(|it| &it.row);
    let module = |row: &ExceptionRow| {
        module_text([
            &row.module_path,
            &row.file_version,
            &row.product_name,
            &row.company,
        ])
    };
    of.map(|row| Line::new(format!("    {}", module(row))))
        .into_iter()
        .collect()
})
.with_below(|asked, it| {
    let row = &it.row;
    let thrown = |(time, tid): (&str, &str)| {
        let time: Option<i64> = time.parse().ok();
        Line::new("        at ")
            .value(Moment, time)
            .words(format!(" by thread {tid}"))
    };
    let times = row
        .times_ns
        .split(' ')
        .zip(row.tids.split(' '))
        .filter(|_| asked.show_time)
        .map(thrown);
    let stack = if asked.by_stack {
        lines(&it.stack, asked.cut_stack)
    } else {
        Vec::new()
    };
    times.chain(stack).collect()
})
.with_total(|_, rows, _| {
    let thrown = rows
        .iter()
        .map(|it| it.row.count)
        .fold(0, i64::saturating_add);
    let processes: std::collections::HashSet<_> =
        rows.iter().map(|it| it.row.process_key).collect();
    vec![
        Line::new("Total: ")
            .counted(thrown, EXCEPTIONS)
            .words(" in ")
            .counted(processes.len() as i64, ["process", "processes"]),
    ]
});

fn hresult(code: Option<i64>) -> Value {
    // An HRESULT has 32 bits; as a negative number of 64 bits it would print eight leading `f`.
    code.map(|code| format!("{:#010x}", code & 0xFFFF_FFFF))
        .into()
}

/// An exception and the values that it shares with the one above it, which are not printed again.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Thrown {
    #[serde(flatten)]
    pub(super) it: Stacked<ThrownRow>,
    #[serde(skip)]
    same_process: bool,
    #[serde(skip)]
    same_type: bool,
    #[serde(skip)]
    same_message: bool,
}

/// Replaces a value that equals the value above.
const SAME: &str = "...";

impl Thrown {
    /// Compares each exception with the one above it.
    pub(super) fn all(rows: Vec<Stacked<ThrownRow>>) -> Vec<Self> {
        let new = |it| Self {
            it,
            same_process: false,
            same_type: false,
            same_message: false,
        };
        let mut all: Vec<Self> = rows.into_iter().map(new).collect();
        for at in 1..all.len() {
            let (above, from) = all.split_at_mut(at);
            if let (Some(above), Some(this)) = (above.last(), from.first_mut()) {
                let above = &above.it.row;
                let row = &this.it.row;
                this.same_process = above.process_key == row.process_key;
                this.same_type = above.exception_type == row.exception_type;
                this.same_message = above.message == row.message;
            }
        }
        all
    }

    fn or_same(same: bool, value: impl Into<Value>) -> Value {
        if same { SAME.into() } else { value.into() }
    }
}

type ThrownColumn = Column<ExceptionRequest, Thrown>;

pub(super) const LISTED: View<ExceptionRequest, Thrown> = View::new(
    &[
        ThrownColumn::time("Time", |_, one| one.it.row.ts_ns.into()),
        ThrownColumn::new("Process", "Process", Process, |_, one| {
            Thrown::or_same(one.same_process, &one.it.row)
        }),
        ThrownColumn::new("Thread", "Thread", Id, |_, one| one.it.row.tid.into()),
        ThrownColumn::new("Session", "Session", Whole, |_, one| {
            one.it.row.session_id.into()
        })
        .shown_if(|asked| asked.details),
        ThrownColumn::new("HResult", "HRESULT", Word, |_, one| {
            hresult(one.it.row.hresult)
        })
        .shown_if(|asked| asked.details),
        ThrownColumn::new("Type", "Type", Word, |_, one| {
            Thrown::or_same(one.same_type, one.it.row.exception_type.clone())
        }),
        ThrownColumn::new("Message", "Message", Word, |asked, one| {
            Thrown::or_same(one.same_message, asked.cut_message(&one.it.row.message))
        }),
        ThrownColumn::new("Module", "Path", Word, |_, one| {
            let row = &one.it.row;
            module_text([
                &row.module_path,
                &row.file_version,
                &row.product_name,
                &row.company,
            ])
            .into()
        })
        .shown_if(|asked| asked.modules.is_some()),
    ],
    |one| one.it.row.ts_ns as f64,
)
.ranking(|_| Ranked::No)
.with_below(|asked, one| {
    if asked.by_stack {
        lines(&one.it.stack, asked.cut_stack)
    } else {
        Vec::new()
    }
})
.with_merge(merged);

/// Returns the latest exceptions of several extracts. Their neighbors change, so none repeats the
/// values above it.
fn merged(_: &ExceptionRequest, sources: Vec<Source<Thrown>>, top: Top) -> Vec<(usize, Thrown)> {
    let all = largest(sources, top, |one: &Thrown| one.it.row.ts_ns as f64);
    let alone = |(of, one): (usize, Thrown)| {
        (
            of,
            Thrown {
                same_process: false,
                same_type: false,
                same_message: false,
                ..one
            },
        )
    };
    all.into_iter().map(alone).collect()
}
