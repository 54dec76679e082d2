//! Marks, and events that have no table of their own.

tables! {
    /// A mark that a user or program set.
    Mark / MarkColumns = "mark", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Processor.
        cpu: i32;
        /// Process, if known.
        process_key: Option<i32>, "key";
        /// Thread, if known.
        thread_key: Option<i32>, "key";
        /// Text.
        text: String;
    }

    /// An event that has no table of its own.
    GenericEvent / GenericEventColumns = "generic_event", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Processor.
        cpu: i32;
        /// Process, if known.
        process_key: Option<i32>, "key";
        /// Thread, if known.
        thread_key: Option<i32>, "key";
        /// GUID of the provider; for classic events of the class; for WPP messages of the source
        /// file.
        provider_guid: Arc<str>;
        /// Name of the provider, if known.
        provider: Option<Arc<str>>;
        /// Name of the event, if known.
        name: Option<Arc<str>>;
        /// Event ID; for WPP messages their number; 0 for classic events.
        event_id: i32;
        /// Version.
        version: i32;
        /// Opcode; for classic events the type.
        opcode: i32;
        /// Level: 1 critical … 5 verbose.
        level: i32;
        /// Keyword as bit pattern.
        keyword: i64;
        /// Task.
        task: i32;
        /// GUID of the activity that the event is part of; null if it names none.
        activity_id: Option<Arc<str>>;
        /// Source of its layout: `tracelogging` (the event itself; also EventSource in that
        /// format), `eventsource` (a manifest that the program wrote into the trace), `eventinfo`
        /// (written by the merge step), `manifest` or `tmf` (a file that was named when the trace
        /// was extracted), `kernel` or `template` (built in); `names` if only the name of the event
        /// is built in, so its payload is not decoded; null if it has no description.
        described_by: Option<&'static str>;
        /// The text of the event with its values inserted, if a file that was named has one;
        /// otherwise null.
        message: Option<String>;
        /// Decoded fields as a JSON object; values that have a name are shown by it. If the layout
        /// is unknown: `text` with a list of the texts found in the bytes; null if there are none,
        /// and with `--no-payload`.
        fields: Option<String>;
        /// Bytes that could not be decoded; null if all could, and with `--no-payload`.
        payload: Option<Vec<u8>>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }
}

use std::sync::Arc;
