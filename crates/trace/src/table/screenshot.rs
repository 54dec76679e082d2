//! Table of pictures of the screen.

tables! {
    /// A picture of the screen that the recording tool ETWController took: a file in the folder beside the
    /// trace (`NAME.etl.Screenshots` or `NAME.Screenshots`) when the extract was made, or one that an
    /// event reports although its file is missing. The pictures themselves are not part of the extract.
    Screenshot / ScreenshotColumns = "screenshot", order ["ts_ns"] {
        /// When it was taken; can lie before or behind the trace. Null if it is not known.
        ts_ns: Option<i64>, "ns";
        /// Where the time is from: `event`: the click or key with that number, or an event of the picture
        /// itself; `name`: the time of day in the name of the file; `modified`: when the file was written.
        /// Null if it is not known.
        time_from: Option<&'static str>;
        /// Why it was taken: `click` (of a mouse button), `key`, `reaction` (half a second behind a click or
        /// key), `enter` (key), `timer`, or `other`.
        trigger: &'static str;
        /// Number of the click or key, as the name of the file says.
        event_number: Option<i32>;
        /// Mouse button or key; null if the event is not in the trace.
        input: Option<String>;
        /// Where the mouse was, in pixels of the whole desktop.
        x: Option<i32>;
        /// Where the mouse was.
        y: Option<i32>;
        /// Name of the file.
        file_name: String;
        /// The file from the folder of the trace on, with `/`; null if the file is missing.
        path: Option<String>;
        /// Whether the file existed when the extract was made.
        has_file: bool;
        /// Its size; null if the file is missing.
        size_bytes: Option<i64>, "bytes";
    }
}
