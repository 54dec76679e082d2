//! The largest rows of a list, and lists by process.

use crate::option;

declare! {
    /// Limits of a ranked list.
    #[derive(Copy, Eq)]
    pub request Top {
        /// Show the N largest; 0: all [default: 40 of a ranked list in text, all in JSON and CSV]
        count: Option<usize> = option("N").called("top").shape(),
        /// Leave out the N largest first
        skip: usize = option("N").shape(),
    }

    /// Limits of the list of processes, for answers with rows for each process.
    #[derive(Copy, Eq)]
    pub request TopProcesses {
        /// With --per-process: show the N largest processes
        count: Option<usize> = option("N").called("top-processes").requires("per-process").shape(),
        /// With --per-process: leave out the N largest processes first
        skip: usize = option("N").called("skip-processes").shape(),
    }
}

impl From<TopProcesses> for Top {
    fn from(TopProcesses { count, skip }: TopProcesses) -> Self {
        Self { count, skip }
    }
}

impl Top {
    /// Returns the maximum number of rows; `None` if all rows are requested, which 0 also means.
    #[must_use]
    pub fn most(&self) -> Option<usize> {
        self.count.filter(|count| *count > 0)
    }

    /// Removes all other rows. With count 10 and skip 20 the rows ranked 21 to 30 from the end
    /// remain.
    pub fn cut<T>(&self, rows: &mut Vec<T>) {
        // Rows are ascending: the skipped rows are the largest ones, at the end.
        rows.truncate(rows.len().saturating_sub(self.skip));
        if let Some(count) = self.most() {
            rows.drain(..rows.len().saturating_sub(count));
        }
    }
}

/// Rows of one process.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<R, T> {
    /// Sums over the rows.
    pub total: T,
    /// Its rows, ascending; never empty.
    pub rows: Vec<R>,
}

/// Puts rows with the same key together: groups in the order of their first rows, rows in their
/// order, at most the largest `top` of each group.
pub fn grouped<R, K: Eq + std::hash::Hash, T>(
    rows: Vec<R>,
    key: impl Fn(&R) -> K,
    top: Top,
    total: impl Fn(&[R]) -> T,
) -> Vec<Group<R, T>> {
    let mut position = std::collections::HashMap::new();
    let mut groups: Vec<Vec<R>> = Vec::new();
    for row in rows {
        let next = groups.len();
        let at = *position.entry(key(&row)).or_insert(next);
        match groups.get_mut(at) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter_mut().for_each(|rows| top.cut(rows));
    groups.retain(|rows| !rows.is_empty());
    groups
        .into_iter()
        .map(|rows| Group {
            total: total(&rows),
            rows,
        })
        .collect()
}

/// Rows in groups; one group with all rows unless they are by process.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped<R, T> {
    /// Groups, ascending by their sums.
    pub groups: Vec<Group<R, T>>,
    /// Sums over all rows.
    pub total: T,
}

/// Grouping of rows by process, and the limits of the groups.
pub struct Grouping {
    /// A group for each process.
    pub per_process: bool,
    /// Limits of the rows of each group.
    pub top: Top,
    /// Limits of the groups, if they are by process.
    pub top_processes: Top,
}

impl Grouping {
    /// Returns groups with the sums of their rows, in the order of the sort keys of these sums.
    #[must_use]
    pub fn answer<R: Clone, T, K: Eq + std::hash::Hash>(
        &self,
        rows: Vec<R>,
        process: impl Fn(&R) -> K,
        total: impl Fn(&[R]) -> T,
        sort_value: impl Fn(&T) -> f64,
    ) -> Grouped<R, T> {
        // One key for all rows puts them into one group.
        let key = |row: &R| self.per_process.then(|| process(row));
        let mut groups = grouped(rows, key, self.top, &total);
        groups.sort_by(|a, b| sort_value(&a.total).total_cmp(&sort_value(&b.total)));
        if self.per_process {
            self.top_processes.cut(&mut groups);
        }
        let all: Vec<R> = groups
            .iter()
            .flat_map(|group| group.rows.iter().cloned())
            .collect();
        Grouped {
            groups,
            total: total(&all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_rows_remain() {
        for (count, skip, remaining) in [
            (None, 0, vec![1, 2, 3, 4, 5]),
            (Some(2), 0, vec![4, 5]),
            (Some(2), 1, vec![3, 4]),
            (Some(9), 0, vec![1, 2, 3, 4, 5]),
            (Some(2), 4, vec![1]),
            (Some(2), 9, vec![]),
            (Some(0), 0, vec![1, 2, 3, 4, 5]),
        ] {
            let mut rows = vec![1, 2, 3, 4, 5];
            Top { count, skip }.cut(&mut rows);
            assert_eq!(rows, remaining, "{count:?} {skip}");
        }
    }

    #[test]
    fn groups_keep_order_and_sum_what_remains() {
        let rows = vec![("b", 1), ("a", 2), ("b", 3), ("b", 4)];
        let groups = grouped(
            rows,
            |row| row.0,
            Top {
                count: Some(2),
                skip: 0,
            },
            |rows| rows.iter().map(|r| r.1).sum(),
        );
        assert_eq!(
            groups,
            [
                Group {
                    total: 7,
                    rows: vec![("b", 3), ("b", 4)]
                },
                Group {
                    total: 2,
                    rows: vec![("a", 2)]
                }
            ]
        );
    }
}
