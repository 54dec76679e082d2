//! Plots of the page: the metric of each run against its value of a cause.

use std::fmt::{Result, Write as _};

use super::Explanation;
use super::causes::Cause;
use super::feature::Measure;
use super::rows::RunRow;
use super::sentence::cause_name;
use crate::duration::milliseconds;
use crate::page::Text;

/// Maximum number of runs of a plot and of its table.
const MOST_RUNS: usize = 5000;

/// Pixels of a plot, and the place of its axes in it.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 366.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 188.0;

/// Maximum number of intervals that the values of an axis are divided into.
const INTERVALS: f64 = 6.0;

/// Maximum number of ticks of an axis.
const MOST_TICKS: usize = 12;

/// The unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    /// Name of the unit; empty for a plain number.
    unit: &'static str,
    /// The size of the unit, in the unit of the values.
    size: f64,
}

impl Scale {
    const MS: Self = Self {
        unit: "ms",
        size: 1.0,
    };

    /// Returns the unit for values of a measure up to `most`.
    fn of(measure: Measure, most: f64) -> Self {
        let (unit, size) = match measure {
            Measure::Bytes if most >= 1e6 => ("MB", 1e6),
            Measure::Bytes if most >= 1e3 => ("kB", 1e3),
            Measure::Bytes => ("bytes", 1.0),
            _ if measure.is_time() => ("ms", 1.0),
            _ => ("", 1.0),
        };
        Self { unit, size }
    }

    /// Returns the title of an axis.
    fn title(self, what: &str) -> String {
        if self.unit.is_empty() {
            what.to_owned()
        } else {
            format!("{what} ({})", self.unit)
        }
    }

    /// Formats a value with its unit.
    fn text(self, value: f64) -> String {
        let number = format!("{:.1}", value / self.size);
        if self.unit.is_empty() {
            number
        } else {
            format!("{number} {}", self.unit)
        }
    }
}

/// An axis: its ticks, which are values, and the pixels of its ends.
#[derive(Debug, Clone, PartialEq)]
struct Axis {
    ticks: Vec<f64>,
    digits: usize,
    from: f64,
    to: f64,
}

impl Axis {
    /// Returns an axis with ticks at round numbers, which has room for all values.
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
            (ends.0.min(value), ends.1.max(value))
        });
        // All runs may have one value.
        let range = if most > least { most - least } else { 1.0 };
        let step = round_step(range / INTERVALS);
        let first = (least / step).floor();
        let last = (most / step).ceil().max(first + 1.0);
        let next = |number: &f64| (*number < last).then_some(number + 1.0);
        let numbers = std::iter::successors(Some(first), next).take(MOST_TICKS);
        Self {
            ticks: numbers.map(|number| number * step).collect(),
            digits: digits_of(step),
            from,
            to,
        }
    }

    /// Returns the pixel of a value.
    fn place(&self, value: f64) -> f64 {
        let (Some(first), Some(last)) = (self.ticks.first(), self.ticks.last()) else {
            return self.from;
        };
        self.from + (value - first) / (last - first) * (self.to - self.from)
    }

    fn label(&self, tick: f64) -> String {
        // The zero of an axis that starts below it may have a sign.
        format!("{:.*}", self.digits, tick + 0.0)
    }
}

/// Returns the least step of 1, 2 or 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10.0_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let is_enough = |factor: &f64| factor * power >= least * 0.999_999;
    power * factors.into_iter().find(is_enough).unwrap_or(10.0)
}

/// Returns the number of digits after the mark that multiples of a step have.
fn digits_of(step: f64) -> usize {
    let scaled = std::iter::successors(Some(step), |scaled| Some(scaled * 10.0));
    let is_whole = |(_, scaled): &(usize, f64)| *scaled > 0.999;
    (0..9)
        .zip(scaled)
        .find(is_whole)
        .map_or(9, |(digits, _)| digits)
}

/// A run in a plot.
struct Dot<'r> {
    value: f64,
    metric: f64,
    run: &'r RunRow,
}

impl Dot<'_> {
    /// Returns the class of its color.
    fn class(&self) -> &'static str {
        match self.run.half.as_deref() {
            Some("slow") => " class=slow",
            Some(_) => "",
            None => " class=middle",
        }
    }
}

