//! Progress on the error stream, one bar for each trace and one for all. Without a terminal nothing
//! is drawn, and long work writes a line from time to time.

use std::ops::ControlFlow;
use std::time::Duration;

use etwkit_terminal::escape;
use etwkit_terminal::interrupt::Stoppable;
use etwkit_trace::import::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::commands::symbols;
use crate::pace::Pace;

/// Steps of a bar.
const STEPS: u64 = 1000;

/// All bars.
pub(in crate::commands) struct Bars {
    all: MultiProgress,
    total: Option<ProgressBar>,
    wants_notes: bool,
}

/// The bar of one trace.
pub(in crate::commands) struct Bar<'b> {
    bar: ProgressBar,
    size: u64,
    pace: Option<Pace>,
    bars: &'b Bars,
}

impl Bars {
    pub(in crate::commands) fn new(traces: usize, wants_notes: bool) -> Self {
        let all = MultiProgress::new();
        let total = (traces > 1).then(|| {
            let bar = all.add(ProgressBar::new(traces as u64));
            bar.set_style(style("{bar:20} {pos} of {len} traces, {eta} left"));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self {
            all,
            total,
            wants_notes,
        }
    }

    /// Starts a bar for a trace of `size` bytes.
    pub(in crate::commands) fn start(&self, name: &str, size: u64) -> Bar<'_> {
        let bar = self.all.add(ProgressBar::new(STEPS));
        bar.set_style(style(
            "{bar:20} {percent:>3} %  {prefix}  {msg}, {eta} left",
        ));
        bar.set_prefix(escape::text(name).into_owned());
        Bar {
            bar,
            size,
            pace: Pace::begin(name, self.wants_notes),
            bars: self,
        }
    }

    /// Creates a line for the symbol files of a trace.
    pub(super) fn symbols(&self) -> symbols::Bar {
        symbols::Bar::among(&self.all)
    }

    /// Prints while no bar is drawn.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.all.suspend(print)
    }

    /// Prints a warning about a trace while others continue.
    pub(super) fn warn(&self, text: &str) {
        // Without bars nothing is printed here; all errors are printed at the end.
        let _ = self.all.println(format!("error: {}", escape::text(text)));
    }
}

impl Bar<'_> {
    pub(in crate::commands) fn set(
        &mut self,
        progress: Progress,
        stoppable: &Stoppable,
    ) -> ControlFlow<()> {
        if stoppable.is_asked_to_stop() {
            return ControlFlow::Break(());
        }
        if let Some(pace) = &mut self.pace {
            pace.at(progress.done);
        }
        if !self.bar.is_hidden() {
            self.bar.set_position((progress.done * STEPS as f64) as u64);
            let rate = progress.events as f64 / self.bar.elapsed().as_secs_f64().max(1e-3);
            let mb = self.size as f64 / 1e6;
            self.bar.set_message(format!(
                "{:.0} of {mb:.0} MB, {:.1} M events/s",
                mb * progress.done,
                rate / 1e6
            ));
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some(total) = &self.bars.total {
            total.inc(1);
        }
    }
}

/// Returns the style of a bar.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
