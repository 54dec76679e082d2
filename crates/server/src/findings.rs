//! Findings of the rules, with the keys and times that the page needs to go to them.

use etwkit_analysis::diagnose::{DiagnoseRequest, FindingRow, RuleRow};
use etwkit_base::shell;
use etwkit_query::Session;

use crate::api::Call;
use crate::cells::{asked, whole};
use crate::problem::Result;
use crate::wire::{Evidence, Finding, FindingsAnswer, FindingsRequest, Range, RuleState, Source};

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
    let rows_read = u64::try_from(diagnosis.findings.len()).unwrap_or_default();
    let each = diagnosis
        .findings
        .into_iter()
        .map(|row| finding(row, &session, &path));
    let answer = FindingsAnswer {
        findings: each.collect::<Result<_>>()?,
        rules: diagnosis.rules.into_iter().map(rule).collect(),
        source: Source {
            command: format!("etwkit diagnose --details {}", shell::quoted(&path)),
            rows_read,
            took_ms: call.took_ms(),
            ..Source::default()
        },
    };
    // Two pages may have run the rules at once: both results are equal.
    Ok(ready.findings.get_or_init(|| answer).clone())
}

fn finding(row: FindingRow, session: &Session, path: &str) -> Result<Finding> {
    let evidence = row
        .evidence
        .lines()
        .map(|line| evidence(line, &row, session, path));
    let evidence = evidence.collect::<Result<_>>()?;
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
        number: row.number,
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

fn evidence(line: &str, row: &FindingRow, session: &Session, path: &str) -> Result<Evidence> {
    let words = shell::split(line);
    let pid = words
        .iter()
        .skip_while(|word| *word != "--process")
        .nth(1)
        .and_then(|pid| pid.parse().ok());
    let processes = match (pid, row.process_key) {
        // Windows reuses ids, but the id of the victim identifies its process.
        (Some(pid), Some(victim)) if row.pid == Some(pid) => vec![victim],
        (Some(pid), _) => processes_of(pid, session)?,
        (None, _) => Vec::new(),
    };
    // Names out of the trace stand in the line: each word is quoted anew, so that a shell runs none of them.
    let command = format!("etwkit {} {}", shell::joined(&words), shell::quoted(path));
    Ok(Evidence {
        command,
        words,
        processes,
    })
}

/// Returns the keys of the processes that had an id.
fn processes_of(pid: i64, session: &Session) -> Result<Vec<i64>> {
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
    fn a_name_that_ends_its_quotes_stays_an_argument() {
        let name = "x'; rm -rf ~; $(reboot) '";
        let line = format!("dump cpu --methods '*{name}*'");
        let written = shell::joined(shell::split(&line));
        assert_eq!(
            written,
            "dump cpu --methods '*x;' rm -rf '~;' '$(reboot)' '*'"
        );
    }
}
