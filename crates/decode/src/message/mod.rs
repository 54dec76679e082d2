//! Texts of events, with placeholders for the values of their fields.
//!
//! Manifests number the fields from 1 (`%1`, `%2!x!`), messages of WPP from 10. A number may be
//! followed by a `printf` format.

pub mod printf;

use printf::{Argument, Spec};
use serde_json::{Map, Value};

/// Maximum bytes of a text. A longer one is cut, because a format may insert a long value again and
/// again.
pub const MAX_TEXT: usize = 64 << 10;

/// Suffix of a text that was cut.
const CUT: char = '…';

/// A format, cut into its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    pieces: Vec<Piece>,
}

/// Maximum bytes of memory that a format takes together with its template. An insert of two
/// characters becomes a piece of forty bytes, so the length of a text alone is not enough.
#[must_use]
pub fn cost(format: &str) -> usize {
    let escapes = format.bytes().filter(|byte| *byte == b'%').count();
    // An escape may be a piece and end the text before it, which is another one.
    format
        .len()
        .saturating_add(escapes.saturating_mul(2 * size_of::<Piece>()))
}

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(Box<str>),
    /// The value of a number.
    Value(u16, Option<Spec>),
    /// The value of a name: `%!FUNC!`.
    Named(Box<str>),
}

/// The syntax of formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// In manifests: `%n` is the end of a line, `%t` a tab, `%b` a blank; numbers have up to two
    /// digits.
    Manifest,
    /// In trace message format files: nothing but `%%`, numbers and names.
    Wpp,
}

impl Template {
    /// Reads a format. Unknown syntax becomes literal text.
    #[must_use]
    pub fn parse(format: &str, dialect: Dialect) -> Self {
        let mut pieces = Pieces::default();
        let mut rest = format;
        // Parsed once for each kind of event; rendering an event then only joins the pieces.
        while let Some((before, behind)) = rest.split_once('%') {
            pieces.text.push_str(before);
            rest = pieces.escape(behind, dialect);
        }
        pieces.text.push_str(rest);
        pieces.flush();
        Self { pieces: pieces.all }
    }

    /// True if the text does not depend on the values.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The text; `value` returns the text of each piece that is not literal.
    #[must_use]
    pub fn text(&self, mut value: impl FnMut(&Piece) -> String) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(own) => text.push_str(own),
                other => text.push_str(&value(other)),
            }
            // Checked after each piece: a format with many inserts would otherwise build gigabytes
            // before it is cut.
            if text.len() > MAX_TEXT {
                let end = text.floor_char_boundary(MAX_TEXT);
                text.truncate(end);
                text.push(CUT);
                break;
            }
        }
        text
    }

    /// The text of a manifest event with its fields in order.
    #[must_use]
    pub fn with_fields(&self, fields: &Map<String, Value>) -> String {
        let values: Vec<&Value> = fields.values().collect();
        let text = self.text(|piece| {
            let Piece::Value(number, spec) = piece else {
                return String::new();
            };
            let value = usize::from(*number)
                .checked_sub(1)
                .and_then(|at| values.get(at));
            match value {
                Some(value) => field_text(value, spec.as_ref()),
                // The field is missing in a payload that ends early; the reader sees which one.
                None => format!("%{number}"),
            }
        });
        text.trim_end().to_owned()
    }
}

