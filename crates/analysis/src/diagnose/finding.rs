//! Rows of rules become findings: one for each culprit, however many victims it has.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use etwkit_question::any_rows::{AnyRow, AnyValue};
use etwkit_question::ask;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_sql::{Session, tables};

use super::evidence::{EvidenceLine, line, spot};
use super::rule::Rule;
use super::sentence::fill;
use crate::Result;
use crate::chain::ChainContext;
use crate::duration::duration;
use crate::explain::capital;

etwkit_question::declare! {
    /// Something that a rule found.
    pub row FindingRow {
        number: i64 = "Number of the finding in this diagnosis, from 1.",
        rule: String = "Rule that found it.",
        severity: String = "`cost`, or `note` for something that is good to know but costs nothing.",
        title: String = "What the rule finds.",
        sentence: String = "What was found, as a sentence.",
        culprit: String = "What is to blame: a driver, process, server, file or setting.",
        cost_ns: Option<i64> = "Time in which at least one victim could not go on because of it; null for notes.",
        cost_percent: Option<f64> = "Share of the recording that this is.",
        process_key: Option<i64> = "Process that it cost most; null where no process is the victim.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "Its name.",
        victims: String = "All processes that it cost something, the first ones with their cost.",
        count: Option<i64> = "How often it happened.",
        longest_ns: Option<i64> = "Length of the longest piece.",
        from_ns: Option<i64> = "Start of the first piece.",
        to_ns: Option<i64> = "End of the last piece.",
        at_ns: Option<i64> = "Start of the longest piece.",
        thread_key: Option<i64> = "Thread of the longest piece.",
        tid: Option<i64> = "Its id.",
        stack_id: Option<i64> = "Stack of the longest piece.",
        stack: Option<String> = "Its frames, innermost first.",
        chain: Option<String> = "The wait chain of the longest piece, the victim first, a line for each wait; null \
            where that piece is not a wait.",
        explained_by: Option<i64> = "Number of the finding that explains most of its time; null without one.",
        confidence: String = "`high`, `medium` or `low`, and why it is not high.",
        evidence: String = "Command lines that show the rows of the finding, a line for each, without the program and the extract.",
        shows: String = "What these lines show where it is not just the number of the finding; empty otherwise.",
        spot: Option<String> = "View of the page that shows these rows, and its filters; null where the evidence says it.",
        why: String = "Why this happens.",
        fix: String = "What to do about it.",
        not_proved: String = "What the finding does not prove.",
    }

    /// A rule that was evaluated.
    pub row RuleRow {
        rule: String = "Rule.",
        title: String = "What the rule finds.",
        state: String = "`found`, `nothing`, `not checked` or `failed`.",
        found: i64 = "How many findings it has.",
        missing: Option<String> = "What it needs but was not recorded, or why it failed.",
    }

    row Named {
        process_key: i64 = "Key.",
        pid: i64 = "Process id.",
        name: Option<String> = "Name.",
    }

    row InTable {
        process_key: Option<i64> = "Key of a process with rows in a table.",
    }

    row Recording {
        lost: i64 = "Events and buffers that were lost or are missing.",
        ring_start_ns: Option<i64> = "Time from which a ring of buffers has the events of all processors.",
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
        Self {
            missing: Some(missing.to_owned()),
            ..Self::new(rule, "not checked")
        }
    }

    pub(super) fn failed(rule: &Rule, why: &str) -> Self {
        Self {
            missing: Some(why.to_owned()),
            ..Self::new(rule, "failed")
        }
    }

    pub(super) fn asked(rule: &Rule, found: usize, is_cut: bool) -> Self {
        let missing = is_cut.then(|| "only the first 10,000 rows were looked at".to_owned());
        let state = if found > 0 { "found" } else { "nothing" };
        // More findings than fit do not exist; the limit only avoids a conversion that can fail.
        let found = i64::try_from(found).unwrap_or(i64::MAX);
        Self {
            found,
            missing,
            ..Self::new(rule, state)
        }
    }
}

