//! The largest costs of a trace by kind, for traces in which no rule finds a cause: where to look. They are
//! no findings, since nothing says that they are too large.

use std::sync::LazyLock;

use etwkit_question::any_rows::{AnyRow, AnyValue, ask_any};
use etwkit_question::ask;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_sql::Session;

use super::chain;
use super::evidence::{line, spot};
use super::finding::{FindingRow, RuleRow};
use super::recorded::Recorded;
use super::rule::Rule;
use super::sentence::fill;
use crate::Result;
use crate::chain::ChainContext;

etwkit_question::declare! {
    /// One of the largest costs of a trace.
    pub row CostRow {
        kind: String = "Kind of cost: `processor`, `wait`, `disk`, `dpc`, `gc` or `hard-fault`.",
        sentence: String = "What took the time.",
        cost_ns: i64 = "How long.",
        cost_percent: Option<f64> = "Share of the recording; of several processors it can be more than 100.",
        process_key: Option<i64> = "Process that it is a cost of; null where it is none, or several.",
        pid: Option<i64> = "Its id.",
        chain: Option<String> = "Of a wait: the chain of waits, a line for each.",
        evidence: String = "Command lines that show it, a line for each, without program and extract.",
        spot: Option<String> = "View of the page that shows it, and its filters; null where the evidence says it.",
    }

    row Of {
        pid: i64 = "Process id.",
    }
}

macro_rules! costs {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../costs/", $name, ".sql")))),+]
    };
}

/// The questions, of the same form as rules.
const TEXTS: &[(&str, &str)] = costs!["processor", "wait", "disk", "dpc", "gc", "hard-fault"];

// One that cannot be read is skipped; a test below keeps that from happening.
static COSTS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let costs = TEXTS.iter();
    costs
        .filter_map(|(name, text)| Some(Rule::read(name, text)?.in_area("costs", text)))
        .collect()
});

/// Costs that are shown, at most.
const SHOWN: usize = 3;

/// Length below which nobody notices a cost that is only a small part of the recording.
const UNNOTICED_NS: i64 = 100_000_000;

/// How many times as long such a recording is at least.
const UNNOTICED_PART: i64 = 1000;

/// The costs of a trace.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// The largest ones, each of another kind, the largest first.
    pub(super) largest: Vec<CostRow>,
    /// Those that could not be computed, and why: one of them may be larger than these.
    pub(super) failed: Vec<RuleRow>,
}

/// The largest costs of a trace.
pub(super) fn largest(
    session: &Session,
    recorded: &Recorded,
    known: &ChainContext,
) -> Result<Costs> {
    // Without the data, the query would find 0, as if nothing had been spent.
    let asked = COSTS
        .iter()
        .filter(|cost| recorded.missing(session, cost).is_none());
    largest_of(session, asked, known)
}

fn largest_of<'c>(
    session: &Session,
    costs: impl Iterator<Item = &'c Rule>,
    known: &ChainContext,
) -> Result<Costs> {
    let mut all = Vec::new();
    let mut failed = Vec::new();
    for cost in costs {
        // One row: each query has its largest cost first.
        match ask_any(session, cost.query(), &[], 1) {
            Ok((rows, _)) => {
                if let Some(row) = rows.first() {
                    all.extend(shown(session, cost, row, known)?);
                }
            }
            // Only an interruption by the user ends the whole diagnosis.
            Err(error @ etwkit_sql::Error::Cancelled) => return Err(error.into()),
            // A cost that cannot be computed must not hide what rules find.
            Err(error) => failed.push(RuleRow {
                rule: format!("largest costs ({})", cost.name),
                ..RuleRow::failed(cost, &error.to_string())
            }),
        }
    }
    all.sort_by_key(|cost| std::cmp::Reverse(cost.cost_ns));
    // After the sort, since kinds are asked in a fixed order.
    all.truncate(SHOWN);
    Ok(Costs {
        largest: all,
        failed,
    })
}

fn shown(
    session: &Session,
    cost: &Rule,
    row: &AnyRow,
    known: &ChainContext,
) -> Result<Option<CostRow>> {
    let whole = |name: &str| row.get(name).and_then(AnyValue::whole);
    // A trace in which nothing was spent of this kind has a row with 0.
    let Some(cost_ns) = whole("cost_ns").filter(|cost| *cost > 0) else {
        return Ok(None);
    };
    let length = Covered::whole(Recorder::Any).length_ns(session)?;
    if is_unnoticed(cost_ns, length) {
        return Ok(None);
    }
    let process_key = whole("process_key");
    let mut values = row.clone();
    // Ids for command lines are not part of the query: not every cost has a process.
    let pid = match process_key {
        Some(key) => pid_of(session, key)?,
        None => None,
    };
    values.insert("pid".to_owned(), pid.into());
    let value = |name: &str| values.get(name);
    let evidence: Vec<String> = cost
        .evidence
        .iter()
        .filter_map(|one| line(&one.template, value))
        .collect();
    let thread_key = whole("thread_key");
    let thread = thread_key.and_then(|key| known.threads.get(i32::try_from(key).ok()?));
    // Chains are found for findings; these are the columns that the search needs.
    let wait = FindingRow {
        tid: thread.map(|thread| thread.tid),
        thread_key,
        at_ns: whole("at_ns"),
        longest_ns: whole("longest_ns"),
        ..FindingRow::default()
    };
    let chain = chain::of(session, &wait, known)?;
    Ok(Some(CostRow {
        kind: cost.name.clone(),
        sentence: fill(&cost.sentence, value),
        cost_ns,
        // A trace without a length, as of a test, has no shares.
        cost_percent: (length > 0).then(|| cost_ns as f64 * 100.0 / length as f64),
        process_key,
        pid,
        chain,
        evidence: evidence.join("\n"),
        // A cost of several processes has no id for a filter: its evidence names their program.
        spot: cost.spots.iter().find_map(|one| spot(one, value)),
    }))
}