/// A decoded field in a text.
fn field_text(value: &Value, spec: Option<&Spec>) -> String {
    if let (Value::Number(number), Some(spec)) = (value, spec) {
        let argument = number
            .as_i64()
            .map(|n| Argument::signed(n, 8))
            .or_else(|| number.as_u64().map(|n| Argument::unsigned(n, 8)))
            .or_else(|| number.as_f64().map(Argument::Float));
        if let Some(argument) = argument {
            return spec.format(&argument, 8);
        }
    }
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values
            .iter()
            .map(|v| field_text(v, None))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

#[derive(Default)]
struct Pieces {
    all: Vec<Piece>,
    text: String,
}

impl Pieces {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.all
                .push(Piece::Text(std::mem::take(&mut self.text).into()));
        }
    }

    fn push(&mut self, piece: Piece) {
        self.flush();
        self.all.push(piece);
    }

    /// Reads an escape after its percent sign, and returns the rest.
    fn escape<'f>(&mut self, behind: &'f str, dialect: Dialect) -> &'f str {
        if let Some(rest) = behind.strip_prefix('0') {
            // It represents the prefix that a printer adds to each line. Digits after it are text:
            // `%00x%10!x!`.
            return rest;
        }
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            // `%123` in a manifest is insert 12 followed by a 3, as FormatMessage reads it.
            let most = if dialect == Dialect::Manifest { 2 } else { 4 };
            let (number, rest) = behind.split_at(digits.min(most));
            if let Ok(number) = number.parse() {
                return self.number(number, rest);
            }
        }
        if let Some(rest) = behind.strip_prefix('%') {
            self.text.push('%');
            return rest;
        }
        match dialect {
            Dialect::Wpp => {
                if let Some((name, rest)) = behind
                    .strip_prefix('!')
                    .and_then(|rest| rest.split_once('!'))
                {
                    self.push(Piece::Named(name.into()));
                    return rest;
                }
            }
            Dialect::Manifest => {
                for (escape, text) in [
                    ('n', "\n"),
                    ('r', ""),
                    ('t', "\t"),
                    ('b', " "),
                    ('.', "."),
                    ('!', "!"),
                ] {
                    if let Some(rest) = behind.strip_prefix(escape) {
                        self.text.push_str(text);
                        return rest;
                    }
                }
            }
        }
        self.text.push('%');
        behind
    }

    fn number<'f>(&mut self, number: u16, rest: &'f str) -> &'f str {
        let (spec, rest) = match rest
            .strip_prefix('!')
            .and_then(|inside| inside.split_once('!'))
        {
            Some((spec, rest)) => (Spec::parse(spec), rest),
            None => (None, rest),
        };
        self.push(Piece::Value(number, spec));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(format: &str, fields: Value, expected: &str) {
        let Value::Object(fields) = fields else {
            panic!("an object")
        };
        assert_eq!(
            Template::parse(format, Dialect::Manifest).with_fields(&fields),
            expected,
            "{format}"
        );
    }

    #[test]
    fn inserts_of_manifests() {
        let fields =
            json!({"name": "cmd.exe", "id": 255, "list": [1, "b"], "on": true, "none": null});
        check(
            "%1 started%n%twith %2",
            fields.clone(),
            "cmd.exe started\n\twith 255",
        );
        check(
            "%2!08x! %2!d!%% %3|%4|%5",
            fields.clone(),
            "000000ff 255% 1, b|true|",
        );
        check("%1%0", fields.clone(), "cmd.exe");
        check(
            "100%% of %9 at 5% more%",
            fields.clone(),
            "100% of %9 at 5% more%",
        );
        check("%1!s! %2!no format! %z", fields, "cmd.exe 255 %z");
    }

    #[test]
    fn a_long_value_that_is_named_again_and_again_is_cut() {
        let format = "%1".repeat(10_000);
        let Value::Object(fields) = json!({"long": "x".repeat(20_000)}) else {
            panic!("an object")
        };
        let text = Template::parse(&format, Dialect::Manifest).with_fields(&fields);
        assert!(
            text.len() < MAX_TEXT + 10 && text.ends_with(CUT),
            "{}",
            text.len()
        );
    }

    #[test]
    fn inserts_cost_more_than_their_characters() {
        for format in ["%1", "a%1b%%", "%!FUNC! %10!d!", "plain"].map(|part| part.repeat(100)) {
            let pieces = Template::parse(&format, Dialect::Wpp).pieces.len();
            assert!(
                cost(&format) + size_of::<Piece>() >= pieces * size_of::<Piece>(),
                "{format}"
            );
        }
        assert_eq!(cost("plain"), 5);
    }

    #[test]
    fn messages_know_names_and_large_numbers() {
        let template = Template::parse("%0%!FUNC!: %10!d! 5%% %n", Dialect::Wpp);
        let pieces: Vec<_> = template
            .pieces
            .iter()
            .map(|piece| format!("{piece:?}"))
            .collect();
        assert_eq!(pieces.len(), 4, "{pieces:?}");
        assert!(!template.is_constant() && Template::parse("plain %%", Dialect::Wpp).is_constant());
        let text = template.text(|piece| match piece {
            Piece::Named(name) => name.to_string(),
            Piece::Value(number, _) => number.to_string(),
            Piece::Text(_) => String::new(),
        });
        assert_eq!(text, "FUNC: 10 5% %n");
    }
}