/// Victims that are named with what it cost them.
const NAMED_VICTIMS: usize = 5;

/// Process ids that a line of evidence lists.
// A command line with hundreds of ids can neither be read nor be typed.
const LISTED_IDS: usize = 20;

/// A process in a sentence whose name was not recorded, as in the SQL of rules.
const NAMELESS: &str = "process";

/// Findings in the making.
pub(super) struct Findings<'s> {
    session: &'s Session,
    processes: HashMap<i64, Named>,
    recording: Recording,
    /// Length of the recording, or of the part that was extracted.
    length_ns: i64,
    /// Threads and stacks, read only when a finding needs them.
    known: Option<ChainContext>,
    /// Processes with rows in tables that lines of evidence name, by table.
    in_tables: HashMap<&'static str, HashSet<i64>>,
    all: Vec<FindingRow>,
}

impl<'s> Findings<'s> {
    pub(super) fn new(session: &'s Session) -> Result<Self> {
        let named: Vec<Named> = ask(session, "SELECT process_key, pid, name FROM process")?;
        let recording = ask(
            // Buffers can be missing without a count of lost events, and both make a finding
            // less sure.
            session,
            "SELECT lost_events + lost_buffers + coalesce(missing_buffers, 0) AS lost, ring_start_ns FROM trace",
        )?;
        Ok(Self {
            session,
            processes: named
                .into_iter()
                .map(|process| (process.process_key, process))
                .collect(),
            // Tables without a trace, as of a test, have no time and no losses.
            recording: recording.into_iter().next().unwrap_or_default(),
            length_ns: Covered::whole(Recorder::Any).length_ns(session)?,
            known: None,
            in_tables: HashMap::new(),
            all: Vec::new(),
        })
    }

    /// Adds what a rule found; returns the number of findings.
    pub(super) fn add(&mut self, rule: &Rule, rows: Vec<AnyRow>) -> Result<usize> {
        // Sorted by name, so that findings of equal cost have the same order each time.
        let mut by_culprit: BTreeMap<String, Vec<AnyRow>> = BTreeMap::new();
        for row in rows {
            // Rows without a culprit are one finding.
            let culprit = text(&row, "culprit").unwrap_or("").to_owned();
            by_culprit.entry(culprit).or_default().push(row);
        }
        let found = by_culprit.len();
        for (culprit, mut rows) in by_culprit {
            // The costliest victim represents all of them; the sort is stable, so that equal ones keep the
            // order of the rule.
            rows.sort_by_key(|row| std::cmp::Reverse(whole(row, "cost_ns")));
            let finding = self.finding(rule, culprit, &rows)?;
            self.all.push(finding);
        }
        Ok(found)
    }

    fn finding(&mut self, rule: &Rule, culprit: String, rows: &[AnyRow]) -> Result<FindingRow> {
        let none = AnyRow::new();
        let first = rows.first().unwrap_or(&none);
        let process = whole(first, "process_key")
            .and_then(|key| self.processes.get(&key))
            .cloned();
        // Notes may have a cost in their rows, which only orders these.
        let cost_ns = (!rule.is_note).then(|| total(rows));
        let values = self.values(rows, process.as_ref(), cost_ns);
        let value = |name: &str| values.get(name);
        // Sentences get names as they are, command lines get them as patterns.
        let words: AnyRow = values
            .iter()
            .map(|(name, value)| (name.clone(), in_pattern(value)))
            .collect();
        // Evidence shows all victims, the sentence names the costliest.
        let of_all = self.with_all_ids(words.clone(), rows);
        // Which spot fits depends on the first row, and it shows all victims, as the sentence counts them.
        let in_spot = |name: &str| match words.get(name) {
            missing @ Some(AnyValue::Missing) => missing,
            _ => of_all.get(name),
        };
        let evidence = self.evidence(rule, rows, &of_all)?;
        let thread_key = whole(first, "thread_key");
        let stack_id = whole(first, "stack_id");
        let (tid, stack) = self.details(thread_key, stack_id)?;
        let each = |name: &'static str| rows.iter().filter_map(move |row| whole(row, name));
        Ok(FindingRow {
            // Numbers are given when all findings are known and sorted.
            number: 0,
            rule: rule.name.clone(),
            severity: if rule.is_note { "note" } else { "cost" }.to_owned(),
            title: rule.title.clone(),
            sentence: begun(fill(&rule.sentence, value)),
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
            // Chains are followed last, for findings that took time.
            chain: None,
            explained_by: None,
            confidence: self.confidence(rule, first, each("from_ns").min()),
            evidence: evidence.join("\n"),
            shows: fill(&rule.shows, value),
            spot: rule
                // The first one whose columns are all filled.
                .spots
                .iter()
                .find_map(|template| spot(template, in_spot)),
            why: rule.why.clone(),
            fix: fill(&rule.fix, value),
            not_proved: rule.not_proved.clone(),
        })
    }

