//! Bars of the page: groups of runs with the same labels.

use std::collections::BTreeSet;
use std::fmt::{Result, Write as _};

use super::Explanation;
use super::by_label::{ByLabel, by_size};
use super::numbers::mean;
use super::rows::GroupRow;
use super::sentence::cause_name;
use crate::duration::milliseconds;
use crate::page::Text;

/// Colours of the causes in bars, by their numbers. They differ for all kinds of color vision.
const CAUSES: [&str; 6] = [
    "#d55e00", "#e69f00", "#cc79a7", "#009e73", "#56b4e9", "#0072b2",
];

/// The part of a bar that no cause explains.
const UNEXPLAINED: &str = "#999999";

const FASTEST_CORES: &str = "#0072b2";
const OTHER_CORES: &str = "#e69f00";

/// Width of the longest bar of a list, and of one in a cell, in pixels.
const BAR: f64 = 320.0;
const BAR_IN_CELL: f64 = 120.0;
const BAR_HEIGHT: u32 = 14;

/// A part of a bar.
struct Segment {
    value: f64,
    colour: &'static str,
}

impl Explanation {
    /// Writes the groups of runs: a bar for each, or with two labels a table with a bar in each cell.
    pub(super) fn write_groups(&self, page: &mut String) -> Result {
        let Some(by) = &self.by_label else {
            return Ok(());
        };
        let rows = self.group_rows();
        let names = by.names.join(" and ");
        writeln!(page, "<h2>Duration by {}</h2>", Text(&names))?;
        let has_cores = rows.iter().any(|row| row.fastest_core_ms.is_some());
        self.write_legend(page, has_cores)?;
        match &by.names[..] {
            [name] => self.write_list(page, name, &rows, has_cores),
            _ => self.write_grid(page, by, &rows, has_cores),
        }
    }

    /// Writes the meaning of the colours.
    fn write_legend(&self, page: &mut String, has_cores: bool) -> Result {
        let causes = self.causes.causes.iter().zip(CAUSES);
        let causes = causes.map(|(cause, colour)| (colour, cause_name(cause)));
        let cores = [
            (FASTEST_CORES, "CPU on P-cores".to_owned()),
            (OTHER_CORES, "CPU on E-cores".to_owned()),
        ];
        let cores = cores.into_iter().filter(|_| has_cores);
        write!(page, "<p class=names>")?;
        for (colour, name) in causes.chain([(UNEXPLAINED, "everything else".to_owned())]) {
            write_key(page, colour, &name)?;
        }
        if has_cores {
            write!(page, "<br>")?;
        }
        for (colour, name) in cores {
            write_key(page, colour, &name)?;
        }
        writeln!(page, "</p>")
    }

    /// Writes a row with a bar for each group of one label.
    fn write_list(
        &self,
        page: &mut String,
        name: &str,
        rows: &[GroupRow],
        has_cores: bool,
    ) -> Result {
        let cores = if has_cores { "<th>CPU by core" } else { "" };
        writeln!(
            page,
            "<table><tr><th>{}<th class=n>Runs<th class=n>Median ms<th class=n>Spread ms\
             <th class=n>Min ms<th class=n>Max ms<th>Median and spread\
             <th class=n>Mean ms<th>Mean by cause{cores}</tr>",
            Text(name)
        )?;
        let longest = greatest(rows.iter().map(|row| row.median_ms + row.spread_ms));
        let largest = greatest(rows.iter().map(|row| row.mean_ms));
        let most_cpu = greatest(rows.iter().map(cpu_of));
        for row in rows {
            write!(
                page,
                "<tr><td>{}<td class=n>{}<td class=n>{:.1}<td class=n>{:.1}<td class=n>{:.1}\
                 <td class=n>{:.1}<td>",
                Text(&row.first),
                row.runs,
                row.median_ms,
                row.spread_ms,
                row.min_ms,
                row.max_ms
            )?;
            write_median(page, row, BAR / longest)?;
            write!(page, "<td class=n>{:.1}<td>", row.mean_ms)?;
            write_bar(page, &self.segments(row), BAR / largest)?;
            if has_cores {
                write!(page, "<td>")?;
                write_cores(page, row, BAR / most_cpu)?;
            }
            writeln!(page, "</tr>")?;
        }
        writeln!(page, "</table>")
    }

