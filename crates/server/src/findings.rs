//! Findings of the rules, with the keys and times that the page needs to go to them.

use etwkit_analysis::diagnose::{self, CostRow, DiagnoseRequest, FindingRow, RuleRow, SpotField};
use etwkit_base::shell;
use etwkit_sql::Session;

use crate::api::Call;
use crate::cells::{asked, whole};
use crate::problem::Result;
use crate::wire::{
    Cell, Chip, ColumnFilter, Cost, Evidence, Field, Finding, FindingsAnswer, FindingsRequest,
    Range, RuleState, Source, Spot, Weight,
};
use crate::words::trace_word;

/// Largest number of processes for one id: Windows reuses ids.
const MOST_PROCESSES: usize = 50;

pub(crate) fn findings(call: &Call<'_>, request: &FindingsRequest) -> Result<FindingsAnswer> {
    let ready = call.ready(request.trace)?;
    if let Some(known) = ready.findings.get() {
        return Ok(known.clone());
    }
    let session = call.session(&ready)?;
    let path = ready.named.display().to_string();
    // Without a range or selection: findings are for the whole trace, so that one answer serves all
    // pages.
    let diagnosis = DiagnoseRequest::default().ask(&session)?;
    let rows_read = diagnosis.findings.len() as u64;
    let each = diagnosis
        .findings
        .into_iter()
        .map(|row| finding(row, &session, &path));
    let costs = diagnosis
        .costs
        .into_iter()
        .map(|row| cost(row, &session, &path));
    let answer = FindingsAnswer {
        findings: each.collect::<Result<_>>()?,
        costs: costs.collect::<Result<_>>()?,
        rules: diagnosis
            .rules
            .into_iter()
            .chain(diagnosis.failed_costs)
            .map(rule)
            .collect(),
        source: Source {
            command: format!("etwkit diagnose --details {}", trace_word(&path)),
            rows_read,
            took_ms: call.took_ms(),
            ..Source::default()
        },
    };
    // Two pages may have run the rules at once: both results are equal.
    Ok(ready.findings.get_or_init(|| answer).clone())
}

fn finding(row: FindingRow, session: &Session, path: &str) -> Result<Finding> {
    let victim = row.pid.zip(row.process_key);
    let evidence = evidence(&row.evidence, path);
    let spot = spot_of(row.spot.as_deref(), victim, session)?;
    let name = row.process.as_deref().unwrap_or("?");
    Ok(Finding {
        victim: row.pid.map(|pid| format!("{name} ({pid})")),
        range: row
            .from_ns
            .zip(row.to_ns)
            .map(|(from_ns, to_ns)| Range { from_ns, to_ns }),
        share: row.cost_percent.map(|percent| percent / 100.0),
        stack: lines(row.stack.as_deref()),
        chain: lines(row.chain.as_deref()),
        evidence,
        spot,
        number: row.number,
        explained_by: row.explained_by,
        rule: row.rule,
        sentence: row.sentence,
        culprit: row.culprit,
        cost_ns: row.cost_ns,
        process_key: row.process_key,
        victims: row.victims,
        count: row.count,
        at_ns: row.at_ns,
        longest_ns: row.longest_ns,
        thread_key: row.thread_key,
        confidence: row.confidence,
        why: row.why,
        fix: row.fix,
        not_proved: row.not_proved,
        shows: row.shows,
    })
}

fn cost(row: CostRow, session: &Session, path: &str) -> Result<Cost> {
    let victim = row.pid.zip(row.process_key);
    Ok(Cost {
        evidence: evidence(&row.evidence, path),
        spot: spot_of(row.spot.as_deref(), victim, session)?,
        share: row.cost_percent.map(|percent| percent / 100.0),
        chain: lines(row.chain.as_deref()),
        kind: row.kind,
        sentence: row.sentence,
        cost_ns: row.cost_ns,
    })
}

fn lines(text: Option<&str>) -> Vec<String> {
    text.into_iter()
        .flat_map(str::lines)
        .map(str::to_owned)
        .collect()
}

fn rule(row: RuleRow) -> RuleState {
    RuleState {
        rule: row.rule,
        title: row.title,
        state: row.state,
        missing: row.missing,
    }
}

/// Returns the command lines of a finding or a cost.
fn evidence(lines: &str, path: &str) -> Vec<Evidence> {
    lines.lines().map(|line| one_line(line, path)).collect()
}

