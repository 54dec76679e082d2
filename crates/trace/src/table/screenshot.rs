//! Table of screenshots.

tables! {
    /// A screenshot taken by the recording tool ETWController: a file in the folder next to the
    /// trace (`NAME.etl.Screenshots` or `NAME.Screenshots`) when the extract was created, or one
    /// that an event reports although its file is missing. The screenshots themselves are not part
    /// of the extract.
    Screenshot / ScreenshotColumns = "screenshot", order ["ts_ns"] {
        /// Time at which it was taken; can be before or after the trace. Null if unknown.
        ts_ns: Option<i64>, "ns";
        /// Source of the time: `event`: the click or key with that number, or an event of the
        /// screenshot itself; `name`: the time of day in the name of the file; `modified`: the time
        /// at which the file was written. Null if unknown.
        time_from: Option<&'static str>;
        /// Trigger: `click` (of a mouse button), `key`, `reaction` (half a second after a click or
        /// key), `enter` (key), `timer`, or `other`.
        trigger: &'static str;
        /// Number of the click or key, from the name of the file.
        event_number: Option<i32>;
        /// Mouse button or key; null if the event is not in the trace.
        input: Option<String>;
        /// Horizontal position of the mouse, in pixels of the whole desktop.
        x: Option<i32>;
        /// Vertical position of the mouse.
        y: Option<i32>;
        /// Name of the file.
        file_name: String;
        /// Path of the file, starting with the folder next to the trace, with `/`; null if the file
        /// is missing.
        path: Option<String>;
        /// True if the file existed when the extract was created.
        has_file: bool;
        /// Size of the file; null if it is missing.
        size_bytes: Option<i64>, "bytes";
    }
}
