//! Lines of a `.cmd` file, read as `cmd.exe` and the programs that it starts read them.

use std::collections::HashMap;

/// Characters that `cmd.exe` reads as operators outside of quotes.
const OPERATORS: &str = "&|<>()";

/// Variables of a script.
pub(crate) struct Batch {
    variables: HashMap<String, String>,
}

impl Batch {
    /// A script with the variables of any machine.
    pub(crate) fn new() -> Self {
        let variables = [("COMPUTERNAME", "MAGNON"), ("TEMP", r"C:\Temp")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            variables: variables.into(),
        }
    }

    /// Returns the words that the program of a line gets; no words for a line that sets a variable.
    pub(crate) fn words(&mut self, line: &str) -> Vec<String> {
        let line = line.strip_suffix(" || exit /b 1").unwrap_or(line);
        let line = unescaped(&self.replaced(line));
        if let Some(set) = line.strip_prefix("set \"") {
            let (name, value) = set.strip_suffix('"').unwrap().split_once('=').unwrap();
            self.variables.insert(name.to_owned(), value.to_owned());
            return Vec::new();
        }
        let Some(called) = line.strip_prefix("call ") else {
            return split(&line);
        };
        // `call` doubles carets and reads its line once more.
        split(&unescaped(&self.replaced(&called.replace('^', "^^"))))
    }

    /// Replaces variables and doubled percent signs; single ones and arguments of the script vanish.
    fn replaced(&self, line: &str) -> String {
        let mut replaced = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('%') {
            replaced.push_str(before);
            rest = if let Some(next) = after.strip_prefix('%') {
                replaced.push('%');
                next
            } else if let Some(next) = after.strip_prefix(|c: char| c.is_ascii_digit() || c == '*')
            {
                next
            } else if let Some((name, next)) = after.split_once('%') {
                replaced.push_str(self.variables.get(name).map_or("", String::as_str));
                next
            } else {
                after
            };
        }
        replaced + rest
    }
}

/// Removes carets that escape a character. Fails at an operator, which would end the command.
fn unescaped(line: &str) -> String {
    let mut unescaped = String::new();
    let mut is_quoted = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                unescaped.push(letter);
            }
            '^' if !is_quoted => unescaped.extend(letters.next()),
            _ => {
                let is_operator = OPERATORS.contains(letter) && !is_quoted;
                assert!(!is_operator, "{letter} is an operator in {line}");
                unescaped.push(letter);
            }
        }
    }
    unescaped
}

/// Splits a line as the C runtime of Windows does for a program.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' if !is_quoted => words.extend(word.take()),
            '\\' => {
                let mut count = 1;
                while letters.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let is_before_quote = letters.peek() == Some(&'"');
                let word = word.get_or_insert_default();
                if !is_before_quote {
                    word.push_str(&"\\".repeat(count));
                    continue;
                }
                word.push_str(&"\\".repeat(count / 2));
                if count % 2 == 1 {
                    word.extend(letters.next());
                }
            }
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => {
                word.get_or_insert_default().push('"');
            }
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Texts with each character that `cmd.exe` or the C runtime gives a meaning, and some in a row.
pub(crate) fn texts() -> Vec<String> {
    let special = "%&|<>^()!,;=\"'`\\ *?@~#[]{}$+:/.-";
    let mut texts: Vec<String> = Vec::new();
    for letter in special.chars() {
        texts.extend([
            format!("a{letter}b"),
            format!("a{letter}{letter}b {letter}"),
        ]);
    }
    let rows = [
        "100% slow",
        "50% of 100%",
        "%TEMP%",
        "%COMPUTERNAME% %1 %* %%",
        "5%~ slow",
        "%~dp0x",
        r#"a "b" & c"#,
        r#"a\"b\\"c"#,
        r"D:\my traces\",
        r"D:\traces\",
        r#"^"&"^"#,
        "\"%TEMP%\" & del x",
        "langsam: 100 % für Ä",
    ];
    texts.extend(rows.map(str::to_owned));
    texts
}
