//! The answer as one page that needs nothing else: tables, and a heat map of runs and causes.

use std::fmt::Write as _;

use super::Explanation;
use super::rows::{CauseRow, RunRow};
use super::sentence::cause_name;
use super::view::{p_of_all, p_of_one};
use crate::duration::milliseconds;
use crate::page::{END, Text, head};

/// Maximum number of runs of a heat map: a page with more can no longer be scrolled through.
const MOST_RUNS: usize = 5000;

impl Explanation {
    /// Returns the answer as a page of HTML without scripts and external resources.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = head("explain");
        // Writing into a text cannot fail.
        let _ = self.write(&mut page);
        page
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "<h1>{}</h1>", Text(&self.sentence()))?;
        for line in self.more() {
            writeln!(page, "<p>{}</p>", Text(&line))?;
        }
        let causes = self.cause_rows();
        if !causes.is_empty() {
            write_causes(page, &causes)?;
        }
        self.write_groups(page)?;
        self.write_plots(page)?;
        self.write_runs(page)?;
        let missing = self.missing_rows();
        if !missing.is_empty() {
            writeln!(
                page,
                "<h2>Not recorded</h2><table><tr><th>Topic<th class=n>Runs without<th>Not known</tr>"
            )?;
            for row in &missing {
                let topic = Text(&row.topic);
                let means = Text(&row.means);
                writeln!(
                    page,
                    "<tr><td>{topic}<td class=n>{} of {}<td>{means}</tr>",
                    row.runs, row.all_runs
                )?;
            }
            writeln!(page, "</table>")?;
        }
        page.write_str(END)
    }

    /// Writes the heat map: a row for each run, the slowest first, a column for each cause.
    fn write_runs(&self, page: &mut String) -> std::fmt::Result {
        let mut rows: Vec<RunRow> = self.run_rows();
        let size = |row: &RunRow| row.metric_ms.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.run.cmp(&b.run)));
        write!(
            page,
            "<h2>Runs</h2><table><tr><th>Run<th class=n>ms<th>State"
        )?;
        for (number, cause) in (1..).zip(&self.causes.causes) {
            write!(
                page,
                "<th class=n title=\"{}\">{number}",
                Text(&cause_name(cause))
            )?;
        }
        writeln!(page, "<th>Not comparable</tr>")?;
        let causes = || self.causes.causes.iter();
        let all = causes()
            .flat_map(|cause| &cause.effects)
            .map(|effect| effect.abs());
        let largest = all.fold(0.0, f64::max);
        for row in rows.iter().take(MOST_RUNS) {
            let metric = row
                .metric_ms
                .map_or_else(String::new, |metric| format!("{metric:.1}"));
            let odd = if row.state == "ok" { "" } else { " class=odd" };
            write!(
                page,
                "<tr><td>{}<td class=n>{metric}<td{odd}>{}",
                Text(&row.extract),
                Text(&row.state)
            )?;
            let place = usize::try_from(row.run)
                .ok()
                .and_then(|run| self.measured.binary_search(&run).ok());
            for cause in causes() {
                match place.and_then(|place| cause.effects.get(place)) {
                    Some(effect) => write_heat(page, *effect, largest)?,
                    None => page.write_str("<td>")?,
                }
            }
            writeln!(
                page,
                "<td>{}</tr>",
                Text(row.not_comparable.as_deref().unwrap_or(""))
            )?;
        }
        writeln!(page, "</table>")
    }
}

fn write_causes(page: &mut String, causes: &[CauseRow]) -> std::fmt::Result {
    writeln!(
        page,
        "<h2>Causes</h2><table><tr><th class=n>#<th class=n>Effect<th class=n>Share<th>What\
         <th class=n>Slow runs<th class=n>Fast runs<th class=n>p</tr>"
    )?;
    for row in causes {
        let rest = if row.is_rest { "the rest of " } else { "" };
        let kind = Text(&row.kind);
        let measure = Text(&row.measure);
        let name = Text(&row.name);
        let process = Text(row.process.as_deref().unwrap_or(""));
        write!(
            page,
            "<tr><td class=n>{}<td class=n>{}<td class=n>{:.0} %\
             <td>{rest}{measure}, {kind} <b>{name}</b> {process}",
            row.cause,
            milliseconds(row.effect_ms),
            row.share_percent
        )?;
        for name in row.moves_with.split("; ").filter(|name| !name.is_empty()) {
            write!(page, "<div class=names>= {}</div>", Text(name))?;
        }
        let p = p_of_one(row);
        let p = p.as_deref().unwrap_or("");
        let unit = Text(&row.unit);
        writeln!(
            page,
            "<td class=n>{:.1} {unit}<td class=n>{:.1} {unit}<td class=n>{p}</tr>",
            row.slow, row.fast
        )?;
    }
    writeln!(page, "</table>")?;
    match p_of_all(causes) {
        Some(line) => writeln!(page, "<p>{}</p>", Text(&line)),
        None => Ok(()),
    }
}

/// Writes a cell of the heat map: the more the cause adds, the redder; the more it saves, the
/// bluer.
fn write_heat(page: &mut String, effect: f64, largest: f64) -> std::fmt::Result {
    // Without any effect there is nothing to divide by.
    let strength = if largest > 0.0 {
        (effect.abs() / largest).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let colour = if effect >= 0.0 {
        "220,60,40"
    } else {
        "60,110,220"
    };
    write!(
        page,
        "<td class=\"n heat\" style=\"background:rgba({colour},{strength:.2})\">{effect:.1}"
    )
}
