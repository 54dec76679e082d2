//! Queries extracts, with a progress bar on the error stream.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) use etwkit_engine::Naming;
use etwkit_engine::{Asking, ExtractAnswer};
use etwkit_sql::Session;
use indicatif::{ProgressBar, ProgressStyle};

use crate::context::{Context, Listener};

/// Queries all extracts. Answers are taken in the order of the extracts, each as soon as the
/// previous ones have been taken.
pub(super) fn ask_in_order<A: Send>(
    naming: Naming,
    extracts: &[PathBuf],
    Context { engine, asking }: &Context,
    wants_notes: bool,
    question: &(impl Fn(&Session) -> etwkit_question::Result<A> + Sync),
    mut take: impl FnMut(ExtractAnswer<A>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = bar(extracts.len());
    let progress = Arc::new(Listener {
        bar: Some(bar.clone()),
        wants_notes,
    });
    let asking = Asking {
        progress,
        ..asking.clone()
    };
    // Printed above the bar.
    let take = |asked| bar.suspend(|| take(asked));
    let asked = engine.ask_each(&asking, naming, extracts, question, take);
    bar.finish_and_clear();
    asked
}

/// Returns a progress bar of the finished extracts on the error stream. It appears on a terminal
/// after a delay.
fn bar(extracts: usize) -> ProgressBar {
    if extracts < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(extracts as u64);
    let style = ProgressStyle::with_template("{bar:20} {pos} of {len} extracts, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
