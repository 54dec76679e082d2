//! Rows of rules become findings: one for each culprit, whatever the number of its victims.

use std::collections::{BTreeMap, HashMap};

use etwkit_query::Session;
use etwkit_query::dump::any_rows::{AnyRow, AnyValue};
use etwkit_query::dump::ask;

use super::evidence::line;
use super::rule::Rule;
use super::sentence::{duration, fill};
use crate::chain::ChainContext;
use crate::{Result, diagnose::view};

etwkit_query::declare! {
    /// Something that a rule found.
    pub row FindingRow {
        number: i64 = "Number of the finding in this diagnosis, from 1.",
        rule: String = "Rule that found it.",
        severity: String = "`cost`, or `note` for what is only to be known.",
        title: String = "What the rule finds.",
        sentence: String = "What was found, as a sentence.",
        culprit: String = "What is to blame: a driver, process, server, file or setting.",
        cost_ns: Option<i64> = "Time in which at least one victim could not go on because of it; null for notes.",
        cost_percent: Option<f64> = "Share of the recording that this is.",
        process_key: Option<i64> = "Process that it cost most; null where it is none.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "Its name.",
        victims: String = "All processes that it cost something, the first ones with how much.",
        count: Option<i64> = "How often.",
        longest_ns: Option<i64> = "Longest piece.",
        from_ns: Option<i64> = "Begin of the first piece.",
        to_ns: Option<i64> = "End of the last piece.",
        at_ns: Option<i64> = "Begin of the longest piece.",
        thread_key: Option<i64> = "Thread of the longest piece.",
        tid: Option<i64> = "Its id.",
        stack_id: Option<i64> = "Stack of the longest piece.",
        stack: Option<String> = "Its frames, innermost first.",
        chain: Option<String> = "Who waited for whom in the longest piece, the victim first, a line for each wait; null \
            where it is no wait.",
        confidence: String = "`high`, `medium` or `low`, and why it is not high.",
        evidence: String = "Command lines that show the rows behind it, a line for each, without the program and the extract.",
        why: String = "Why it is so.",
        fix: String = "What to do about it.",
        not_proved: String = "What does not follow from it.",
    }

    /// A rule that was asked.
    pub row RuleRow {
        rule: String = "Rule.",
        title: String = "What it finds.",
        state: String = "`found`, `nothing`, `not checked` or `failed`.",
        found: i64 = "Findings.",
        missing: Option<String> = "What it needs and was not recorded, or why it failed.",
    }

    row Named {
        process_key: i64 = "Key.",
        pid: i64 = "Process id.",
        name: Option<String> = "Name.",
    }

    row Recording {
        duration_ns: i64 = "Length of the recording.",
        lost: i64 = "Events and buffers that were lost or are missing.",
    }
}

impl RuleRow {
    fn new(rule: &Rule, state: &str) -> Self {
        Self {
            rule: rule.name.clone(),
            title: rule.title.clone(),
            state: state.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn not_checked(rule: &Rule, missing: &str) -> Self {
        Self { missing: Some(missing.to_owned()), ..Self::new(rule, "not checked") }
    }

    pub(super) fn failed(rule: &Rule, why: &str) -> Self {
        Self { missing: Some(why.to_owned()), ..Self::new(rule, "failed") }
    }

    pub(super) fn asked(rule: &Rule, found: usize, is_cut: bool) -> Self {
        let missing = is_cut.then(|| "only the first 10 000 rows were looked at".to_owned());
        let state = if found > 0 { "found" } else { "nothing" };
        let found = i64::try_from(found).unwrap_or(i64::MAX);
        Self { found, missing, ..Self::new(rule, state) }
    }
}

/// Victims that are named with what it cost them.
const NAMED_VICTIMS: usize = 5;

/// Findings in the making.
pub(super) struct Findings<'s> {
    session: &'s Session,
    processes: HashMap<i64, Named>,
    recording: Recording,
    /// Threads and stacks are read when there is something to say of them.
    known: Option<ChainContext>,
    all: Vec<FindingRow>,
}

impl<'s> Findings<'s> {
    pub(super) fn new(session: &'s Session) -> Result<Self> {
        let named: Vec<Named> = ask(session, "SELECT process_key, pid, name FROM process")?;
        let recording = ask(
            session,
            "SELECT duration_ns, lost_events + lost_buffers + coalesce(missing_buffers, 0) AS lost FROM trace",
        )?;
        Ok(Self {
            session,
            processes: named.into_iter().map(|process| (process.process_key, process)).collect(),
            recording: recording.into_iter().next().unwrap_or_default(),
            known: None,
            all: Vec::new(),
        })
    }