    /// Writes a table with the values of the first label as rows and those of the second as columns.
    fn write_grid(
        &self,
        page: &mut String,
        by: &ByLabel,
        rows: &[GroupRow],
        has_cores: bool,
    ) -> Result {
        let firsts = values(rows, |row| Some(&row.first));
        let seconds = values(rows, |row| row.second.as_deref());
        let corner = by.names.join(" \\ ");
        write!(page, "<table><tr><th>{}", Text(&corner))?;
        for second in &seconds {
            write!(page, "<th>{}", Text(second))?;
        }
        writeln!(page, "</tr>")?;
        let largest = greatest(rows.iter().map(|row| row.mean_ms));
        let most_cpu = greatest(rows.iter().map(cpu_of));
        for first in &firsts {
            write!(page, "<tr><th>{}", Text(first))?;
            for second in &seconds {
                let row = rows
                    .iter()
                    .find(|row| row.first == *first && row.second.as_deref() == Some(second));
                let Some(row) = row else {
                    write!(page, "<td>")?;
                    continue;
                };
                write_cell_head(page, row)?;
                write_bar(page, &self.segments(row), BAR_IN_CELL / largest)?;
                if has_cores {
                    write_cores(page, row, BAR_IN_CELL / most_cpu)?;
                }
            }
            writeln!(page, "</tr>")?;
        }
        writeln!(page, "</table>")
    }

    /// Returns the mean of a group, split into the parts that the causes add and everything else.
    fn segments(&self, row: &GroupRow) -> Vec<Segment> {
        let groups = self.by_label.iter().flat_map(|by| &by.groups);
        let is_of_row = |values: &[String]| {
            values.first() == Some(&row.first) && values.get(1) == row.second.as_ref()
        };
        let places: &[usize] = groups
            .filter(|group| is_of_row(&group.values))
            .map(|group| &group.places[..])
            .next()
            .unwrap_or(&[]);
        let added = |effects: &[f64]| {
            let of_group: Vec<f64> = places
                .iter()
                .filter_map(|place| effects.get(*place).copied())
                .collect();
            mean(&of_group).max(0.0)
        };
        let causes = self.causes.causes.iter().zip(CAUSES);
        let causes: Vec<Segment> = causes
            .map(|(cause, colour)| Segment {
                value: added(&cause.effects),
                colour,
            })
            .collect();
        let explained: f64 = causes.iter().map(|part| part.value).sum();
        let rest = Segment {
            value: (row.mean_ms - explained).max(0.0),
            colour: UNEXPLAINED,
        };
        std::iter::once(rest).chain(causes).collect()
    }
}

/// Writes the start of a cell of two labels: the median of its runs and their number.
fn write_cell_head(page: &mut String, row: &GroupRow) -> Result {
    let runs = match row.runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let least = milliseconds(row.min_ms);
    let most = milliseconds(row.max_ms);
    let median = milliseconds(row.median_ms);
    let mean = milliseconds(row.mean_ms);
    write!(
        page,
        "<td title=\"{runs}, {least} to {most}, mean {mean}\">{median} \
         <span class=names>median of {runs}</span>"
    )
}

/// Writes the median of a group as a bar, with its spread as a line around the end of the bar.
fn write_median(page: &mut String, row: &GroupRow, scale: f64) -> Result {
    let median = row.median_ms * scale;
    let from = (row.median_ms - row.spread_ms).max(0.0) * scale;
    let to = (row.median_ms + row.spread_ms) * scale;
    // The line is two pixels wide, so that half of its end is outside of it.
    let width = to + 1.0;
    write!(
        page,
        "<svg class=bar width=\"{width:.1}\" height=\"{BAR_HEIGHT}\">\
         <rect class=median width=\"{median:.1}\" height=\"{BAR_HEIGHT}\"/>\
         <path class=spread d=\"M{from:.1} 2V12M{from:.1} 7H{to:.1}M{to:.1} 2V12\"/></svg>"
    )
}

/// Writes the CPU of a group on each kind of core as a bar and in words, if it is known.
fn write_cores(page: &mut String, row: &GroupRow, scale: f64) -> Result {
    let (Some(fastest), Some(others)) = (row.fastest_core_ms, row.other_core_ms) else {
        return Ok(());
    };
    let segments = [
        Segment {
            value: fastest,
            colour: FASTEST_CORES,
        },
        Segment {
            value: others,
            colour: OTHER_CORES,
        },
    ];
    write_bar(page, &segments, scale)?;
    let fastest = milliseconds(fastest);
    let others = milliseconds(others);
    write!(page, "<span class=names>P {fastest}, E {others}</span>")
}

