//! Power settings: their values at the start of a recording, and after each later report.

use etwkit_question::declare;
pub mod catalog;
mod settings;
mod snapshots;

use serde::Serialize;

use self::catalog::{KNOWN, Section};
use self::snapshots::{InForce, SettingRow, snapshots};
use etwkit_question::Format::{Moment, Word};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{
    Answer, Cells, Column, Example, Form, Line, Question, Ranked, Shows, Value, View, option,
};
use etwkit_question::{Error, Result, ask};
use etwkit_sql::Session;

pub use self::snapshots::Snapshot;

declare! {
    /// Options of `dump power`. They choose the text for people; JSON and CSV have all rows.
    #[derive(Eq)]
    pub request PowerRequest {
        /// Only settings that differ, without columns that equal an earlier one
        diff: bool = option("").shape(),
        /// Also settings that have no name here, by GUID
        all: bool = option("").shape(),
        /// Also GUIDs, names of powercfg, what settings do, and settings that have no name here
        details: bool = option("").output(),
    }

    /// The value of a setting at a moment.
    pub row PowerRow {
        snapshot: i64 = "Number of the moment in its trace, from 0, the start of the trace.",
        ts_ns: i64 = "When the first of its settings was reported.",
        section: String = "Section of the list.",
        name: String = "Name; for settings that are not known here the name in the event, otherwise the GUID.",
        alias: Option<String> = "What `powercfg` calls it.",
        setting_guid: String = "GUID.",
        value: String = "Value as text.",
        number: Option<i64> = "Value as a number.",
        value_hex: String = "Bytes of the value in hexadecimal digits.",
        origin: String = "`system`, or the profile of the processor driver that it was taken from.",
    }
}

/// Rows of JSON and CSV: text has the snapshots of all traces side by side.
const EACH: View<PowerRequest, PowerRow> = View::new(&[], |_| 0.0).ranking(|_| Ranked::No);

/// The compared snapshots, one column each.
#[derive(Clone)]
struct Beside {
    details: bool,
    /// Trace and time of each snapshot.
    titles: Vec<Line>,
}

/// A setting in all snapshots.
#[derive(Serialize)]
struct Setting {
    section: &'static str,
    name: String,
    guid: String,
    /// Its value in each snapshot.
    values: Vec<Option<String>>,
}

type SettingColumn = Column<Beside, Setting>;

