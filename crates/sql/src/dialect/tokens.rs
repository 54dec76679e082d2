//! The tokens of a statement, whose texts can be changed one by one.

use std::ops::Range;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// The tokens of a statement, blanks and comments included.
pub(super) struct Tokens {
    all: Vec<Token>,
    /// The text of each token.
    texts: Vec<String>,
    /// Text that is added after each token. It stays if the token gets another text.
    additions: Vec<String>,
}

impl Tokens {
    /// Reads a statement; `None` for text that has other characters than SQL.
    pub(super) fn read(sql: &str) -> Option<Self> {
        let dialect = GenericDialect {};
        // Quotes stay doubled, so that texts can be put together again.
        let mut tokenizer = Tokenizer::new(&dialect, sql).with_unescape(false);
        let all = tokenizer.tokenize().ok()?;
        let texts = all.iter().map(Token::to_string).collect();
        let additions = vec![String::new(); all.len()];
        Some(Self {
            all,
            texts,
            additions,
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Token> {
        self.all.get(at)
    }

    /// Returns a word that is not in quotes.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        match self.get(at)? {
            Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
            _ => None,
        }
    }

    /// Returns `true` if the token is this word, in any case.
    pub(super) fn is_word(&self, at: Option<usize>, word: &str) -> bool {
        at.and_then(|at| self.word(at))
            .is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    /// Returns `true` if the token is this sign.
    pub(super) fn is_sign(&self, at: Option<usize>, sign: &Token) -> bool {
        at.and_then(|at| self.get(at)) == Some(sign)
    }

    /// Returns the next token that is not blank.
    pub(super) fn after(&self, at: usize) -> Option<usize> {
        (at.checked_add(1)?..self.len()).find(|at| self.is_solid(*at))
    }

    /// Returns the last token before this one that is not blank.
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|at| self.is_solid(*at))
    }

    /// Returns `false` for blanks and comments.
    fn is_solid(&self, at: usize) -> bool {
        !matches!(self.get(at), Some(Token::Whitespace(_)) | None)
    }

    /// Returns the bracket that closes the one at this place.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.len() {
            match self.get(at) {
                Some(Token::LParen) => depth = depth.saturating_add(1),
                Some(Token::RParen) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Returns the first comma between the arguments of a call.
    pub(super) fn first_comma(&self, open: usize, close: usize) -> Option<usize> {
        let mut at = open.checked_add(1)?;
        while at < close {
            match self.get(at)? {
                Token::Comma => return Some(at),
                Token::LParen => at = self.closing(at)?,
                _ => {}
            }
            at = at.checked_add(1)?;
        }
        None
    }

    /// Returns the text of some tokens, with the text that was added after them.
    pub(super) fn text_of(&self, tokens: Range<usize>) -> String {
        let with_additions = self.texts.iter().zip(&self.additions);
        let chosen = with_additions.skip(tokens.start).take(tokens.len());
        chosen
            .flat_map(|(text, addition)| [text.as_str(), addition.as_str()])
            .collect()
    }

    /// Replaces the text of a token.
    pub(super) fn replace(&mut self, at: usize, text: impl Into<String>) {
        if let Some(place) = self.texts.get_mut(at) {
            *place = text.into();
        }
    }

    /// Adds text after a token.
    pub(super) fn append(&mut self, at: usize, text: &str) {
        if let Some(place) = self.additions.get_mut(at) {
            place.push_str(text);
        }
    }

    /// Removes a token, and the text that was added after it.
    pub(super) fn remove(&mut self, at: usize) {
        self.replace(at, "");
        if let Some(place) = self.additions.get_mut(at) {
            place.clear();
        }
    }

    /// Returns the statement.
    pub(super) fn text(&self) -> String {
        self.text_of(0..self.len())
    }
}

/// Returns the tokens of a statement without blanks and comments, with a placeholder for each
/// literal; the text itself if it has other characters than SQL.
pub(super) fn shape(sql: &str) -> String {
    let Some(tokens) = Tokens::read(sql) else {
        return sql.to_owned();
    };
    let solid = tokens.all.iter().zip(&tokens.texts);
    let solid = solid.filter(|(token, _)| !matches!(token, Token::Whitespace(_)));
    let texts = solid.map(|(token, text)| match token {
        Token::SingleQuotedString(_) => "''",
        // Whole numbers and others divide in another way.
        Token::Number(number, _) if number.contains(['.', 'e', 'E']) => "0.0",
        Token::Number(..) => "0",
        _ => text.as_str(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_the_same_for_other_values() {
        let sql = "SELECT a -- first\nFROM b WHERE c = 'it''s' AND d > 5 AND e < 0.5";
        let other = "SELECT a FROM b\n WHERE c = '' AND d > 1234 AND e < 1e3";
        assert_eq!(shape(sql), shape(other));
        for different in [
            "SELECT a FROM b WHERE c = '' AND d > 1.5 AND e < 0.5",
            "SELECT a FROM b WHERE c = 'x' AND d > 5",
        ] {
            assert_ne!(shape(sql), shape(different));
        }
    }
}