/// Returns the id of the process with this key.
fn pid_of(session: &Session, key: i64) -> Result<Option<i64>> {
    let sql = format!("SELECT pid FROM process WHERE process_key = {key}");
    Ok(ask::<Of>(session, &sql)?.first().map(|of| of.pid))
}

/// Returns `true` for a cost that is short, and a small part of the recording: no place to look first.
const fn is_unnoticed(cost_ns: i64, length_ns: i64) -> bool {
    cost_ns < UNNOTICED_NS && cost_ns.saturating_mul(UNNOTICED_PART) < length_ns
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::{Columns, DiskFile, Row};

    use super::*;

    /// Returns what the cost of a disk says about files with these service times.
    fn part_of_a_file(service_ns: &[i64]) -> String {
        let mut columns = <DiskFile as Row>::Columns::default();
        for (number, ns) in service_ns.iter().enumerate() {
            columns.push(&DiskFile {
                path: Some(format!(r"C:\{number}.bin").into()),
                read_service_ns: *ns,
                ..DiskFile::default()
            });
        }
        let files = (DiskFile::TABLE, vec![columns.take().unwrap()]);
        let session = Session::from_batches(vec![files]).unwrap();
        let disk = COSTS.iter().find(|cost| cost.name == "disk").unwrap();
        let (rows, _) = ask_any(&session, disk.query(), &[], 1).unwrap();
        rows[0]["part"].text().unwrap().to_owned()
    }

    #[test]
    fn the_file_of_a_disk_is_one_with_a_tenth_of_its_time() {
        assert_eq!(
            part_of_a_file(&[9, 91]),
            r", 91 % of it with C:\1.bin",
            "the largest"
        );
        assert_eq!(part_of_a_file(&[5; 20]), "", "none of files that are alike");
    }

    #[test]
    fn a_millisecond_of_a_long_recording_is_no_place_to_look_first() {
        let ms = |ms: i64| ms * 1_000_000;
        assert!(is_unnoticed(ms(1), ms(14_000)));
        assert!(!is_unnoticed(ms(1), ms(500)));
        assert!(!is_unnoticed(ms(200), ms(3_600_000)));
        // A trace without a length, as of a test, has no parts.
        assert!(!is_unnoticed(ms(1), 0));
    }

    #[test]
    fn a_cost_whose_question_fails_is_told_and_hides_no_other() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let known = ChainContext::load(&session).unwrap();
        let cost = |name: &str, sql: &str| {
            let text = format!("-- Cost\n-- sentence: {{culprit}} took {{cost}}\n{sql}");
            Rule::read(name, &text).unwrap()
        };
        let costs = [
            cost("broken", "SELECT a FROM nowhere"),
            cost("good", "SELECT 'a.exe' AS culprit, 1000000000 AS cost_ns"),
        ];
        let found = largest_of(&session, costs.iter(), &known).unwrap();
        let [good] = &found.largest[..] else {
            panic!("{found:?}")
        };
        assert_eq!(good.sentence, "a.exe took 1.00 s");
        let [broken] = &found.failed[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (broken.rule.as_str(), broken.state.as_str()),
            ("largest costs (broken)", "failed")
        );
        let why = broken.missing.as_deref().unwrap();
        assert!(why.contains("nowhere"), "{why}");
    }

    #[test]
    fn each_cost_can_be_read_and_says_how_it_is_shown() {
        assert_eq!(COSTS.len(), TEXTS.len());
        for cost in COSTS.iter() {
            assert!(
                !cost.text().contains("p.name || ' ('"),
                "{}: a process without a name makes its text empty",
                cost.name
            );
            assert!(!cost.sentence.contains("} times"), "{}", cost.name);
            assert!(
                !cost.needs.is_empty() && !cost.evidence.is_empty(),
                "{}",
                cost.name
            );
            assert!(!cost.spots.is_empty(), "{}: it has no spot", cost.name);
            assert_eq!(cost.wrong_spot(), None, "{}", cost.name);
        }
    }
}
