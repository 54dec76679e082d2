//! The query language of filters: `[Process]:="cmd.exe (4711)" AND NOT [Count]:<2`.
//!
//! Column, colon, operator, literal; `AND`, `OR`, `NOT`, parentheses; two conditions side by side
//! must both hold.

use std::iter::Peekable;
use std::str::CharIndices;

/// Largest nesting of parentheses and `NOT`.
const MAX_DEPTH: usize = 50;

/// Largest number of comparisons in a condition. Each additional one nests the earlier ones one
/// level deeper, and walking a condition needs stack for each level.
const MAX_COMPARISONS: usize = 500;

/// Bytes of a condition.
const MAX_BYTES: usize = 64 << 10;

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Both hold.
    And(Box<Self>, Box<Self>),
    /// One of them holds.
    Or(Box<Self>, Box<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// A column compared with a literal.
    Is {
        column: String,
        operator: Operator,
        literal: String,
    },
}

/// Comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    ContainsNot,
    StartsWith,
    EndsWith,
    Matches,
}

impl Operator {
    /// True for operators that compare values as a whole, which numbers also have.
    pub(crate) const fn orders(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
        )
    }
}

/// Operators as they are written, longer ones first.
const OPERATORS: [(&str, Operator); 12] = [
    ("~=", Operator::Contains),
    ("~!", Operator::ContainsNot),
    ("~<", Operator::StartsWith),
    ("~>", Operator::EndsWith),
    ("<>", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("~", Operator::Contains),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("*", Operator::Matches),
];

/// Syntax error in a condition: the position of the character, from 1, and the input that was
/// expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: expected {expected}")]
pub(crate) struct Wrong {
    at: usize,
    expected: &'static str,
}

/// Reads a condition.
pub(crate) fn parse(text: &str) -> Result<Condition, Wrong> {
    if text.len() > MAX_BYTES {
        return Err(Wrong {
            at: MAX_BYTES,
            expected: "no more than 64 KiB",
        });
    }
    // `OR` binds weaker than `AND`, so parsing starts with it.
    let mut parser = Parser {
        text,
        rest: text.char_indices().peekable(),
        depth: 0,
        comparisons: 0,
    };
    let condition = parser.any_of()?;
    parser.blanks();
    match parser.rest.peek() {
        None => Ok(condition),
        Some(_) => Err(parser.wrong("AND, OR or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
    depth: usize,
    comparisons: usize,
}

impl<'t> Parser<'t> {
    fn wrong(&mut self, expected: &'static str) -> Wrong {
        // Counted in characters, as in an editor, and not in bytes.
        let bytes = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        let before = self.text.get(..bytes).unwrap_or(self.text);
        Wrong {
            at: before.chars().count() + 1,
            expected,
        }
    }

    fn left(&mut self) -> &'t str {
        let at = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        self.text.get(at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        while self.rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    }

    /// Takes a word of the language if it is next and no letter follows it.
    fn takes_word(&mut self, word: &str) -> bool {
        self.blanks();
        let left = self.left();
        let is_it = left.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
            // A column may start with the letters of a word, or have the name of a word and be
            // followed by its colon.
            && !left.chars().nth(word.len()).is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        if is_it {
            self.pass(word.len());
        }
        is_it
    }

    /// Skips `characters` ASCII characters.
    fn pass(&mut self, characters: usize) {
        for _ in 0..characters {
            self.rest.next();
        }
    }

    fn any_of(&mut self) -> Result<Condition, Wrong> {
        let mut first = self.all_of()?;
        while self.takes_word("OR") {
            first = Condition::Or(Box::new(first), Box::new(self.all_of()?));
        }
        Ok(first)
    }

    fn all_of(&mut self) -> Result<Condition, Wrong> {
        let mut first = self.one()?;
        loop {
            // Two conditions side by side hold together, so an AND may be left out.
            let has_word = self.takes_word("AND");
            self.blanks();
            let ends =
                self.left().is_empty() || self.left().starts_with(')') || self.begins_with_or();
            if ends && !has_word {
                return Ok(first);
            }
            first = Condition::And(Box::new(first), Box::new(self.one()?));
        }
    }

    fn begins_with_or(&self) -> bool {
        // On a copy, since the caller still has to read the word.
        let mut ahead = Self {
            text: self.text,
            rest: self.rest.clone(),
            depth: 0,
            comparisons: 0,
        };
        ahead.takes_word("OR")
    }

    fn one(&mut self) -> Result<Condition, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("no more than 50 conditions in each other"));
        }
        let condition = if self.takes_word("NOT") {
            Condition::Not(Box::new(self.one()?))
        } else if self.rest.next_if(|(_, c)| *c == '(').is_some() {
            let inner = self.any_of()?;
            self.blanks();
            if self.rest.next_if(|(_, c)| *c == ')').is_none() {
                return Err(self.wrong(")"));
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, Wrong> {
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            return Err(self.wrong("no more than 500 comparisons"));
        }
        let column = match self.rest.peek() {
            Some((_, '[')) => self.quoted(']', "]")?,
            Some((_, '"')) => self.quoted('"', "\"")?,
            _ => self.until(|c| c == ':' || c.is_whitespace()),
        };
        if column.is_empty() {
            return Err(self.wrong("a column as [Process]"));
        }
        if self.rest.next_if(|(_, c)| *c == ':').is_none() {
            return Err(self.wrong(": and an operator"));
        }
        // The first match is taken: if `<` came before `<>`, a `>` would be left for the literal.
        let left = self.left();
        let Some((word, operator)) = OPERATORS.iter().find(|(word, _)| left.starts_with(word))
        else {
            return Err(self.wrong("an operator: = <> < > <= >= ~= ~! ~< ~> *"));
        };
        self.pass(word.len());
        self.blanks();
        let literal = match self.rest.peek() {
            Some((_, '"')) => self.quoted('"', "\"")?,
            Some((_, '\'')) => self.quoted('\'', "'")?,
            _ => {
                let bare = self.until(|c| c == '(' || c == ')' || c.is_whitespace());
                if bare.is_empty() {
                    return Err(self.wrong("what it is compared with"));
                }
                bare
            }
        };
        Ok(Condition::Is {
            column,
            operator: *operator,
            literal,
        })
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some((_, c)) = self.rest.next_if(|(_, c)| !ends(*c)) {
            text.push(c);
        }
        text
    }

    fn quoted(&mut self, end: char, expected: &'static str) -> Result<String, Wrong> {
        self.rest.next();
        let text = self.until(|c| c == end);
        match self.rest.next() {
            Some(_) => Ok(text),
            None => Err(self.wrong(expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(column: &str, operator: Operator, literal: &str) -> Box<Condition> {
        Box::new(Condition::Is {
            column: column.to_owned(),
            operator,
            literal: literal.to_owned(),
        })
    }

    #[test]
    fn conditions_of_profiles_are_read() {
        let dpc = is("DPC/ISR", Operator::Equal, "Regular CPU Usage");
        let thread = is("Thread ID", Operator::Equal, "0");
        let count = is("Count", Operator::Equal, "0");
        let read =
            parse(r#"([DPC/ISR]:="Regular CPU Usage" AND [Thread ID]:=0) OR Count:=0"#).unwrap();
        assert_eq!(
            read,
            Condition::Or(Box::new(Condition::And(dpc, thread)), count)
        );

        let name = is("Process (Name)", Operator::Contains, "diskspd.exe");
        let (a, b) = (
            is("File Path", Operator::Contains, "a"),
            is("File Path", Operator::Contains, "b"),
        );
        let read =
            parse(r#"[Process (Name)]:~="diskspd.exe" ([File Path]:~="a"OR[File Path]:~="b")"#)
                .unwrap();
        assert_eq!(read, Condition::And(name, Box::new(Condition::Or(a, b))));

        let read = parse("[Task Name]:~>HandleOperation").unwrap();
        assert_eq!(
            read,
            *is("Task Name", Operator::EndsWith, "HandleOperation")
        );
        let read = parse(r#"NOT ([New Process]:<>"Idle (0)")"#).unwrap();
        assert_eq!(
            read,
            Condition::Not(is("New Process", Operator::NotEqual, "Idle (0)"))
        );
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_place() {
        let wrong = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(wrong("[Process"), "character 9: expected ]");
        assert_eq!(
            wrong("[Process]=1"),
            "character 10: expected : and an operator"
        );
        assert_eq!(
            wrong("[A]:=1 AND"),
            "character 11: expected a column as [Process]"
        );
        assert_eq!(wrong("[A]:=1)"), "character 7: expected AND, OR or the end");
        assert_eq!(wrong("([A]:=1"), "character 8: expected )");
        assert_eq!(
            wrong("[A]:="),
            "character 6: expected what it is compared with"
        );
        assert!(wrong(&"(".repeat(100_000)).contains("64 KiB"));
        assert!(wrong(&"(".repeat(1_000)).contains("50 conditions"));
        assert!(parse(&"a:=1 ".repeat(MAX_COMPARISONS)).is_ok());
        assert!(wrong(&"a:=1 ".repeat(10_000)).contains("500 comparisons"));
    }
}
