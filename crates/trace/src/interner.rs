//! One copy of each text: thousands of processes map the same hundred files.

use std::sync::Arc;

use rustc_hash::FxHashSet;

/// Interned texts.
#[derive(Debug, Default)]
pub(crate) struct Interner(FxHashSet<Arc<str>>);

impl Interner {
    /// The one copy of a text.
    pub(crate) fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}
