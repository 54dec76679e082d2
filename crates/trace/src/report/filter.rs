//! The filter of an event query.

use etwkit_decode::schema::numbered;
use etwkit_etl::Guid;
use etwkit_etl::clock::Clock;

use super::row::Row;
use crate::import::Range;

/// A predicate over the texts for one thing (for example a name and a number): true if any of them
/// is wanted.
pub type NameFilter<'f> = Box<dyn Fn(&[&str]) -> bool + 'f>;

/// The provider of wanted events.
pub enum ProviderFilter<'f> {
    /// Events of one provider or class.
    Guid(Guid),
    /// Events of providers and classes with matching names.
    Names(NameFilter<'f>),
}

impl<'f> ProviderFilter<'f> {
    /// Parses the text of a user: a GUID, otherwise names.
    #[must_use]
    pub fn new(text: &str, names: NameFilter<'f>) -> Self {
        text.parse().map_or(Self::Names(names), Self::Guid)
    }

    fn includes(&self, guid: Guid, name: &str) -> bool {
        match self {
            Self::Guid(wanted) => *wanted == guid,
            Self::Names(wanted) => wanted(&[name]),
        }
    }
}

/// The selection of events; all of them by default.
pub struct EventFilter<'f> {
    /// Filter by provider or class.
    pub provider: Option<ProviderFilter<'f>>,
    /// By name: gets the whole name such as `Thread/CSwitch`, the part after its last slash, and
    /// for events named by the built-in tables their number such as `EventID(3008)`.
    pub name: Option<NameFilter<'f>>,
    /// By process: gets its name with and without `.exe`, its ID, and both as answers print them.
    pub process: Option<NameFilter<'f>>,
    /// Filter by time.
    pub range: Range,
    /// Maximum number of events; the first ones are kept.
    pub limit: Option<u64>,
}

impl Default for EventFilter<'_> {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            process: None,
            range: Range::ALL,
            limit: None,
        }
    }
}

impl EventFilter<'_> {
    /// True if any events are filtered out. An active filter without a match is reported as nothing
    /// found. The limit is not a filter.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.provider.is_some()
            || self.name.is_some()
            || self.process.is_some()
            || self.range != Range::ALL
    }

    /// The wanted part of the trace in raw ticks, both ends included.
    pub(super) fn ticks(&self, clock: &Clock) -> (i64, i64) {
        let ticks = |ns: i64, open: i64| if ns == open { open } else { clock.ticks_at(ns) };
        (
            ticks(self.range.start_ns, i64::MIN),
            ticks(self.range.end_ns, i64::MAX),
        )
    }

    /// True if an event in the wanted time range is wanted.
    pub(super) fn includes(&self, row: &Row) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| provider.includes(row.guid, &row.provider))
            && self
                .name
                .as_ref()
                .is_none_or(|wanted| is_named(row, wanted))
            && self
                .process
                .as_ref()
                .is_none_or(|wanted| is_of_process(row, wanted))
    }
}

/// Only the last slash counts, so a pattern with a slash never matches a part of a name.
fn is_named(row: &Row, wanted: &NameFilter<'_>) -> bool {
    let number = row.number.map(numbered);
    let last = row.event.rsplit_once('/').map(|(_, last)| last);
    let names = [Some(row.event.as_str()), last, number.as_deref()];
    wanted(&names.into_iter().flatten().collect::<Vec<_>>())
}

fn is_of_process(row: &Row, wanted: &NameFilter<'_>) -> bool {
    let pid = row.pid.map_or_else(String::new, |pid| pid.to_string());
    let bare = row.process.strip_suffix(".exe").unwrap_or(&row.process);
    // Both forms in which answers print a process, so that a name can be copied from one.
    let known = if row.process.is_empty() {
        "?"
    } else {
        &row.process
    };
    let printed = [known, bare].map(|name| [format!("{name} ({pid})"), format!("{name}({pid})")]);
    let [[a, b], [c, d]] = &printed;
    wanted(&[&row.process, bare, &pid, a, b, c, d])
}