    /// Returns the values of the costliest row, and the ones that are derived from all rows.
    fn values(&self, rows: &[AnyRow], process: Option<&Named>, cost_ns: Option<i64>) -> AnyRow {
        let mut values = rows.first().map_or_else(AnyRow::new, Clone::clone);
        let name = process.and_then(|process| process.name.clone());
        for (column, value) in [
            ("victim", AnyValue::Text(self.victim(rows))),
            ("pid", process.map(|process| process.pid).into()),
            ("process", name.map_or(AnyValue::Missing, AnyValue::Text)),
            ("total_ns", cost_ns.into()),
        ] {
            // A column of the rule takes precedence over a value that is derived here.
            values.entry(column.to_owned()).or_insert(value);
        }
        values
    }

    /// Returns the command lines that show rows of the finding.
    fn evidence(&mut self, rule: &Rule, rows: &[AnyRow], values: &AnyRow) -> Result<Vec<String>> {
        let mut evidence = Vec::new();
        for one in &rule.evidence {
            // A line that would print an empty table looks like a contradiction of the finding.
            if self.has_rows(one, rows)? {
                evidence.extend(line(&one.template, |name| values.get(name)));
            }
        }
        Ok(evidence)
    }

    /// Returns `true` if the table that a line of evidence shows has rows of one of the victims; of a
    /// table without processes, and for a finding without victims, any row is enough.
    fn has_rows(&mut self, of: &EvidenceLine, rows: &[AnyRow]) -> Result<bool> {
        let Some(name) = &of.table else {
            return Ok(true);
        };
        // Without rows at all, there are none of a victim.
        if self.session.has_rows(name) != Some(true) {
            return Ok(false);
        }
        let with_processes =
            tables().find(|table| table.name == name && table.column("process_key").is_some());
        let victims = rows.iter().filter_map(|row| whole(row, "process_key"));
        let mut victims = victims.peekable();
        let Some(table) = with_processes.filter(|_| victims.peek().is_some()) else {
            return Ok(true);
        };
        // Several rules ask for the same tables, whose processes are then read once.
        let keys = match self.in_tables.entry(table.name) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let sql = format!("SELECT DISTINCT process_key FROM {}", table.name);
                let keys: Vec<InTable> = ask(self.session, &sql)?;
                unknown.insert(keys.into_iter().filter_map(|row| row.process_key).collect())
            }
        };
        Ok(victims.any(|key| keys.contains(&key)))
    }

    /// The values of a row, with the process ids of all rows in place of its own.
    fn with_all_ids(&self, mut values: AnyRow, rows: &[AnyRow]) -> AnyRow {
        for (name, value) in &mut values {
            // Rules name further processes in columns such as `lock_pid`.
            if name == "pid" || name.ends_with("_pid") {
                let each = rows.iter().filter_map(|row| self.id(row, name));
                if let Some(all) = pattern_of_ids(each) {
                    *value = AnyValue::Text(all);
                }
            }
        }
        values
    }

    /// A process id of a row: that of its victim unless the rule has a column of this name.
    fn id(&self, row: &AnyRow, name: &str) -> Option<i64> {
        if name != "pid" || row.contains_key(name) {
            return whole(row, name);
        }
        let victim = self.processes.get(&whole(row, "process_key")?)?;
        Some(victim.pid)
    }

    fn percent(&self, cost_ns: i64) -> Option<f64> {
        let whole = self.length_ns;
        (whole > 0).then(|| cost_ns as f64 * 100.0 / whole as f64)
    }

    /// Who suffers, in a few words: the sentence gives the total, so that it must cover all victims.
    fn victim(&self, rows: &[AnyRow]) -> String {
        let named: Vec<&Named> = rows
            .iter()
            .filter_map(|row| self.processes.get(&whole(row, "process_key")?))
            .collect();
        match named.as_slice() {
            [] => "The machine".to_owned(),
            [one] => called(one),
            // Several processes with a name are mostly one program, for which one name is
            // enough.
            [first, others @ ..] if others.iter().all(|other| other.name == first.name) => {
                format!(
                    "{} ({} processes)",
                    first.name.as_deref().unwrap_or(NAMELESS),
                    named.len()
                )
            }
            [first, others @ ..] => format!("{} and {} more", called(first), others.len()),
        }
    }

    /// Processes with what it cost each of them; after the first ones only how many more there are.
    fn victims(&self, rows: &[AnyRow]) -> String {
        let named: Vec<(&Named, Option<i64>)> = rows
            .iter()
            .filter_map(|row| {
                Some((
                    self.processes.get(&whole(row, "process_key")?)?,
                    whole(row, "cost_ns"),
                ))
            })
            .collect();
        let first = named
            .iter()
            .take(NAMED_VICTIMS)
            .map(|(process, cost)| match cost {
                Some(cost) => format!("{} {}", called(process), duration(*cost)),
                None => called(process),
            });
        let more = named.len().saturating_sub(NAMED_VICTIMS);
        let more = (more > 0).then(|| format!("{more} more"));
        first.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// How sure a finding is: less where events are missing, unless the rule itself says.
    fn confidence(&self, rule: &Rule, row: &AnyRow, from_ns: Option<i64>) -> String {
        // What a rule says about this row is more precise than what its header says about all rows.
        if let Some(of_row) = text(row, "confidence") {
            return of_row.to_owned();
        }
        // A ring overwrote the events of each processor up to another time.
        let is_before_ring = from_ns
            .zip(self.recording.ring_start_ns)
            .is_some_and(|(from, start)| from < start);
        match (rule.confidence.as_str(), self.recording.lost) {
            // Lost events may be exactly those that would have contradicted the rule.
            ("", 0) if is_before_ring => {
                "medium: it started when not all processors were recorded".to_owned()
            }
            ("", 0) => "high".to_owned(),
            ("", _) => "medium: events of the recording are missing".to_owned(),
            (of_rule, _) => of_rule.to_owned(),
        }
    }

    fn details(
        &mut self,
        thread: Option<i64>,
        stack: Option<i64>,
    ) -> Result<(Option<i64>, Option<String>)> {
        if thread.is_none() && stack.is_none() {
            return Ok((None, None));
        }
        // Stacks are large. Findings without any need none of them.
        if self.known.is_none() {
            self.known = Some(ChainContext::load(self.session)?);
        }
        let Some(ChainContext {
            threads, stacks, ..
        }) = &self.known
        else {
            return Ok((None, None));
        };
        let thread = thread.and_then(|key| threads.get(i32::try_from(key).ok()?));
        Ok((
            thread.map(|thread| thread.tid),
            stack.map(|stack| stacks.all(stack).join("\n")),
        ))
    }

    /// All findings, the costliest first, then notes in the order of the rules; with them the threads and
    /// stacks that were read for them.
    pub(super) fn sorted(self) -> (Vec<FindingRow>, Option<ChainContext>) {
        let Self { mut all, known, .. } = self;
        all.sort_by_key(|finding| std::cmp::Reverse(order(finding)));
        (all, known)
    }
}