/// Writes a colour and its meaning.
fn write_key(page: &mut String, colour: &str, name: &str) -> Result {
    write!(
        page,
        "<svg width=\"10\" height=\"10\"><rect width=\"10\" height=\"10\" fill=\"{colour}\"/></svg> {} &emsp;",
        Text(name)
    )
}

/// CPU of a group on all cores.
fn cpu_of(row: &GroupRow) -> f64 {
    row.fastest_core_ms.unwrap_or(0.0) + row.other_core_ms.unwrap_or(0.0)
}

/// Returns the greatest of positive numbers; 1 if there is none, since lengths are divided by it.
fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    let most = values.fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}

/// Returns the different values of a label, in order.
fn values<'r>(rows: &'r [GroupRow], of: impl Fn(&'r GroupRow) -> Option<&'r str>) -> Vec<&'r str> {
    let different: BTreeSet<&str> = rows.iter().filter_map(of).collect();
    let mut different: Vec<&str> = different.into_iter().collect();
    different.sort_by(|a, b| by_size(a, b));
    different
}

/// Writes a bar of segments, each as long as its value times `scale`.
fn write_bar(page: &mut String, segments: &[Segment], scale: f64) -> Result {
    let whole: f64 = segments.iter().map(|part| part.value * scale).sum();
    write!(
        page,
        "<svg class=bar width=\"{whole:.1}\" height=\"{BAR_HEIGHT}\">"
    )?;
    let mut from = 0.0;
    for Segment { value, colour } in segments.iter().filter(|part| part.value > 0.0) {
        let width = value * scale;
        write!(
            page,
            "<rect x=\"{from:.1}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{colour}\"/>"
        )?;
        from += width;
    }
    write!(page, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let segments = [
            Segment {
                value: 30.0,
                colour: UNEXPLAINED,
            },
            Segment {
                value: 0.0,
                colour: "#000000",
            },
            Segment {
                value: 10.0,
                colour: CAUSES[0],
            },
        ];
        let mut page = String::new();
        write_bar(&mut page, &segments, 2.0).unwrap();
        assert_eq!(
            page,
            "<svg class=bar width=\"80.0\" height=\"14\">\
             <rect x=\"0.0\" width=\"60.0\" height=\"14\" fill=\"#999999\"/>\
             <rect x=\"60.0\" width=\"20.0\" height=\"14\" fill=\"#d55e00\"/></svg>"
        );
    }

    #[test]
    fn the_spread_is_a_line_around_the_end_of_the_median() {
        let row = GroupRow {
            median_ms: 80.0,
            spread_ms: 30.0,
            ..GroupRow::default()
        };
        let mut page = String::new();
        write_median(&mut page, &row, 2.0).unwrap();
        assert_eq!(
            page,
            "<svg class=bar width=\"221.0\" height=\"14\">\
             <rect class=median width=\"160.0\" height=\"14\"/>\
             <path class=spread d=\"M100.0 2V12M100.0 7H220.0M220.0 2V12\"/></svg>"
        );
    }

    #[test]
    fn a_cell_has_the_median_and_the_seconds_of_each_kind_of_core() {
        let row = GroupRow {
            runs: 2,
            mean_ms: 85.0,
            median_ms: 80.0,
            min_ms: 60.0,
            max_ms: 110.0,
            fastest_core_ms: Some(40.0),
            other_core_ms: Some(5.0),
            ..GroupRow::default()
        };
        let mut page = String::new();
        write_cell_head(&mut page, &row).unwrap();
        write_cores(&mut page, &row, 1.0).unwrap();
        assert_eq!(
            page,
            "<td title=\"2 runs, 60 ms to 110 ms, mean 85 ms\">80 ms \
             <span class=names>median of 2 runs</span>\
             <svg class=bar width=\"45.0\" height=\"14\">\
             <rect x=\"0.0\" width=\"40.0\" height=\"14\" fill=\"#0072b2\"/>\
             <rect x=\"40.0\" width=\"5.0\" height=\"14\" fill=\"#e69f00\"/></svg>\
             <span class=names>P 40 ms, E 5.00 ms</span>"
        );
        let without = GroupRow {
            other_core_ms: None,
            ..row
        };
        let mut page = String::new();
        write_cores(&mut page, &without, 1.0).unwrap();
        assert_eq!(page, "");
    }
}
