//! Pictures of the page: bars of groups of runs, and the metric against each cause.

use std::collections::BTreeSet;
use std::fmt::{Result, Write as _};

use super::Explanation;
use super::by_label::{ByLabel, by_size};
use super::numbers::mean;
use super::rows::GroupRow;
use super::sentence::{cause_name, ms};
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

/// Maximum number of points of a plot.
const MOST_POINTS: usize = 5000;

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
            "<table><tr><th>{}<th class=n>Runs<th class=n>Mean ms<th class=n>Min ms<th class=n>Max ms\
             <th>Mean{cores}</tr>",
            Text(name)
        )?;
        let largest = greatest(rows.iter().map(|row| row.mean_ms));
        let most_cpu = greatest(rows.iter().map(cpu_of));
        for row in rows {
            write!(
                page,
                "<tr><td>{}<td class=n>{}<td class=n>{:.1}<td class=n>{:.1}<td class=n>{:.1}<td>",
                Text(&row.first),
                row.runs,
                row.mean_ms,
                row.min_ms,
                row.max_ms
            )?;
            write_bar(page, &self.segments(row), BAR / largest)?;
            if has_cores {
                write!(page, "<td>")?;
                write_bar(page, &core_segments(row), BAR / most_cpu)?;
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
                let mean_ms = ms(row.mean_ms);
                let runs = match row.runs {
                    1 => "1 run".to_owned(),
                    runs => format!("{runs} runs"),
                };
                let (least, most) = (ms(row.min_ms), ms(row.max_ms));
                write!(page, "<td title=\"{runs}, {least} to {most}\">{mean_ms}")?;
                write_bar(page, &self.segments(row), BAR_IN_CELL / largest)?;
                if has_cores {
                    write_bar(page, &core_segments(row), BAR_IN_CELL / most_cpu)?;
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

    /// Writes a plot for each cause: a point for each run, by the milliseconds that the cause adds
    /// to it, and by its metric.
    pub(super) fn write_plots(&self, page: &mut String) -> Result {
        if self.causes.causes.is_empty() {
            return Ok(());
        }
        writeln!(
            page,
            "<h2>Each run by the time that a cause adds</h2><p class=names>Across: milliseconds that the cause adds, \
             above the mean of the fast runs. Up: the metric of the run.</p>"
        )?;
        let places: Vec<usize> = (0..self.measured.len()).take(MOST_POINTS).collect();
        let metrics = self.metrics(&places);
        for (number, cause) in (1..).zip(&self.causes.causes) {
            let points: Vec<(f64, f64)> = cause
                .effects
                .iter()
                .copied()
                .zip(metrics.iter().copied())
                .collect();
            write!(page, "<figure>")?;
            write_plot(page, &points)?;
            let name = cause_name(cause);
            writeln!(
                page,
                "<figcaption>{number}: {}</figcaption></figure>",
                Text(&name)
            )?;
        }
        Ok(())
    }
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

fn core_segments(row: &GroupRow) -> [Segment; 2] {
    let segment = |value: Option<f64>, colour| Segment {
        value: value.unwrap_or(0.0),
        colour,
    };
    [
        segment(row.fastest_core_ms, FASTEST_CORES),
        segment(row.other_core_ms, OTHER_CORES),
    ]
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

/// An axis of a plot: the numbers that it shows, and the pixels where they are.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
            (range.0.min(value), range.1.max(value))
        });
        Self {
            least,
            most,
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let range = self.most - self.least;
        // All runs may have one value.
        let share = if range > 0.0 {
            (value - self.least) / range
        } else {
            0.5
        };
        self.from + share * (self.to - self.from)
    }
}

/// Writes points with two axes, whose ends have the least and the greatest number.
fn write_plot(page: &mut String, points: &[(f64, f64)]) -> Result {
    let across = Axis::of(points.iter().map(|point| point.0), 70.0, 310.0);
    let up = Axis::of(points.iter().map(|point| point.1), 165.0, 15.0);
    write!(
        page,
        "<svg width=\"330\" height=\"200\" role=\"img\"><path d=\"M62 8V172H320\" fill=\"none\" stroke=\"#999\"/>"
    )?;
    let labels = [
        (across.from, 190.0, "middle", across.least),
        (across.to, 190.0, "middle", across.most),
        (58.0, up.from + 4.0, "end", up.least),
        (58.0, up.to + 4.0, "end", up.most),
    ];
    for (x, y, anchor, value) in labels {
        write!(
            page,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            ms(value)
        )?;
    }
    for (x, y) in points {
        write!(
            page,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
            across.place(*x),
            up.place(*y)
        )?;
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
    fn the_least_point_is_at_the_left_below_and_the_greatest_at_the_right_above() {
        let mut page = String::new();
        write_plot(&mut page, &[(0.0, 200.0), (50.0, 300.0)]).unwrap();
        assert!(page.contains("<circle cx=\"70.0\" cy=\"165.0\""), "{page}");
        assert!(page.contains("<circle cx=\"310.0\" cy=\"15.0\""), "{page}");
        assert!(page.contains(">300 ms</text>"), "{page}");
    }

    #[test]
    fn equal_numbers_are_in_the_middle() {
        let axis = Axis::of([7.0, 7.0].into_iter(), 0.0, 10.0);
        assert!((axis.place(7.0) - 5.0).abs() < f64::EPSILON);
    }
}
