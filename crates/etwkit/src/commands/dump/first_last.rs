//! Times in a format of their own.

use etwkit_query::time_format::{TimeFormat, TimeWriter};

/// Times in that format, else as they are.
pub(super) fn in_format(times: TimeWriter, format: Option<TimeFormat>) -> TimeWriter {
    format.map_or(times, |format| times.with_format(format))
}
