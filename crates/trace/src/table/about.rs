//! Tables about an extract itself. Its writer fills them from the manifest, so that other programs,
//! which read only table files, can identify the extract.

use super::column::UtcTime;

tables! {
    /// An extract: its trace, the time and machine of the recording, and the program that created
    /// it.
    ExtractInfo / ExtractInfoColumns = "extract", order [] {
        /// Name of the recorded machine, if the trace contains it.
        computer: Option<String>;
        /// Start of the trace, in whole microseconds; `trace.start_filetime` has all digits.
        start_utc: Option<UtcTime>;
        /// Names of the files of the trace without folders, with `;` between them.
        source_name: String;
        /// 16 hexadecimal digits that distinguish traces; `run_id` is the same number.
        source_hash: String;
        /// Amount of detail: `full`, or `summary` for sums instead of the tables with a row for
        /// each event.
        detail: String;
        /// Format of the foreign extract that it was converted from; null for an extract of a
        /// trace.
        imported_from: Option<String>;
        /// Version of the format of extracts.
        format_version: String;
        /// Version of the program that wrote it.
        etwkit_version: String;
        /// Version of the computed tables, which rises when their meaning changes; null if there
        /// are none.
        derived_version: Option<i32>;
        /// Labels set by its creator, in the form `NAME=VALUE` separated by `;`; null without
        /// labels.
        labels: Option<String>;
    }

    /// A kind of information, with a flag for its presence in the trace: an empty table proves that
    /// nothing happened only if its topic was recorded.
    TopicInfo / TopicInfoColumns = "topic", order [] {
        /// Name of the topic, as in `etwkit info`.
        topic: String;
        /// True if the trace has any of it, or if it was enabled and nothing happened.
        is_recorded: bool;
        /// Events in the trace; null if unknown.
        events: Option<i64>;
        /// Rows in the tables of the topic, as far as the extract keeps them.
        rows: i64;
        /// Tables that the topic fills, separated by `;`; empty if it only adds columns to others.
        tables: String;
        /// The way to record it: keywords of the kernel logger, or a provider; null if it was
        /// recorded.
        recorded_by: Option<String>;
    }
}
