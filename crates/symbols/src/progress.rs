//! Progress of loading symbols, and the switch that ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Gives up a search for symbols: no further file is looked for, and a download ends at its next
/// piece. Copies are the same switch, which is not switched back.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Gives up the running search and all later ones with this switch.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the search was given up.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

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

impl Event<'_> {
    /// Returns the work on the file in words; `None` at the start and at the end of its search.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
        match self {
            Self::Received {
                server,
                bytes,
                total,
            } => {
                let received = megabytes(*bytes);
                let of =
                    total.map_or_else(String::new, |total| format!(" of {}", megabytes(total)));
                Some(format!("{received}{of} MB from {server}"))
            }
            Self::Reading { bytes, .. } => Some(format!("reading {} MB", megabytes(*bytes))),
            Self::Started | Self::Finished { .. } => None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_a_file_has_words() {
        let received = |total| Event::Received {
            server: "https://symbols.example",
            bytes: 1_300_000,
            total,
        };
        let words = |event: Event<'_>| event.words();
        assert_eq!(words(Event::Started), None);
        assert_eq!(
            words(received(Some(10_000_000))).unwrap(),
            "1.3 of 10.0 MB from https://symbols.example"
        );
        assert_eq!(
            words(received(None)).unwrap(),
            "1.3 MB from https://symbols.example"
        );
    }

    #[test]
    fn copies_are_one_switch() {
        let cancel = Cancel::default();
        let copy = cancel.clone();
        assert!(!copy.is_asked());
        cancel.ask();
        assert!(copy.is_asked());
    }
}
