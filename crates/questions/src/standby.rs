//! Periods of connected standby.

use etwkit_question::Format::{Fixed, Length, Moment, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, ends};
use etwkit_question::{Column, Example, Form, Question, Ranked, Value, View, group, option};

declare! {
    /// Orders of stays.
    pub orders StandbySort {
        "time" => Time: "coalesce(enter_ns, exit_ns)" = "Time of the entry.",
        "duration" => Duration: "coalesce(duration_ns, -1)" = "Length.",
        "non-drips" => NonDrips: "coalesce(non_drips_ns, -1)" = "Time outside the deepest idle state.",
        "drain" => Drain: "coalesce(energy_drain, -1)" = "Drain of the battery.",
    }

    /// Options of `dump standby`.
    #[derive(Eq)]
    pub request StandbyRequest {
        /// Number of rows, largest first
        top: Top = group(),
        /// Only stays that overlap with this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only stays of this length (s)
        duration: Range = option("A..B").unit(Unit::Seconds),
        /// Order: time, length, time outside the deepest idle state, drain of the battery
        sort: StandbySort = option("ORDER").called("sort-by").shape(),
    }

    /// A stay.
    pub row StandbyRow {
        enter_ns: Option<i64> = "Entry; missing if it is not in the trace.",
        exit_ns: Option<i64> = "Exit; missing if it is not in the trace.",
        duration_ns: Option<i64> = "Length.",
        scenario: Option<i64> = "Number of the stay.",
        enter_reason: Option<i64> = "Why it started, as number.",
        enter_reason_name: Option<String> = "Why it started, as text.",
        exit_reason: Option<i64> = "Why it ended, as number.",
        exit_reason_name: Option<String> = "Why it ended, as text.",
        told_duration_ns: Option<i64> = "Length as the exit reports it.",
        drips_ns: Option<i64> = "Time in the deepest idle state of the platform.",
        non_drips_ns: Option<i64> = "Time outside it.",
        drips_ratio: Option<f64> =
            "Part of the stay in that state, 0 to 1; missing for stays without length.",
        first_drips_ns: Option<i64> = "Time up to the first entry into that state.",
        drips_transitions: Option<i64> = "Entries into that state.",
        activated_ns: Option<i64> = "Time outside that state that activators account for.",
        active_ns: Option<i64> = "Time in which the machine was active.",
        energy_drain: Option<i64> = "Drain of the battery, in its units, mostly mWh.",
        remaining_capacity: Option<i64> = "Charge of the battery at the entry.",
        full_capacity: Option<i64> = "Charge of the full battery.",
        is_lid_open: Option<bool> = "Whether the lid was open at the entry.",
        has_external_monitor: Option<bool> = "Whether there was an external monitor at the entry.",
        is_audio_playing: Option<bool> = "Whether audio played at the exit.",
        is_on_ac: Option<bool> = "Whether the machine had power from outside at the exit.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type StandbyColumn = Column<StandbyRequest, StandbyRow>;

const STAYS: View<StandbyRequest, StandbyRow> = View::new(
    &[
        StandbyColumn::new("Enter", "Enter", Moment, |_, row| row.enter_ns.into()).or("before"),
        StandbyColumn::new("Exit", "Exit", Moment, |_, row| row.exit_ns.into()).or("open"),
        StandbyColumn::new("Duration", "Duration", Length, |_, row| length(row).into()).sum(),
        StandbyColumn::new("Drips", "DRIPS", Length, |_, row| row.drips_ns.into()).sum(),
        StandbyColumn::new("DripsPercent", "DRIPS %", Fixed(1), |_, row| {
            row.drips_ratio.map(|ratio| ratio * 100.0).into()
        }),
        StandbyColumn::new("NonDrips", "Not in DRIPS", Length, |_, row| {
            row.non_drips_ns.into()
        })
        .cost(),
        StandbyColumn::new("FirstDrips", "First DRIPS after", Length, |_, row| {
            row.first_drips_ns.into()
        })
        .hidden(),
        StandbyColumn::new("Transitions", "Entries", Whole, |_, row| {
            row.drips_transitions.into()
        })
        .sum(),
        StandbyColumn::new("Activated", "Activated", Length, |_, row| {
            row.activated_ns.into()
        })
        .cost()
        .hidden(),
        StandbyColumn::new("Active", "Active", Length, |_, row| row.active_ns.into())
            .cost()
            .hidden(),
        StandbyColumn::new("Drain", "Drain", Whole, |_, row| row.energy_drain.into()).cost(),
        StandbyColumn::new("Battery", "Battery", Fixed(0), |_, row| battery(row).into()).hidden(),
        StandbyColumn::new("EnterReason", "Why", Word, |_, row| {
            reason(row.enter_reason, row.enter_reason_name.as_deref())
        }),
        StandbyColumn::new("ExitReason", "Woken by", Word, |_, row| {
            reason(row.exit_reason, row.exit_reason_name.as_deref())
        }),
        StandbyColumn::new("Lid", "Lid open", Word, |_, row| flag(row.is_lid_open)).hidden(),
        StandbyColumn::new("Monitor", "External monitor", Word, |_, row| {
            flag(row.has_external_monitor)
        })
        .hidden(),
        StandbyColumn::new("Audio", "Audio", Word, |_, row| flag(row.is_audio_playing)).hidden(),
        StandbyColumn::new("Ac", "AC", Word, |_, row| flag(row.is_on_ac)).hidden(),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == StandbySort::Time))
.with_sums(
    "Total: {#|stay|stays}, {Duration}; in DRIPS {Drips}, not in DRIPS {NonDrips}",
    |_, _| true,
);

/// Returns the duration in the exit event, if it has one.
fn length(row: &StandbyRow) -> Option<i64> {
    row.told_duration_ns.or(row.duration_ns)
}

/// Returns the charge of the battery at the entry.
fn battery(row: &StandbyRow) -> Option<String> {
    let left_of = row
        .remaining_capacity
        .zip(row.full_capacity.filter(|full| *full > 0));
    left_of.map(|(left, full)| format!("{:.0}%", left as f64 * 100.0 / full as f64))
}

fn reason(number: Option<i64>, name: Option<&str>) -> Value {
    name.map_or_else(|| number.into(), Value::from)
}

fn flag(flag: Option<bool>) -> Value {
    flag.map(|flag| if flag { "yes" } else { "no" }).into()
}

impl Question for StandbyRequest {
    const NAME: &'static str = "standby";
    const ALIASES: &'static [&'static str] = &["drips"];
    const SENTENCE: &'static str =
        "Stays in connected standby: how long, how deep, and who woke the machine";
    const USUAL: &'static [&'static str] = &["duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "stays in standby",
        },
        Example {
            words: "--duration 1h.. slow.etl",
            answer: "the long ones",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&STAYS, self.sql())
            .needs(&STANDBY, true)
            .top(self.top)
    }
}

const STANDBY: Recorded = Recorded::rows(
    "standby",
    "connected standby",
    "record the provider Microsoft-Windows-Kernel-Power {331c3b3a-2005-44c2-ac5e-77220c37d6b4} with all keywords while the \
     machine goes into standby and comes back, for example with `wpr -start Power -filemode`",
);

impl StandbyRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let (a, b) = ends(self.time);
        let overlaps =
            format!("coalesce(enter_ns, exit_ns) <= {b} AND coalesce(exit_ns, {b}) >= {a}");
        let conditions = Conditions::new()
            .when(!self.time.is_unlimited(), &overlaps)
            .known("duration_ns", self.duration);
        let sort = self.sort.sql();
        format!(
            "SELECT *, CAST(drips_ns AS DOUBLE) / nullif(told_duration_ns, 0) AS drips_ratio, CAST({sort} AS DOUBLE) AS sort_value
FROM standby{conditions}
ORDER BY sort_value, coalesce(enter_ns, exit_ns)"
        )
    }
}
