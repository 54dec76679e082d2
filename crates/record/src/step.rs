//! Command lines of Windows, and their reasons.

use std::fmt;

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

    /// True if one of its arguments is that option, ignoring case.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.args.iter().any(|arg| arg.eq_ignore_ascii_case(option))
    }
}

/// Characters that end an argument or a line for `cmd.exe` unless they are quoted.
const SPECIAL: &[char] = &[' ', '\t', '"', '&', '|', '<', '>', '^', '(', ')', ';', ','];

/// Quoted as `cmd.exe` reads it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        for arg in &self.args {
            // Doubled quotes are one quote for the program, and keep the following text quoted for
            // cmd.exe.
            let is_plain = !arg.is_empty() && !arg.contains(SPECIAL);
            if is_plain {
                write!(f, " {arg}")?;
            } else {
                write!(f, " \"{}\"", arg.replace('"', "\"\""))?;
            }
        }
        Ok(())
    }
}