fn one_line(line: &str, path: &str) -> Evidence {
    let words = shell::split(line);
    // Names out of the trace stand in the line: each word is quoted anew, so that no shell runs any of them.
    let command = format!(
        "etwkit {} {}",
        shell::joined_patterns(&words),
        trace_word(path)
    );
    Evidence { command, words }
}

/// Returns the view of a finding or a cost, if it names one. `victim` has the id and the key of its
/// process.
fn spot_of(
    line: Option<&str>,
    victim: Option<(i64, i64)>,
    session: &Session,
) -> Result<Option<Spot>> {
    let read = line.map(|line| spot(line, victim, session)).transpose()?;
    Ok(read.flatten())
}

/// Returns the view that a line names; nothing if it cannot be read: another version may have stored
/// it, and a rule can put anything into its row.
fn spot(line: &str, victim: Option<(i64, i64)>, session: &Session) -> Result<Option<Spot>> {
    let Ok(read) = diagnose::Spot::read(line) else {
        return Ok(None);
    };
    let mut chips = Vec::new();
    for (field, value) in &read.fields {
        // So many victims that the rule does not list them.
        if value == "*" {
            continue;
        }
        let Some((field, values)) = condition(*field, value, victim, session)? else {
            return Ok(None);
        };
        chips.push(Chip {
            field,
            values,
            exclude: false,
        });
    }
    let columns = read.columns.into_iter();
    Ok(Some(Spot {
        view: read.view.to_owned(),
        table: read.table.map(str::to_owned),
        question: read.question.map(str::to_owned),
        weight: read.weight.and_then(weight),
        chips,
        columns: columns
            .map(|(column, value)| ColumnFilter {
                column: column.to_owned(),
                values: vec![Cell::Text(value)],
                exclude: false,
            })
            .collect(),
        options: read.options,
    }))
}

/// Returns a condition of a spot as a chip has it; nothing if it needs ids and has none.
fn condition(
    field: SpotField,
    value: &str,
    victim: Option<(i64, i64)>,
    session: &Session,
) -> Result<Option<(Field, Vec<String>)>> {
    let one = || vec![value.to_owned()];
    Ok(Some(match field {
        SpotField::Process => {
            let Some(ids) = listed(value) else {
                return Ok(None);
            };
            let mut keys = Vec::new();
            for id in ids {
                keys.extend(processes_of(id, victim, session)?);
            }
            (Field::Process, keys.iter().map(i64::to_string).collect())
        }
        SpotField::Module => (Field::Module, one()),
        SpotField::Method => (Field::Method, value.split(';').map(str::to_owned).collect()),
        SpotField::File => (Field::File, one()),
    }))
}

/// Returns the weight of that name.
fn weight(name: &str) -> Option<Weight> {
    serde_json::from_value(name.into()).ok()
}

/// Returns the ids of a list such as `12;16`; nothing if one of them is not an id.
fn listed(ids: &str) -> Option<Vec<i64>> {
    ids.split(';').map(|id| id.parse().ok()).collect()
}

/// Returns the keys of the processes that had an id. Windows reuses ids, but that of the victim
/// identifies its process.
fn processes_of(pid: i64, victim: Option<(i64, i64)>, session: &Session) -> Result<Vec<i64>> {
    if let Some((of_victim, key)) = victim
        && of_victim == pid
    {
        return Ok(vec![key]);
    }
    let sql = format!("SELECT process_key FROM process WHERE pid = {pid} ORDER BY process_key");
    let rows = asked(session, &sql, MOST_PROCESSES)?.rows;
    Ok(rows
        .iter()
        .filter_map(|row| row.first().and_then(whole))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_lists_ids_or_nothing_else() {
        assert_eq!(listed("12;16"), Some(vec![12, 16]));
        assert_eq!(listed("12"), Some(vec![12]));
        assert_eq!(listed("cmd.exe"), None);
    }

    #[test]
    fn a_name_that_ends_its_quotes_stays_an_argument() {
        let name = "x'; rm -rf ~; $(reboot) '";
        let line = format!("dump cpu --methods '*{name}*'");
        let written = shell::joined_patterns(shell::split(&line));
        assert_eq!(
            written,
            r#"dump cpu --methods "*x;" rm -rf "~;" "?(reboot)" "*""#
        );
    }
}
