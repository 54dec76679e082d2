//! Columns and lines of a list of processes.

use super::merge::together;
use super::{ProcessCounts, ProcessRequest, ProcessRow, ProcessSort};
use etwkit_question::Format::{
    CommandLine, Id, LeftMoment, Length, Milliseconds, Process, Trace, Whole, Word,
};
use etwkit_question::{Column, Line, ProcessCell, Ranked, Value, View};
use etwkit_sql::nt_status;

/// A process, and the shift of its times for people, so that times of several recordings can be
/// compared.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct ListedProcess {
    #[serde(flatten)]
    pub(super) row: ProcessRow,
    #[serde(skip)]
    pub(super) offset_ns: i64,
}

impl ListedProcess {
    pub(super) fn start_ns(&self) -> Option<i64> {
        self.row
            .start_ns
            .map(|ns| ns.saturating_add(self.offset_ns))
    }

    pub(super) fn stop_ns(&self) -> Option<i64> {
        self.row.stop_ns.map(|ns| ns.saturating_add(self.offset_ns))
    }

    /// Returns the row with its times moved.
    pub(super) fn moved(&self) -> ProcessRow {
        ProcessRow {
            start_ns: self.start_ns(),
            stop_ns: self.stop_ns(),
            ..self.row.clone()
        }
    }

    /// Returns the process, indented by its level in the tree.
    fn cell(&self) -> Value {
        let branch = if self.row.level > 0 { "|- " } else { "" };
        // Deeper levels are indented no further: a damaged trace can have chains of any length.
        let indent = usize::try_from(self.row.level).map_or(0, |level| level.min(64)) * 2;
        let name = self.row.name.as_deref().unwrap_or("(unknown)");
        Value::Process(ProcessCell {
            name: Some(format!("{:indent$}{branch}{name}", "")),
            pid: Some(self.row.pid),
            start_ns: self.start_ns(),
            stop_ns: self.stop_ns(),
            command_line: self.row.command_line.clone(),
        })
    }
}

type ProcessColumn = Column<ProcessRequest, ListedProcess>;

pub(super) const PROCESSES: View<ProcessRequest, ListedProcess> = View::new(
    &[
        ProcessColumn::new("ProcessId", "Pid", Id, |_, one| one.row.pid.into()).shown_if(is_list),
        ProcessColumn::new("StartTime", "Start", LeftMoment, |_, one| {
            one.start_ns().into()
        })
        .titled(|asked| time_title("Start", asked))
        .shown_if(is_list),
        ProcessColumn::new("StopTime", "Stop", LeftMoment, |_, one| {
            one.stop_ns().into()
        })
        .titled(|asked| time_title("Stop", asked))
        .shown_if(is_list),
        ProcessColumn::new("Duration", "Duration", Length, |_, one| {
            one.row.duration_ns.into()
        })
        .shown_if(is_list),
        ProcessColumn::new("Cpu", "CPU ms", Milliseconds, |_, one| {
            one.row.cpu_ns.into()
        })
        .cost()
        .shown_if(ProcessRequest::is_by_cpu),
        ProcessColumn::new("ReturnCode", "Return code", Word, |_, one| {
            one.row.exit_code.map(return_code).into()
        }),
        ProcessColumn::new("Session", "Session", Whole, |_, one| {
            one.row.session_id.into()
        })
        .shown_if(|asked| asked.details),
        ProcessColumn::new("User", "User", Word, |_, one| one.row.sid.clone().into())
            .shown_if(|asked| asked.show_user),
        ProcessColumn::new("ParentPid", "Parent", Id, |_, one| {
            one.row.parent_pid.into()
        })
        .shown_if(is_list),
        ProcessColumn::new("ParentProcess", "Parent process", Word, |_, one| {
            one.row.parent.clone().into()
        })
        .hidden(),
        ProcessColumn::new("Process", "Process", Process, |_, one| one.cell()),
        ProcessColumn::new("CommandLine", "Command line", CommandLine, |_, one| {
            one.row.command_line.clone().into()
        }),
        ProcessColumn::new("Package", "Package", Word, |_, one| {
            one.row.package.clone().into()
        })
        .shown_if(|asked| asked.details),
        ProcessColumn::new("FileName", "File", Trace, |_, _| Value::Missing)
            .shown_if(|asked| asked.show_file_on_line),
    ],
    |one| one.row.cpu_ns.map_or(-1.0, |ns| ns as f64),
)
.alarming_if(|one| one.row.is_crash)
.ranking(|asked| Ranked::rows_unless(!asked.is_by_cpu()))
.with_join(together)
.with_total(|asked, all, _| {
    let is_shown = all.len() > 1 && asked.show_total.as_deref() != Some("none");
    let total = || {
        let counts = ProcessCounts::of_each(all.iter().map(|one| &one.row));
        Line::new(format!("Total: {counts}"))
    };
    is_shown.then(total).into_iter().collect()
});

fn is_list(asked: &ProcessRequest) -> bool {
    asked.sort != ProcessSort::Tree
}

/// Returns the title of a column of times, with a star if they were moved.
fn time_title(title: &str, asked: &ProcessRequest) -> String {
    format!(
        "{title}{}",
        if asked.zero.mode.is_some() { "*" } else { "" }
    )
}

/// Returns the name of an error of Windows, or the number.
fn return_code(code: i64) -> String {
    let name = i32::try_from(code).ok().and_then(nt_status::error_name);
    name.map_or_else(|| code.to_string(), str::to_owned)
}
