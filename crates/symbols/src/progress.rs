//! Progress of loading symbols.

/// A step on the way to the symbols of one module.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The search starts.
    Started,
    /// A server sends the file.
    Received {
        /// The server that sends the file.
        server: &'a str,
        /// Bytes received so far.
        bytes: u64,
        /// Total bytes, if the server sent the length.
        total: Option<u64>,
    },
    /// A symbol file is read, which takes seconds for a large one.
    Reading {
        /// The path or URL.
        place: &'a str,
        /// Its bytes.
        bytes: u64,
    },
    /// The search is over.
    Finished {
        /// True if there are symbols.
        is_loaded: bool,
    },
}

/// Receives the steps. Several modules may be loaded at the same time, each with its own
/// `Progress`.
pub trait Progress {
    /// Reports a step on the way to a file. `name` is the name from the trace and must be escaped
    /// before it is written to a terminal.
    fn event(&mut self, name: &str, event: Event<'_>);
}

/// Ignores all steps.
impl Progress for () {
    fn event(&mut self, _: &str, _: Event<'_>) {}
}

impl<F: FnMut(&str, Event<'_>)> Progress for F {
    fn event(&mut self, name: &str, event: Event<'_>) {
        self(name, event);
    }
}