impl Explanation {
    /// Writes a plot for each cause, and a table with the numbers of all plots.
    pub(super) fn write_plots(&self, page: &mut String) -> Result {
        if self.causes.causes.is_empty() {
            return Ok(());
        }
        let rows = self.run_rows();
        writeln!(
            page,
            "<h2>Each run by its value of a cause</h2><p class=names>{} slow run &emsp; {} fast \
             run &emsp; Up: {}. Half of the runs are above the line; it rises by what the cause \
             adds.</p>",
            key(" class=slow"),
            key(""),
            Text(self.metric())
        )?;
        for (number, cause) in (1..).zip(&self.causes.causes) {
            write_plot(page, number, cause, &self.dots(cause, &rows))?;
        }
        self.write_values(page, &rows)
    }

    /// Returns the runs with a metric, each with its value of a cause.
    fn dots<'r>(&self, cause: &Cause, rows: &'r [RunRow]) -> Vec<Dot<'r>> {
        let dot = |(run, value): (&usize, &f64)| {
            let run = rows.get(*run)?;
            Some(Dot {
                value: *value,
                metric: run.metric_ms?,
                run,
            })
        };
        let measured = self.measured.iter().zip(&cause.values);
        measured.filter_map(dot).take(MOST_RUNS).collect()
    }

    /// Writes the table of all plots, folded: a row for each run, the slowest first.
    fn write_values(&self, page: &mut String, rows: &[RunRow]) -> Result {
        write!(
            page,
            "<details><summary>Numbers of these plots</summary><table>\
             <tr><th>Run<th class=n>ms<th>Half"
        )?;
        let causes = &self.causes.causes;
        let scales: Vec<Scale> = causes.iter().map(scale_of).collect();
        for ((number, cause), scale) in (1_i64..).zip(causes).zip(&scales) {
            let name = cause_name(cause);
            let title = scale.title(&number.to_string());
            write!(page, "<th class=n title=\"{}\">{title}", Text(&name))?;
        }
        writeln!(page, "</tr>")?;
        let run = |place: usize| {
            let run = rows.get(*self.measured.get(place)?)?;
            Some((run.metric_ms?, place, run))
        };
        let mut runs: Vec<(f64, usize, &RunRow)> =
            (0..self.measured.len()).filter_map(run).collect();
        runs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (metric, place, run) in runs.into_iter().take(MOST_RUNS) {
            let half = run.half.as_deref().unwrap_or("");
            write!(
                page,
                "<tr><td>{}<td class=n>{metric:.1}<td>{half}",
                Text(&run.extract)
            )?;
            for (cause, scale) in causes.iter().zip(&scales) {
                match cause.values.get(place) {
                    Some(value) => write!(page, "<td class=n>{:.1}", value / scale.size)?,
                    None => page.write_str("<td>")?,
                }
            }
            writeln!(page, "</tr>")?;
        }
        writeln!(page, "</table></details>")
    }
}

/// Returns a dot with the color of a class.
fn key(class: &str) -> String {
    format!("<svg width=\"10\" height=\"10\"><circle{class} cx=\"5\" cy=\"5\" r=\"4\"/></svg>")
}

/// Returns the unit in which values of a cause are shown.
fn scale_of(cause: &Cause) -> Scale {
    let most = cause.values.iter().copied().fold(0.0, f64::max);
    Scale::of(cause.name.measure, most)
}

