//! Progress of searching and reading symbol files, on the error stream. Nothing is drawn without a
//! terminal.

use std::time::Duration;

use etwkit_symbols::Event;
use etwkit_terminal::escape;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// One line for all symbol files; several are loaded at a time.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        Self::among(&MultiProgress::new())
    }

    /// Creates a line among other bars, drawn when there is something to show.
    pub(crate) fn among(others: &MultiProgress) -> Self {
        let bar = others.add(ProgressBar::no_length());
        let style = ProgressStyle::with_template("{spinner} symbols: {pos} looked for  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self(bar)
    }

    pub(crate) fn event(&self, name: &str, event: Event<'_>) {
        match event {
            Event::Started => {
                self.0.enable_steady_tick(Duration::from_millis(200));
                self.0.set_message(escape::text(name).into_owned());
            }
            Event::Finished { .. } => self.0.inc(1),
            _ => {
                if let Some(words) = event.words() {
                    let text = format!("{name}: {words}");
                    self.0.set_message(escape::text(&text).into_owned());
                }
            }
        }
    }

    /// Removes the line from the screen.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
