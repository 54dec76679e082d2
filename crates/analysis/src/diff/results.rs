//! Operations that failed, on both sides: what ends in another way in the bad run.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_question::sql::Conditions;
use etwkit_question::{ask, is_recorded};

use super::DiffRequest;
use super::rows::ResultChange;
use super::side::{Side, Sides};
use crate::Result;

/// Rows of one kind that are read of a side: messages of exceptions can all be different.
const MOST: usize = 10_000;

etwkit_question::declare! {
    /// A result and how often it occurs.
    row Counted {
        name: String = "Function, operation or type.",
        result: String = "Name of the status.",
        process: Option<String> = "Process.",
        count: i64 = "How often.",
    }
}

/// A kind of operations.
struct Kind {
    word: &'static str,
    table: &'static str,
    /// SQL of its name, result and time, and the condition that it failed. The table is `r`.
    name: &'static str,
    result: &'static str,
    time: &'static str,
    failed: &'static str,
    joins: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        word: "system call",
        table: "syscall",
        name: "coalesce(m.name, concat(coalesce(d.name, '?'), '+', hex(coalesce(f.rva, f.address, 0))))",
        result: "ntstatus_name(r.status)",
        time: "coalesce(r.exit_ns, r.enter_ns)",
        // Functions of the window manager return any number: what has no name is no status.
        failed: "r.status < 0 AND ntstatus_name(r.status) NOT LIKE '0x%'",
        joins: "LEFT JOIN frame f ON f.frame_id = r.frame_id
LEFT JOIN method m ON m.method_id = f.method_id
LEFT JOIN module d ON d.module_id = f.module_id",
    },
    Kind {
        word: "file",
        table: "file_io",
        name: "r.kind",
        result: "ntstatus_name(r.status)",
        time: "coalesce(r.end_ns, r.start_ns)",
        failed: "r.status < 0",
        joins: "",
    },
    Kind {
        word: "registry",
        table: "registry_io",
        name: "r.operation",
        result: "ntstatus_name(r.status)",
        time: "r.end_ns",
        failed: "r.status < 0",
        joins: "",
    },
    Kind {
        word: "exception",
        table: "exception",
        name: "r.exception_type",
        result: "coalesce(r.message, '')",
        time: "r.ts_ns",
        failed: "true",
        joins: "",
    },
];

/// Operation, result and process.
type Key = (String, String, Option<String>);

/// Returns the results that one side has alone or more often than noise explains, those that are
/// new on one side last.
///
/// # Errors
/// A side cannot be asked.
pub(super) fn results(asked: &DiffRequest, both: &Sides) -> Result<Vec<ResultChange>> {
    let [a, b] = &both.sides;
    let mut rows = Vec::new();
    for kind in &KINDS {
        // Where one side recorded none of it, everything would be new.
        if is_recorded(&a.session, kind.table)? && is_recorded(&b.session, kind.table)? {
            let of_a = counts(kind, asked, a)?;
            let of_b = counts(kind, asked, b)?;
            rows.extend(changes(kind.word, &of_a, &of_b, asked.noise_percent));
        }
    }
    rows.sort_by(|x, y| {
        weight(x)
            .cmp(&weight(y))
            .then_with(|| (&y.name, &y.result, &y.process).cmp(&(&x.name, &x.result, &x.process)))
    });
    Ok(rows)
}

/// Returns the SQL of one side.
pub(super) fn sql(asked: &DiffRequest) -> String {
    let of = |kind: &Kind| kind.sql(asked.processes.conditions());
    KINDS.iter().map(of).collect::<Vec<_>>().join(";\n")
}

impl Kind {
    fn sql(&self, conditions: Conditions) -> String {
        let conditions = conditions.and([self.failed.to_owned()]);
        format!(
            "SELECT {name} AS name, {result} AS result, p.name AS process, count(*) AS count
FROM {table} r
LEFT JOIN process p ON p.process_key = r.process_key
{joins}{conditions}
GROUP BY 1, 2, 3
ORDER BY 4 DESC, 1, 2, 3
LIMIT {MOST}",
            name = self.name,
            result = self.result,
            table = self.table,
            joins = self.joins,
        )
    }
}

fn counts(kind: &Kind, asked: &DiffRequest, side: &Side) -> Result<BTreeMap<Key, i64>> {
    let conditions = asked.processes.conditions().range(kind.time, side.time);
    let rows = ask::<Counted>(&side.session, &kind.sql(conditions))?;
    Ok(rows
        .into_iter()
        .map(|row| ((row.name, row.result, row.process), row.count))
        .collect())
}

fn changes(
    kind: &str,
    a: &BTreeMap<Key, i64>,
    b: &BTreeMap<Key, i64>,
    noise_percent: f64,
) -> Vec<ResultChange> {
    let results = |side: &BTreeMap<Key, i64>| -> BTreeSet<String> {
        side.keys().map(|(_, result, _)| result.clone()).collect()
    };
    let results_a = results(a);
    let results_b = results(b);
    let keys: BTreeSet<&Key> = a.keys().chain(b.keys()).collect();
    let change = |key: &Key| {
        let count = |side: &BTreeMap<Key, i64>| side.get(key).map_or(0, |count| *count);
        let count_a = count(a);
        let count_b = count(b);
        let difference = count_a.abs_diff(count_b) as f64;
        if difference == 0.0 || difference * 100.0 < noise_percent * count_a.max(count_b) as f64 {
            return None;
        }
        let (name, result, process) = key.clone();
        let only_in = match (count_a, count_b) {
            (0, _) => Some("B".to_owned()),
            (_, 0) => Some("A".to_owned()),
            _ => None,
        };
        Some(ResultChange {
            kind: kind.to_owned(),
            is_new_result: !results_a.contains(&result) || !results_b.contains(&result),
            name,
            result,
            process,
            only_in,
            count_a,
            count_b,
        })
    };
    keys.into_iter().filter_map(change).collect()
}

/// Returns the order of a row: a result that the other side does not know explains more than one
/// that is more frequent.
fn weight(row: &ResultChange) -> (bool, bool, u64) {
    (
        row.is_new_result,
        row.only_in.is_some(),
        row.count_a.abs_diff(row.count_b),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_the_other_side_does_not_know_comes_last() {
        let side = |all: &[(&str, &str, i64)]| -> BTreeMap<Key, i64> {
            all.iter()
                .map(|(name, result, count)| {
                    let process = Some("copy.exe".to_owned());
                    (((*name).to_owned(), (*result).to_owned(), process), *count)
                })
                .collect()
        };
        let a = side(&[
            ("NtOpenKey", "NOT_FOUND", 100),
            ("NtReadFile", "END_OF_FILE", 40),
        ]);
        let b = side(&[
            ("NtOpenKey", "NOT_FOUND", 104),
            ("NtCreateFile", "ACCESS_VIOLATION", 1),
            ("NtCreateFile", "NOT_FOUND", 9),
            ("NtReadFile", "END_OF_FILE", 90),
        ]);
        let mut rows = changes("system call", &a, &b, 5.0);
        rows.sort_by_key(weight);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.name.as_str(),
                    row.count_a,
                    row.count_b,
                    row.is_new_result,
                )
            })
            .collect();
        let expected = [
            ("NtReadFile", 40, 90, false),
            ("NtCreateFile", 0, 9, false),
            ("NtCreateFile", 0, 1, true),
        ];
        assert_eq!(found, expected, "100 and 104 differ by less than noise");
    }
}
