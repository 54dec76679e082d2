//! Generation of `ui/src/wire.ts` from the types of [`wire`](crate::wire).

use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::wire::*;

macro_rules! declared {
    ($($name:ty),* $(,)?) => {{
        let config = Config::new().with_large_int("number");
        vec![$(format!("export {}", <$name as TS>::decl(&config))),*]
    }};
}

/// Declarations of the open traces and of queries.
fn asking() -> Vec<String> {
    declared![
        Range,
        Field,
        Chip,
        Selection,
        Source,
        Failure,
        Info,
        TraceInfo,
        Opening,
        TableCount,
        TopicInfo,
        State,
        Recent,
        FolderRequest,
        FolderAnswer,
        FolderIn,
        FolderRecording,
        OpenRequest,
        RecordAnswer,
        RecordStep,
        RecordProfile,
        RecordCount,
        RecordRequest,
        MarkRequest,
        SymbolsAnswer,
        SymbolsStep,
        SymbolsModule,
        SymbolsState,
        SymbolsRequest,
        TagsAnswer,
        OwnTagsRequest,
        TagText,
    ]
}

/// Lanes and stacks.
fn over_time() -> Vec<String> {
    declared![
        LaneKind,
        LanesRequest,
        LanesAnswer,
        Lane,
        TimelineRequest,
        TimelineHeader,
        SeriesKind,
        SeriesRequest,
        Series,
        SeriesAnswer,
        MomentRequest,
        Moment,
        Slice,
        Weight,
        Direction,
        FlameRequest,
        FlameAnswer,
        FlameNode,
        FlameChartRequest,
        FlameChartAnswer,
        StackRequest,
        StackAnswer,
        Frame,
    ]
}

/// Returns the declarations of tables and questions.
fn tables() -> Vec<String> {
    declared![
        Schema,
        TableInfo,
        ColumnInfo,
        Cell,
        Measure,
        Sort,
        ColumnFilter,
        PivotRequest,
        PivotAnswer,
        PivotRow,
        PivotSeriesRequest,
        PivotSeriesAnswer,
        PivotSeries,
        DiskMapRequest,
        DiskMapAnswer,
        DiskOnMap,
        DiskCellRequest,
        DiskCellAnswer,
        DiskCellFile,
        ModulesRequest,
        ModuleOwner,
        ModulesAnswer,
        ModulesOf,
        ModuleOn,
        RowsRequest,
        RowsAnswer,
        SearchRequest,
        SearchAnswer,
        Hit,
        QuestionInfo,
        OptionInfo,
        AskRequest,
        SqlRequest,
        Answer,
        AnswerTable,
        AnswerColumn,
        ExplainRequest,
        ExplainAnswer,
        ExplainRun,
        ExplainCause,
        ExplainPoint,
        ExplainGroup,
        FindingsRequest,
        FindingsAnswer,
        Finding,
        Cost,
        Evidence,
        Spot,
        RuleState,
    ]
}

/// Returns the text of the file.
fn text() -> String {
    let types = [asking(), over_time(), tables()].concat();
    let waits = format!("export const WAITS = {WAITS:?} as const;");
    format!(
        "// Written by the tests of crates/server from its types; not edited by hand.\n\n{}\n\n{waits}\n",
        tidied(&types.join("\n\n"))
    )
}

/// Returns declarations with comments of one line on one line, and without blanks at ends of lines.
fn tidied(declarations: &str) -> String {
    let lines: Vec<&str> = declarations.lines().map(str::trim_end).collect();
    let mut tidy: Vec<String> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    loop {
        rest = match rest {
            ["/**", words, " */", after @ ..] => {
                tidy.push(format!("/** {} */", words.trim_start_matches(" * ")));
                after
            }
            [line, after @ ..] => {
                tidy.push((*line).to_owned());
                after
            }
            [] => break,
        };
    }
    tidy.join("\n")
}

#[test]
fn the_page_knows_the_same_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/wire.ts");
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        fs::write(&path, text()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text(),
        "ui/src/wire.ts is not what the types say; ETWKIT_BLESS=1 writes it"
    );
}
