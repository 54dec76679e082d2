//! Common causes of slow runs: a question to several traces, each of which is a run.

use std::path::PathBuf;
use std::sync::Arc;

use etwkit_analysis::explain::{CauseRow, EffectRow, ExplainRequest as Asked, GroupRow, RunRow};
use etwkit_analysis::questions::EXPLAIN;
use etwkit_question::{OptionError, Question as _, Request as _};

use crate::api::Call;
use crate::ask::command_line;
use crate::problem::{Problem, Result};
use crate::state::Ready;
use crate::wire::{
    ExplainAnswer, ExplainCause, ExplainGroup, ExplainPoint, ExplainRequest, ExplainRun, Source,
};

pub(crate) fn explain(call: &Call<'_>, request: &ExplainRequest) -> Result<ExplainAnswer> {
    let wrong = |error: OptionError| Problem::bad(error.to_string());
    let asked = Asked::from_json(&request.options).map_err(wrong)?;
    let runs = runs(call, &request.traces)?;
    let extracts: Vec<PathBuf> = runs.iter().map(|(_, run)| run.extract.clone()).collect();
    let mut notes = Vec::new();
    let engine = &call.shared.engine;
    let session = engine.open(call.asking, &extracts, &mut notes)?;
    // Questions keep the tags of the extract, whatever the page chose.
    session.use_tags(Arc::default());
    let found = asked.explain(&session)?;
    let effects = found.effect_rows();
    let causes = found.cause_rows().into_iter();
    let paths: Vec<String> = runs
        .iter()
        .map(|(_, run)| run.named.display().to_string())
        .collect();
    let source = Source {
        sql: asked.show_sql(),
        command: command_line(&EXPLAIN.options(), EXPLAIN.name(), &request.options, &paths),
        rows_read: u64::try_from(effects.len()).unwrap_or(u64::MAX),
        took_ms: call.took_ms(),
        notes,
        ..Source::default()
    };
    Ok(ExplainAnswer {
        sentence: found.sentence(),
        lines: found.more(),
        metric: found.metric().to_owned(),
        runs: runs
            .iter()
            .zip(found.run_rows())
            .map(|((trace, _), row)| run(*trace, row))
            .collect(),
        causes: causes.filter_map(|row| cause(row, &effects)).collect(),
        groups: found.group_rows().into_iter().map(group).collect(),
        source,
    })
}

/// Returns the traces with their numbers, the first of those that have one extract.
fn runs(call: &Call<'_>, traces: &[u32]) -> Result<Vec<(u32, Arc<Ready>)>> {
    let mut runs: Vec<(u32, Arc<Ready>)> = Vec::new();
    for trace in traces {
        let ready = call.ready(*trace)?;
        let is_known = runs.iter().any(|(_, known)| known.extract == ready.extract);
        if !is_known {
            runs.push((*trace, ready));
        }
    }
    if runs.is_empty() {
        return Err(Problem::bad("explain compares traces, and none is named"));
    }
    Ok(runs)
}

fn run(trace: u32, row: RunRow) -> ExplainRun {
    ExplainRun {
        trace,
        metric_ms: row.metric_ms,
        half: row.half,
        state: row.state,
        not_comparable: row.not_comparable,
    }
}

/// Returns a cause with its values, which its effects have.
fn cause(row: CauseRow, effects: &[EffectRow]) -> Option<ExplainCause> {
    let own: Vec<&EffectRow> = effects
        .iter()
        .filter(|effect| effect.cause == row.cause)
        .collect();
    let points = own.iter().map(|effect| ExplainPoint {
        run: effect.run,
        value: effect.value,
    });
    let names = row.moves_with.split("; ").filter(|name| !name.is_empty());
    Some(ExplainCause {
        name: own.first()?.name.clone(),
        points: points.collect(),
        moves_with: names.map(str::to_owned).collect(),
        measure: row.measure,
        unit: row.unit,
        effect_ms: row.effect_ms,
        share: row.share_percent / 100.0,
        slow: row.slow,
        fast: row.fast,
        ms_per_unit: row.ms_per_unit,
        base_ms: row.base_ms,
        p_value: row.p_value,
        is_p_of_all: row.is_p_of_all,
        more: row.more,
    })
}

fn group(row: GroupRow) -> ExplainGroup {
    ExplainGroup {
        first: row.first,
        second: row.second,
        runs: row.runs,
        median_ms: row.median_ms,
        spread_ms: row.spread_ms,
        min_ms: row.min_ms,
        max_ms: row.max_ms,
        fastest_core_ms: row.fastest_core_ms,
        other_core_ms: row.other_core_ms,
    }
}