    /// Adds what a rule found; returns how many findings that are.
    pub(super) fn add(&mut self, rule: &Rule, rows: Vec<AnyRow>) -> Result<usize> {
        // Sorted by name, so that findings of equal cost have the same order each time.
        let mut by_culprit: BTreeMap<String, Vec<AnyRow>> = BTreeMap::new();
        for row in rows {
            let culprit = text(&row, "culprit").unwrap_or_default().to_owned();
            by_culprit.entry(culprit).or_default().push(row);
        }
        let found = by_culprit.len();
        for (culprit, mut rows) in by_culprit {
            // The victim that it cost most speaks for all; equal ones in the order of the rule.
            rows.sort_by_key(|row| std::cmp::Reverse(whole(row, "cost_ns")));
            let finding = self.finding(rule, culprit, &rows)?;
            self.all.push(finding);
        }
        Ok(found)
    }

    fn finding(&mut self, rule: &Rule, culprit: String, rows: &[AnyRow]) -> Result<FindingRow> {
        let none = AnyRow::new();
        let first = rows.first().unwrap_or(&none);
        let process = whole(first, "process_key").and_then(|key| self.processes.get(&key)).cloned();
        let cost_ns = (!rule.is_note).then(|| {
            // Costs of several victims overlap in time, so that they are not added up: without a total of the
            // rule the largest one is certain.
            let costliest = rows.iter().filter_map(|row| whole(row, "cost_ns")).max();
            whole(first, "total_ns").or(costliest).unwrap_or_default()
        });
        let mut values = first.clone();
        let mut put = |name: &str, value: AnyValue| {
            // Columns of the rule go before what is made here.
            values.entry(name.to_owned()).or_insert(value);
        };
        put("victim", AnyValue::Text(self.victim(rows)));
        put("pid", process.as_ref().map(|process| process.pid).into());
        put(
            "process",
            process
                .as_ref()
                .and_then(|process| process.name.clone())
                .map_or(AnyValue::Missing, AnyValue::Text),
        );
        put("total_ns", cost_ns.into());
        let value = |name: &str| values.get(name);
        // Sentences get names as they are, command lines get them as patterns.
        let words: AnyRow = values.iter().map(|(name, value)| (name.clone(), in_pattern(value))).collect();
        let evidence: Vec<String> =
            rule.evidence.iter().filter_map(|template| line(template, |name| words.get(name))).collect();
        let (thread_key, stack_id) = (whole(first, "thread_key"), whole(first, "stack_id"));
        let (tid, stack) = self.details(thread_key, stack_id)?;
        let each = |name: &'static str| rows.iter().filter_map(move |row| whole(row, name));
        Ok(FindingRow {
            number: 0,
            rule: rule.name.clone(),
            severity: if rule.is_note { "note" } else { "cost" }.to_owned(),
            title: rule.title.clone(),
            sentence: fill(&rule.sentence, value),
            culprit,
            cost_ns,
            cost_percent: cost_ns.and_then(|cost| self.percent(cost)),
            process_key: process.as_ref().map(|process| process.process_key),
            pid: process.as_ref().map(|process| process.pid),
            process: process.and_then(|process| process.name),
            victims: self.victims(rows),
            count: whole(first, "count"),
            longest_ns: whole(first, "longest_ns"),
            from_ns: each("from_ns").min(),
            to_ns: each("to_ns").max(),
            at_ns: whole(first, "at_ns"),
            thread_key,
            tid,
            stack_id,
            stack,
            chain: None,
            confidence: self.confidence(rule, first),
            evidence: evidence.join("\n"),
            why: rule.why.clone(),
            fix: fill(&rule.fix, value),
            not_proved: rule.not_proved.clone(),
        })
    }