/// Numbers findings in their order, and changes the numbers by which they name each other; one that is not
/// among them any more is not named.
pub(super) fn number(findings: &mut [FindingRow]) {
    let numbers: HashMap<i64, i64> = findings
        // The map is complete before any number changes, since numbers refer forward and back.
        .iter()
        .zip(1..)
        .map(|(finding, number)| (finding.number, number))
        .collect();
    for (finding, number) in findings.iter_mut().zip(1..) {
        finding.number = number;
        // The cause may have been left out by a filter.
        finding.explained_by = finding
            .explained_by
            .and_then(|cause| numbers.get(&cause).copied());
    }
}

/// The cost to all victims.
fn total(rows: &[AnyRow]) -> i64 {
    // A rule knows better how its costs overlap.
    let of_rule = rows.first().and_then(|row| whole(row, "total_ns"));
    // Costs of several victims may overlap in time, so they are not added up: without a total from the
    // rule, the largest one is a lower bound that is certain.
    let costliest = rows.iter().filter_map(|row| whole(row, "cost_ns")).max();
    // A rule whose rows have no cost found something that took no time.
    of_rule.or(costliest).unwrap_or(0)
}

/// A value that is used as a pattern: `;`, which would start a second pattern, becomes `?`.
fn in_pattern(value: &AnyValue) -> AnyValue {
    match value {
        AnyValue::Text(text) => AnyValue::Text(text.replace(';', "?")),
        other => other.clone(),
    }
}

