//! Messages between the page and the server, as JSON. `ui/src/wire.ts` is written from these types.
//!
//! Times are nanoseconds from the start of the trace, which a page can hold exactly: below 2⁵³, 104
//! days. Addresses and other numbers that can be larger are sent as text.

mod asking;
mod explain;
mod findings;
mod info;
mod lanes;
mod over_time;
mod recording;
mod stacks;
mod symbols;
mod tables;
mod tags;

use serde::{Deserialize, Serialize};

pub use asking::{
    Answer, AnswerColumn, AnswerTable, AskRequest, OptionInfo, QuestionInfo, Schema, SqlRequest,
};
pub use explain::{
    ExplainAnswer, ExplainCause, ExplainGroup, ExplainPoint, ExplainRequest, ExplainRun,
};
pub use findings::{Cost, Evidence, Finding, FindingsAnswer, FindingsRequest, RuleState, Spot};
pub use info::{
    FolderAnswer, FolderIn, FolderRecording, FolderRequest, Info, OpenRequest, Opening, Recent,
    State, TableCount, TopicInfo, TraceInfo,
};
pub use lanes::{
    Lane, LaneKind, LanesAnswer, LanesRequest, Moment, MomentRequest, Series, SeriesAnswer,
    SeriesKind, SeriesRequest, Slice, TimelineHeader, TimelineRequest, WAITS,
};
pub use over_time::{
    DiskCellAnswer, DiskCellFile, DiskCellRequest, DiskMapAnswer, DiskMapRequest, DiskOnMap,
    ModuleOn, ModuleOwner, ModulesAnswer, ModulesOf, ModulesRequest, PivotSeries,
    PivotSeriesAnswer, PivotSeriesRequest,
};
pub use recording::{
    MarkRequest, RecordAnswer, RecordCount, RecordProfile, RecordRequest, RecordStep,
};
pub use stacks::{
    Direction, FlameAnswer, FlameChartAnswer, FlameChartRequest, FlameNode, FlameRequest, Frame,
    StackAnswer, StackRequest, Weight,
};
pub use symbols::{SymbolsAnswer, SymbolsModule, SymbolsRequest, SymbolsState, SymbolsStep};
pub use tables::{
    Cell, ColumnFilter, ColumnInfo, Hit, Measure, PivotAnswer, PivotRequest, PivotRow, RowsAnswer,
    RowsRequest, SearchAnswer, SearchRequest, Sort, TableInfo,
};
pub use tags::{OwnTagsRequest, TagText, TagsAnswer};

/// Beginning and end in nanoseconds from the start of the trace; the end is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Range {
    /// Its start.
    pub from_ns: i64,
    /// Its end.
    pub to_ns: i64,
}

/// The field that a chip of the filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `process_key`, as a number.
    Process,
    /// Name of the process, as a filter of names has it: `*`, `?`, lists with `;`, exclusions with
    /// `!`.
    ProcessName,
    /// `thread_key`, as a number.
    Thread,
    /// Number of the processor.
    Core,
    /// Stack tag, by its whole name.
    Tag,
    /// Path of the file, whatever its case.
    File,
    /// Module of a frame of the stack, by its file name.
    Module,
    /// Method of a frame of the stack, by its whole name.
    Method,
}

/// One condition of the filter: the row has one of these values, or none of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Chip {
    /// The compared field.
    pub field: Field,
    /// With these values, as text.
    pub values: Vec<String>,
    /// Rows that have none of them are taken.
    pub exclude: bool,
}

/// The rows that count: those that match all chips. A chip for which a table has no column is
/// ignored, and the answer names it in `not_applied`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Selection {
    /// The part of the trace; without it the whole.
    pub range: Option<Range>,
    /// Conditions that all hold.
    pub chips: Vec<Chip>,
}

/// Origin of an answer; panels show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Source {
    /// SQL that gives the same numbers with `etwkit sql`; empty where none does.
    pub sql: String,
    /// The command line that gives the same numbers; empty where none does.
    pub command: String,
    /// Rows of tables or of pyramids that were read.
    pub rows_read: u64,
    /// Milliseconds that the answer took on the server.
    pub took_ms: f64,
    /// Chips that this answer could not apply, by their field.
    pub not_applied: Vec<Field>,
    /// Notes for the reader: missing parts of the trace, cut answers.
    pub notes: Vec<String>,
}

/// An error, sent with status 4xx or 5xx.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    /// A word for programs: `bad_request`, `not_found`, `not_ready`, `not_recorded`, `cancelled`,
    /// `limit`, `replaced`, `conflict`, `recorder`, `internal`.
    pub code: String,
    /// The error.
    pub message: String,
    /// Advice for correcting it.
    pub hint: Option<String>,
}
