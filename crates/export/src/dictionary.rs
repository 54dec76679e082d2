//! Texts of a profile, which messages refer to by number.

use std::collections::HashMap;

use crate::text::visible;

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    numbers: HashMap<String, u64>,
    all: Vec<String>,
}

impl Texts {
    /// Creates a table with the empty text as number 0, which formats require.
    pub(crate) fn new() -> Self {
        let mut texts = Self::default();
        texts.number("");
        texts
    }

    /// Returns all texts in the order of their numbers.
    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }

    /// Returns the number of a text, whose invisible characters are escaped.
    pub(crate) fn number(&mut self, text: &str) -> u64 {
        let text = visible(text, usize::MAX);
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.all.len() as u64;
        self.numbers.insert(text.clone(), number);
        self.all.push(text);
        number
    }
}
