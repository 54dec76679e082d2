//! Stays in connected standby.

use super::sql::{ends, filtered, range_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

/// Orders of stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StandbySort {
    /// Time of the entry.
    #[default]
    Time,
    /// Length.
    Duration,
    /// Time outside the deepest idle state.
    NonDrips,
    /// Drain of the battery.
    Drain,
}

/// Which stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandbyRequest {
    /// Only stays that overlap with this part of the trace, in nanoseconds.
    pub time: Range,
    /// Length in nanoseconds. A stay that did not end in the trace has none and is left out by a limit.
    pub duration: Range,
    /// Order.
    pub sort: StandbySort,
    /// How many of the largest rows.
    pub top: Top,
}

rows! {
    /// A stay.
    pub struct StandbyRow {
        /// Entry; missing if it is not in the trace.
        enter_ns: Option<i64>,
        /// Exit; missing if it is not in the trace.
        exit_ns: Option<i64>,
        /// Length.
        duration_ns: Option<i64>,
        /// Number of the stay.
        scenario: Option<i64>,
        /// Why it began, as number.
        enter_reason: Option<i64>,
        /// The same as text.
        enter_reason_name: Option<String>,
        /// Why it ended, as number.
        exit_reason: Option<i64>,
        /// The same as text.
        exit_reason_name: Option<String>,
        /// Length as the exit tells it.
        told_duration_ns: Option<i64>,
        /// Time in the deepest idle state of the platform.
        drips_ns: Option<i64>,
        /// Time outside it.
        non_drips_ns: Option<i64>,
        /// Part of the stay in that state, 0 to 1; missing for stays without length.
        drips_ratio: Option<f64>,
        /// Time up to the first entry into that state.
        first_drips_ns: Option<i64>,
        /// Entries into that state.
        drips_transitions: Option<i64>,
        /// Time outside that state that activators account for.
        activated_ns: Option<i64>,
        /// Time in which the machine was active.
        active_ns: Option<i64>,
        /// Drain of the battery, in its units, mostly mWh.
        energy_drain: Option<i64>,
        /// Charge of the battery at the entry.
        remaining_capacity: Option<i64>,
        /// Charge of the full battery.
        full_capacity: Option<i64>,
        /// Whether the lid was open at the entry.
        is_lid_open: Option<bool>,
        /// Whether there was an external monitor at the entry.
        has_external_monitor: Option<bool>,
        /// Whether audio played at the exit.
        is_audio_playing: Option<bool>,
        /// Whether the machine had power from outside at the exit.
        is_on_ac: Option<bool>,
    }
}

impl StandbyRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = Vec::new();
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            conditions.push(format!("coalesce(enter_ns, exit_ns) <= {b} AND coalesce(exit_ns, {b}) >= {a}"));
        }
        if !self.duration.is_unlimited() {
            conditions.push("duration_ns IS NOT NULL".to_owned());
            conditions.extend(range_condition("duration_ns", self.duration));
        }
        let order = match self.sort {
            StandbySort::Time => "coalesce(enter_ns, exit_ns)",
            StandbySort::Duration => "coalesce(duration_ns, -1), coalesce(enter_ns, exit_ns)",
            StandbySort::NonDrips => "coalesce(non_drips_ns, -1), coalesce(enter_ns, exit_ns)",
            StandbySort::Drain => "coalesce(energy_drain, -1), coalesce(enter_ns, exit_ns)",
        };
        format!(
            "SELECT *, CAST(drips_ns AS DOUBLE) / nullif(told_duration_ns, 0) AS drips_ratio
FROM standby{}
ORDER BY {order}",
            filtered(&conditions)
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// No stays were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<StandbyRow>> {
        if !has_rows(session, "standby")? {
            return Err(Error::NotRecorded {
                what: "connected standby",
                how: "record the provider Microsoft-Windows-Kernel-Power {331c3b3a-2005-44c2-ac5e-77220c37d6b4} with all keywords while the \
                      machine goes into standby and comes back, for example with `wpr -start Power -filemode`",
            });
        }
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