const SIDE_BY_SIDE: View<Beside, Setting> = View::new(
    &[SettingColumn::new("Setting", "Setting", Word, |_, row| {
        row.name.as_str().into()
    })],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_cells(Cells {
    name: "Value",
    titles: |beside| beside.titles.clone(),
    value: |_, row, number| row.shown(number).into(),
})
.with_above(|_, row, before| {
    let is_new = before.is_none_or(|before| before.section != row.section);
    is_new.then(|| Line::new(row.section)).into_iter().collect()
})
.with_below(|beside, row| {
    if beside.details {
        row.details()
    } else {
        Vec::new()
    }
});

impl Setting {
    fn new(section: Section, name: &str, guid: &str, columns: &[Snapshot]) -> Self {
        let value = |column: &Snapshot| Some(column.value(guid)?.value.clone());
        Self {
            section: section.title(),
            name: name.to_owned(),
            guid: guid.to_owned(),
            values: columns.iter().map(value).collect(),
        }
    }

    /// Returns its value in a snapshot: `...` if it equals its left neighbor, `-` if it has none.
    fn shown(&self, number: usize) -> &str {
        let left = number.checked_sub(1).and_then(|left| self.values.get(left));
        match self.values.get(number) {
            Some(Some(_)) if left == self.values.get(number) => "...",
            Some(Some(value)) => value,
            _ => "-",
        }
    }

    fn differs(&self) -> bool {
        self.values
            .windows(2)
            .any(|pair| pair.first() != pair.last())
    }

    fn details(&self) -> Vec<Line> {
        let known = catalog::find(&self.guid);
        let alias = known.map_or("", |known| known.alias);
        let names = Line::new(format!("      {{{}}} {alias}", self.guid).trim_end());
        let help = known.map(|known| Line::new(format!("      {}", known.help)));
        std::iter::once(names).chain(help).collect()
    }
}

impl Question for PowerRequest {
    const NAME: &'static str = "power";
    const SENTENCE: &'static str = "Power settings, side by side";
    const USUAL: &'static [&'static str] = &["diff", "all"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "the power settings of the machine",
        },
        Example {
            words: "--diff fast.etl slow.etl",
            answer: "only settings that differ",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<PowerRow>(Self::sql(), |asked: &Self, session| {
            let rows = asked
                .ask(session)?
                .into_iter()
                .flat_map(|snapshot| snapshot.rows)
                .collect();
            Ok(Answer::rows(asked, &EACH, rows).showing(Shows::Sums))
        })
    }

    fn compares(&self) -> bool {
        true
    }

    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        if all.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::<Snapshot>::new();
        let mut titles = Vec::new();
        let mut count = 0;
        for (info, answer) in all {
            let of_trace = Snapshot::of(answer.rows_of::<Self, PowerRow>());
            let mut left_out = Vec::new();
            for snapshot in of_trace {
                count += 1;
                let at = Value::MomentOf(info.clock(), snapshot.ts_ns);
                let title = Line::new(format!("{} ", info.file_name)).value(Moment, at);
                // Compared with all columns before it, including those of other traces: an equal
                // column at a distance is as redundant as an adjacent one.
                if self.diff && columns.iter().any(|column| column.is_same(&snapshot)) {
                    let why = Line::new("left out, the same as an earlier one: ");
                    left_out.push(why.value(Word, title));
                } else {
                    titles.push(title);
                    columns.push(snapshot);
                }
            }
            if let Some(part) = answer.parts.last_mut() {
                part.foot.extend(left_out);
            }
        }
        let kept = (self.diff && count > 0)
            .then(|| Line::new(format!("{} of {count} columns", columns.len())));
        let beside = Beside {
            details: self.details,
            titles,
        };
        Ok(Some(
            Answer::rows(&beside, &SIDE_BY_SIDE, self.settings(&columns)).with_head(kept),
        ))
    }
}

impl PowerRequest {
    /// Returns the SQL of the question. The answer is assembled from its rows, in their order.
    #[must_use]
    pub fn sql() -> String {
        "SELECT ts_ns, kind, setting_guid, name, value, value_guid, value_hex, profile, power_source, efficiency_class
FROM power_setting
ORDER BY ts_ns, profile, setting_guid"
            .to_owned()
    }

    /// Runs the question: at least one snapshot, and none that equals the one before it.
    ///
    /// # Errors
    /// No power settings were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<Snapshot>> {
        let settings: Vec<SettingRow> = ask(session, &Self::sql())?;
        if settings.is_empty() {
            return Err(Error::NotRecorded {
                what: "power settings",
                how: "record the providers Microsoft-Windows-Kernel-Power and Microsoft-Windows-Kernel-Processor-Power with their capture state, \
                      for example `wpr -start Power`",
                tables: Vec::new(),
            });
        }
        let in_force: Vec<InForce> = ask(
            session,
            "SELECT ts_ns, previous, profile FROM power_profile ORDER BY ts_ns",
        )?;
        Ok(snapshots(&settings, &in_force))
    }

    /// Returns settings that a column has, in the order of the list, then those without a name.
    fn settings(&self, columns: &[Snapshot]) -> Vec<Setting> {
        let has = |guid: &str| columns.iter().any(|column| column.value(guid).is_some());
        let known = KNOWN.iter().filter(|known| has(known.guid));
        let mut all: Vec<Setting> = known
            .map(|known| Setting::new(known.section, known.name, known.guid, columns))
            .collect();
        if self.all || self.details {
            let rows = columns.iter().flat_map(|column| &column.rows);
            let mut others: Vec<&PowerRow> = rows
                .filter(|row| catalog::find(&row.setting_guid).is_none())
                .collect();
            others.sort_by(|a, b| a.setting_guid.cmp(&b.setting_guid));
            others.dedup_by(|a, b| a.setting_guid == b.setting_guid);
            let other = |row: &PowerRow| {
                Setting::new(Section::Other, &row.name, &row.setting_guid, columns)
            };
            all.extend(others.into_iter().map(other));
        }
        if self.diff {
            all.retain(Setting::differs);
        }
        all
    }
}