/// A pattern for processes with these ids; for all processes where more ids are given than a line lists, and
/// `None` without ids.
fn pattern_of_ids(ids: impl Iterator<Item = i64>) -> Option<String> {
    let mut different: Vec<String> = Vec::new();
    for id in ids.map(|id| id.to_string()) {
        // Few enough that a list is searched faster than a set.
        if different.contains(&id) {
            continue;
        }
        // All processes show too much, but nothing of the finding is hidden.
        if different.len() == LISTED_IDS {
            return Some("*".to_owned());
        }
        different.push(id);
    }
    (!different.is_empty()).then(|| different.join(";"))
}

/// A process as people call it.
fn called(process: &Named) -> String {
    format!(
        "{} ({})",
        process.name.as_deref().unwrap_or(NAMELESS),
        process.pid
    )
}

/// A sentence whose first word is a capital where a process without a name begins it; names stay as they are.
fn begun(sentence: String) -> String {
    if sentence
        .strip_prefix(NAMELESS)
        .is_some_and(|rest| rest.starts_with(" ("))
    {
        capital(&sentence)
    } else {
        sentence
    }
}

fn whole(row: &AnyRow, name: &str) -> Option<i64> {
    row.get(name)?.whole()
}

fn text<'r>(row: &'r AnyRow, name: &str) -> Option<&'r str> {
    row.get(name)?.text()
}

/// The cost by which findings are ordered. Notes have none and come after any finding with one.
pub(super) fn order(row: &FindingRow) -> i64 {
    // Below zero, so that costs of nothing still come first.
    row.cost_ns.unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_name_begins_a_sentence() {
        let begun = |sentence: &str| begun(sentence.to_owned());
        assert_eq!(begun("process (4) waited"), "Process (4) waited");
        assert_eq!(begun("process.exe (4) waited"), "process.exe (4) waited");
    }

    #[test]
    fn ids_of_processes_become_a_pattern() {
        let pattern = |ids: &[i64]| pattern_of_ids(ids.iter().copied());
        assert_eq!(pattern(&[]), None);
        assert_eq!(pattern(&[12]).as_deref(), Some("12"));
        assert_eq!(pattern(&[12, 4, 12]).as_deref(), Some("12;4"));
        let many: Vec<i64> = (1..=21).collect();
        assert_eq!(pattern(&many).as_deref(), Some("*"));
    }
}
