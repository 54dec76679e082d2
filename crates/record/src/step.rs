//! Command lines of Windows, and their reasons.

use std::fmt;
use std::iter;

/// One command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The program, as `wpr`.
    pub program: &'static str,
    /// Its arguments, unquoted.
    pub args: Vec<String>,
    /// Purpose of the line, as a sentence for the reader of a script.
    pub why: String,
}

impl Step {
    /// Creates a command line of `wpr`.
    pub fn wpr<A: Into<String>>(args: impl IntoIterator<Item = A>, why: impl Into<String>) -> Self {
        Self {
            program: "wpr",
            args: args.into_iter().map(Into::into).collect(),
            why: why.into(),
        }
    }

    /// Returns the line with its words as a script has them.
    pub(crate) fn into_script(mut self) -> Self {
        self.args = self.args.iter().map(|arg| literal(arg)).collect();
        self
    }

    /// True if one of its arguments is that option, ignoring case.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.args.iter().any(|arg| arg.eq_ignore_ascii_case(option))
    }
}

/// Characters that end an argument or a line for `cmd.exe` unless they are quoted.
const SPECIAL: &[char] = &[
    ' ', '\t', '"', '&', '|', '<', '>', '^', '(', ')', ';', ',', '=',
];

/// Name of a variable of scripts whose value is a caret.
pub(crate) const CARET_NAME: &str = "ETWKIT_CARET";

/// A caret in a word of `call`, which doubles carets, but not those of variables.
pub(crate) const CARET: &str = "%%ETWKIT_CARET%%";

/// Returns a word as a script has it: there `cmd.exe` takes `%` as the start of a variable.
pub(crate) fn literal(word: &str) -> String {
    word.replace('%', "%%")
}

/// Quoted as `cmd.exe` reads it at its prompt. For a script `%` has to be doubled before.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        for arg in &self.args {
            let is_plain = !arg.is_empty() && !arg.contains(SPECIAL) && !arg.contains(CARET);
            if is_plain {
                write!(f, " {arg}")?;
            } else {
                write!(f, " {}", quoted(arg))?;
            }
        }
        Ok(())
    }
}

/// Returns a word in double quotes. Doubled quotes are one quote for the program, and keep the
/// following text quoted for `cmd.exe`. A program takes two backslashes before a quote as one.
fn quoted(word: &str) -> String {
    let mut quoted = String::from('"');
    let mut backslashes = 0;
    for letter in word.chars() {
        if letter == '"' {
            quoted.extend(iter::repeat_n('\\', backslashes));
            quoted.push('"');
        }
        quoted.push(letter);
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
    }
    quoted.extend(iter::repeat_n('\\', backslashes));
    quoted.push('"');
    quoted
}
