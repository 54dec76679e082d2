//! Files and names whose reads and queries a process waits for: what its longer waits are for, where no
//! module says it.

use etwkit_sql::time_format::seconds;

use super::DiffTable;
use super::rows::Change;

/// Shares of the difference of a wait that reads or queries explain. A little more than all of it is usual,
/// since some of them go on while the process computes.
const EXPLAINS: std::ops::RangeInclusive<f64> = 0.5..=1.1;

/// Something that threads wait for, on both sides.
#[derive(Debug)]
pub(super) struct Awaited {
    /// Its kind, in plural.
    what: &'static str,
    row: Change,
}

impl Awaited {
    /// Returns the rows of a table; none if it is not one of waits for something outside of the process.
    pub(super) fn all(table: DiffTable, rows: &[Change]) -> impl Iterator<Item = Self> {
        let what = match table {
            DiffTable::HardFaults => Some("hard faults"),
            DiffTable::Dns => Some("DNS queries"),
            _ => None,
        };
        what.into_iter().flat_map(|what| {
            rows.iter().map(move |row| Self {
                what,
                row: row.clone(),
            })
        })
    }
}

/// Returns the largest one that explains the difference of a wait: `hard faults of C:\a.bin take 0.096 s longer`.
pub(super) fn explanation(wait: &Change, all: &[Awaited]) -> Option<String> {
    if wait.of_time != "wait" || wait.difference_ns == 0 {
        return None;
    }
    let explains = |one: &&Awaited| {
        let share = one.row.difference_ns as f64 / wait.difference_ns as f64;
        EXPLAINS.contains(&share)
    };
    let largest = all
        .iter()
        .filter(explains)
        .max_by_key(|one| one.row.difference_ns.unsigned_abs())?;
    let Awaited { what, row } = largest;
    let word = if row.difference_ns > 0 {
        "longer"
    } else {
        "less"
    };
    let length = seconds(row.difference_ns.saturating_abs(), 3);
    Some(format!("{what} of {} take {length} s {word}", row.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn change(name: &str, of_time: &str, difference_ms: i64) -> Change {
        Change {
            name: name.to_owned(),
            of_time: of_time.to_owned(),
            difference_ns: difference_ms * MS,
            ..Change::default()
        }
    }

    #[test]
    fn what_most_of_a_wait_is_for_explains_it() {
        let of = |table, rows: &[Change]| -> Vec<Awaited> { Awaited::all(table, rows).collect() };
        let read = change(r"C:\templates.bin", "time", 98);
        let mut all = of(
            DiffTable::HardFaults,
            &[change("small.dll", "time", 20), read],
        );
        all.extend(of(DiffTable::Dns, &[change("a.example", "time", 300)]));
        all.extend(of(DiffTable::Files, &[change("b.txt", "time", 99)]));
        let wait = |ms| explanation(&change("Report.exe", "wait", ms), &all);
        let expected = r"hard faults of C:\templates.bin take 0.098 s longer";
        assert_eq!(wait(96).as_deref(), Some(expected));
        assert_eq!(wait(250), None, "less than half of it");
        assert_eq!(wait(-96), None, "the other side waits longer");
        let cpu = change("Report.exe", "cpu", 96);
        assert_eq!(explanation(&cpu, &all), None);
        let less = of(DiffTable::Dns, &[change("a.example", "time", -90)]);
        assert_eq!(
            explanation(&change("Report.exe", "wait", -96), &less).as_deref(),
            Some("DNS queries of a.example take 0.090 s less")
        );
    }
}