    fn percent(&self, cost_ns: i64) -> Option<f64> {
        let whole = self.recording.duration_ns;
        (whole > 0).then(|| cost_ns as f64 * 100.0 / whole as f64)
    }

    /// Who suffers, in a few words: what a sentence says of the total has to be said of all of them.
    fn victim(&self, rows: &[AnyRow]) -> String {
        let named: Vec<&Named> =
            rows.iter().filter_map(|row| self.processes.get(&whole(row, "process_key")?)).collect();
        match named.as_slice() {
            [] => "The machine".to_owned(),
            [one] => called(one),
            [first, others @ ..] if others.iter().all(|other| other.name == first.name) => {
                format!("{} ({} processes)", first.name.as_deref().unwrap_or("?"), named.len())
            }
            [first, others @ ..] => format!("{} and {} more", called(first), others.len()),
        }
    }

    /// Processes with what it cost each; those behind the first ones as a number.
    fn victims(&self, rows: &[AnyRow]) -> String {
        let named: Vec<(&Named, Option<i64>)> = rows
            .iter()
            .filter_map(|row| Some((self.processes.get(&whole(row, "process_key")?)?, whole(row, "cost_ns"))))
            .collect();
        let told = named.iter().take(NAMED_VICTIMS).map(|(process, cost)| match cost {
            Some(cost) => format!("{} {}", called(process), duration(*cost)),
            None => called(process),
        });
        let more = named.len().saturating_sub(NAMED_VICTIMS);
        let more = (more > 0).then(|| format!("{more} more"));
        told.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// What a rule says of its rows counts less where events are missing.
    fn confidence(&self, rule: &Rule, row: &AnyRow) -> String {
        // What a rule says of this very row is better than what its header says of all.
        if let Some(told) = text(row, "confidence") {
            return told.to_owned();
        }
        match (rule.confidence.as_str(), self.recording.lost) {
            ("", 0) => "high".to_owned(),
            ("", _) => "medium: events of the recording are missing".to_owned(),
            (told, _) => told.to_owned(),
        }
    }

    fn details(&mut self, thread: Option<i64>, stack: Option<i64>) -> Result<(Option<i64>, Option<String>)> {
        if thread.is_none() && stack.is_none() {
            return Ok((None, None));
        }
        if self.known.is_none() {
            self.known = Some(ChainContext::load(self.session)?);
        }
        let Some(ChainContext { threads, stacks, .. }) = &self.known else { return Ok((None, None)) };
        let thread = thread.and_then(|key| threads.get(i32::try_from(key).ok()?));
        Ok((thread.map(|thread| thread.tid), stack.map(|stack| stacks.all(stack).join("\n"))))
    }

    /// All of them, the costliest first; notes behind, in the order of the rules. With them what was read for
    /// them.
    pub(super) fn sorted(self) -> (Vec<FindingRow>, Option<ChainContext>) {
        let Self { mut all, known, .. } = self;
        all.sort_by_key(|finding| std::cmp::Reverse(view::order(finding)));
        (all, known)
    }
}

/// A value where it is a pattern: what would end the pattern stands for any character.
fn in_pattern(value: &AnyValue) -> AnyValue {
    match value {
        AnyValue::Text(text) => AnyValue::Text(text.replace(';', "?")),
        other => other.clone(),
    }
}

/// A process as people call it.
fn called(process: &Named) -> String {
    format!("{} ({})", process.name.as_deref().unwrap_or("?"), process.pid)
}

fn whole(row: &AnyRow, name: &str) -> Option<i64> {
    row.get(name)?.whole()
}

fn text<'r>(row: &'r AnyRow, name: &str) -> Option<&'r str> {
    row.get(name)?.text()
}