/// Writes the plot of a cause, with its name and its line in words.
fn write_plot(page: &mut String, number: i64, cause: &Cause, dots: &[Dot<'_>]) -> Result {
    let scale = scale_of(cause);
    let name = cause_name(cause);
    write!(page, "<figure>")?;
    write_picture(page, cause, scale, dots)?;
    writeln!(
        page,
        "<figcaption>{number}: {}<br>{}</figcaption></figure>",
        Text(&name),
        line_text(cause, scale)
    )
}

/// Returns the line of a plot in words.
fn line_text(cause: &Cause, scale: Scale) -> String {
    let base = milliseconds(cause.base);
    let per_unit = milliseconds(cause.slope * scale.size);
    match (cause.name.measure, scale.unit) {
        (Measure::Present, _) => {
            format!(
                "Line: {base} without it, {} with it",
                milliseconds(cause.base + cause.slope)
            )
        }
        (_, "") => format!("Line: {base} + {per_unit} for each unit"),
        (_, "bytes") => format!("Line: {base} + {per_unit} for each byte"),
        (_, unit) => format!("Line: {base} + {per_unit} for each {unit}"),
    }
}

/// Writes the dots and the line of a cause between two axes.
fn write_picture(page: &mut String, cause: &Cause, scale: Scale, dots: &[Dot<'_>]) -> Result {
    let values = || dots.iter().map(|dot| dot.value);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    let on_line = |value: f64| cause.base + cause.slope * value;
    // From 0, so that the length to a dot is its value.
    let across = [0.0].into_iter().chain(values());
    let across = Axis::of(across.map(|value| value / scale.size), LEFT, RIGHT);
    let of_line = [on_line(least), on_line(most)];
    let up = dots.iter().map(|dot| dot.metric).chain(of_line);
    let up = Axis::of(up, BOTTOM, TOP);
    write!(
        page,
        "<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-label=\"Metric of the runs by {}\">",
        Text(&cause_name(cause))
    )?;
    write_axes(page, &across, &up, &scale.title(cause.name.measure.word()))?;
    write!(
        page,
        "<line class=trend x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        across.place(least / scale.size),
        up.place(on_line(least)),
        across.place(most / scale.size),
        up.place(on_line(most))
    )?;
    for dot in dots {
        write!(
            page,
            "<circle{} cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {}, run {}</title></circle>",
            dot.class(),
            across.place(dot.value / scale.size),
            up.place(dot.metric),
            Text(&dot.run.extract),
            scale.text(dot.value),
            Scale::MS.text(dot.metric)
        )?;
    }
    write!(page, "</svg>")
}

/// Writes two axes with their ticks and units.
fn write_axes(page: &mut String, across: &Axis, up: &Axis, title: &str) -> Result {
    write!(
        page,
        "<path class=axis d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>"
    )?;
    for tick in &across.ticks {
        let x = across.place(*tick);
        let y = BOTTOM + 16.0;
        let label = across.label(*tick);
        write!(
            page,
            "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"
        )?;
    }
    for tick in &up.ticks {
        let x = LEFT - 6.0;
        let y = up.place(*tick) + 4.0;
        let label = up.label(*tick);
        write!(
            page,
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"
        )?;
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    let below = BOTTOM + 36.0;
    write!(
        page,
        "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{title}</text>\
         <text x=\"4\" y=\"12\">{}</text>",
        Scale::MS.title("metric")
    )
}

#[cfg(test)]
mod tests {
    use super::super::causes::Causes;
    use super::super::feature::{FeatureKind, Matrix, Name};
    use super::super::runs::Run;
    use super::*;

    #[test]
    fn ticks_are_round_numbers_around_all_values() {
        let of = |values: &[f64]| {
            let axis = Axis::of(values.iter().copied(), 0.0, 100.0);
            let labels: Vec<String> = axis.ticks.iter().map(|tick| axis.label(*tick)).collect();
            labels.join(" ")
        };
        assert_eq!(of(&[0.0, 52.0]), "0 10 20 30 40 50 60");
        assert_eq!(of(&[229.0, 361.0]), "200 250 300 350 400");
        assert_eq!(of(&[0.0, 1.0]), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(of(&[-0.3, 0.9]), "-0.4 -0.2 0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(of(&[7.0, 7.0]), "7.0 7.2");
        assert_eq!(of(&[0.0]), "0.0 0.2");
    }

    #[test]
    fn a_value_is_at_its_share_of_the_axis() {
        let axis = Axis::of([0.0, 50.0].into_iter(), 60.0, 310.0);
        assert!((axis.place(0.0) - 60.0).abs() < 1e-9);
        assert!((axis.place(20.0) - 160.0).abs() < 1e-9);
        assert!((axis.place(50.0) - 310.0).abs() < 1e-9);
    }

    #[test]
    fn bytes_have_the_largest_unit_that_fits() {
        let of = |most| Scale::of(Measure::Bytes, most);
        assert_eq!(of(999.0).title("bytes"), "bytes (bytes)");
        assert_eq!(of(2e3).text(1500.0), "1.5 kB");
        assert_eq!(of(2e6).text(1.5e6), "1.5 MB");
        assert_eq!(Scale::of(Measure::Count, 2e6).title("count"), "count");
    }

    /// Returns runs that wait 0, 10, 20 and 30 ms and take 100 ms beyond that. The first run has a
    /// hostile name.
    fn four_runs() -> Explanation {
        let mut matrix = Matrix::new(4);
        let runs = (0_u8..4).map(f64::from).zip(0..);
        let run = |(tens, number): (f64, usize)| {
            let name = Name {
                kind: FeatureKind::Method,
                measure: Measure::Wait,
                what: "dns.dll!Query".to_owned(),
                process: None,
            };
            matrix.add(number, name, 1.0, 10.0 * tens);
            Run {
                name: if number == 0 {
                    "<script>".to_owned()
                } else {
                    format!("run{number}")
                },
                metric: Some(100.0 + 10.0 * tens),
                ..Run::default()
            }
        };
        let runs: Vec<Run> = runs.map(run).collect();
        matrix.finish();
        let metric = "lifetime of a.exe".to_owned();
        Explanation::of(metric, runs, vec![0, 1, 2, 3], &matrix, Vec::new())
    }

    #[test]
    fn each_run_is_a_dot_with_its_name_and_the_line_goes_through_the_runs() {
        let found = four_runs();
        let [cause] = &found.causes.causes[..] else {
            panic!("{:?}", found.causes);
        };
        assert!((cause.base - 100.0).abs() < 1e-9, "{}", cause.base);
        let mut page = String::new();
        found.write_plots(&mut page).unwrap();
        // 0 to 30 ms lie between 64 and 366 pixels, 100 to 130 ms between 188 and 26 pixels.
        for part in [
            "<line class=trend x1=\"64.0\" y1=\"188.0\" x2=\"366.0\" y2=\"26.0\"/>",
            "<circle cx=\"64.0\" cy=\"188.0\" r=\"3\"><title>&lt;script&gt;: 0.0 ms, run 100.0 ms</title></circle>",
            "<circle cx=\"164.7\" cy=\"134.0\" r=\"3\"><title>run1: 10.0 ms, run 110.0 ms</title></circle>",
            "<circle class=slow cx=\"265.3\" cy=\"80.0\" r=\"3\"><title>run2: 20.0 ms, run 120.0 ms</title></circle>",
            "<circle class=slow cx=\"366.0\" cy=\"26.0\" r=\"3\"><title>run3: 30.0 ms, run 130.0 ms</title></circle>",
            "<text x=\"215\" y=\"224\" text-anchor=\"middle\">wait (ms)</text>",
            "<text x=\"4\" y=\"12\">metric (ms)</text>",
            "<figcaption>1: wait in dns.dll!Query<br>Line: 100 ms + 1.00 ms for each ms</figcaption>",
            "<th class=n title=\"wait in dns.dll!Query\">1 (ms)</tr>\n\
             <tr><td>run3<td class=n>130.0<td>slow<td class=n>30.0</tr>\n\
             <tr><td>run2<td class=n>120.0<td>slow<td class=n>20.0</tr>\n\
             <tr><td>run1<td class=n>110.0<td>fast<td class=n>10.0</tr>\n\
             <tr><td>&lt;script&gt;<td class=n>100.0<td>fast<td class=n>0.0</tr>\n</table></details>",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
    }

    #[test]
    fn the_line_of_a_setting_says_the_time_with_and_without_it() {
        let mut found = four_runs();
        let cause = &mut found.causes.causes[0];
        cause.name.measure = Measure::Present;
        cause.slope = 90.0;
        let scale = Scale::of(Measure::Present, 1.0);
        assert_eq!(
            line_text(cause, scale),
            "Line: 100 ms without it, 190 ms with it"
        );
    }

    #[test]
    fn without_a_cause_there_is_no_plot() {
        let mut found = four_runs();
        found.causes = Causes::default();
        let mut page = String::new();
        found.write_plots(&mut page).unwrap();
        assert_eq!(page, "");
    }
}
