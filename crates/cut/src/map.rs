//! The table of substitutes and originals: a file for the sender of a redacted trace, by which
//! answers about it get their real names.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use etwkit_terminal::errors::advised;
use serde_json::{Value, json};

use crate::columns::{self, Cell};
use crate::redact::Substitute;

/// The first key of the file, by which it is known.
const FORMAT: &str = "etwkit_substitutes";
const VERSION: u64 = 1;
/// Maximum bytes of a table that is read.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of rows that are held back until their table ends.
const MOST_ROWS: usize = 10_000;
/// Maximum bytes of a substitute that is looked for. Those that `cut` gives have some dozens.
const MAX_SUBSTITUTE: usize = 256;

/// Fails if a table cannot be written there: the originals of an earlier trace would be lost.
///
/// # Errors
/// Something has that name.
pub fn check_new(path: &Path) -> Result<()> {
    // A link counts as well, wherever it leads.
    if path.symlink_metadata().is_ok() {
        let message = format!("{} exists already", path.display());
        return Err(advised(
            message,
            "--map writes a new file: choose another name",
        ));
    }
    Ok(())
}

/// Writes a table into a new file that only its owner can read.
///
/// # Errors
/// The file is there already, or cannot be written.
pub fn write(path: &Path, rows: &[Substitute]) -> Result<()> {
    let mut options = OpenOptions::new();
    // Created new, so that two programs cannot write one table.
    options.write(true).create_new(true);
    private(&mut options);
    let file = options
        .open(path)
        .with_context(|| format!("cannot create {}", path.display()))?;
    put(file, rows).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600);
}

// A new file of Windows has the permissions of its folder.
#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

fn put(file: File, rows: &[Substitute]) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    writeln!(out, "{}", json!({FORMAT: VERSION}))?;
    for row in rows {
        let row = json!({"kind": row.kind, "substitute": row.substitute, "original": row.original});
        writeln!(out, "{row}")?;
    }
    out.flush()
}

/// Originals by their substitutes.
#[derive(Debug, Default)]
pub struct Originals {
    /// Sorted by substitute, each once.
    rows: Vec<Mapping>,
}

/// Kinds of texts about a file, which are not names of anything in a trace.
const ABOUT_FILES: [&str; 4] = ["company", "description", "product", "version"];

/// A substitute with its original.
#[derive(Debug)]
struct Mapping {
    /// True for a name, which filters compare.
    is_name: bool,
    substitute: String,
    original: String,
}

impl Mapping {
    /// The byte of the substitute at a place.
    fn byte(&self, at: usize) -> Option<u8> {
        self.substitute.as_bytes().get(at).copied()
    }
}

/// The form of an answer's line, which decides how an original is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text for people: columns stay where they are, if there is room.
    Text,
    /// Cells between commas.
    Csv,
}

impl Originals {
    /// Reads a table.
    ///
    /// # Errors
    /// The file cannot be read, or is no table of substitutes.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut text = String::new();
        file.take(MAX_BYTES)
            // The whole table is read, since a line of an answer may hold any of its names.
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Reads the text of a table.
    ///
    /// # Errors
    /// It is no table of substitutes.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let first: Option<Value> = lines
            .next()
            .and_then(|line| serde_json::from_str(line).ok());
        match first.as_ref().and_then(|first| first.get(FORMAT)) {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            // Read in order of the substitutes, which the search in them needs.
            _ => bail!("line 1: expected a table that `etwkit cut --redact --map` wrote"),
        }
        let mut all = BTreeMap::new();
        for (number, line) in lines.enumerate() {
            let row: Value = serde_json::from_str(line)
                .with_context(|| format!("line {}: expected a row of JSON", number + 2))?;
            let text = |key: &str| row.get(key).and_then(Value::as_str);
            let (Some(substitute), Some(original)) = (text("substitute"), text("original")) else {
                bail!("line {}: expected substitute and original", number + 2);
            };
            let is_name = text("kind").is_none_or(|kind| !ABOUT_FILES.contains(&kind));
            all.insert(substitute.to_owned(), (original.to_owned(), is_name));
        }
        let rows = all
            .into_iter()
            .map(|(substitute, (original, is_name))| Mapping {
                is_name,
                substitute,
                original,
            });
        Ok(Self {
            rows: rows.collect(),
        })
    }

    /// Returns the substitutes of names with their originals, by substitute.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.rows.iter().filter(|row| row.is_name);
        names.map(|row| (row.substitute.as_str(), row.original.as_str()))
    }

    /// A line of an answer, with originals instead of substitutes. A line that starts with a brace
    /// is JSON.
    #[must_use]
    pub fn line(&self, line: &str, form: Form) -> String {
        if line.starts_with('{') {
            return self.replaced(line, |original| {
                // JSON texts need their own escapes.
                let quoted = Value::from(original).to_string();
                let inside = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                inside.unwrap_or(&quoted).to_owned()
            });
        }
        match form {
            Form::Text => self.rows(&[line.to_owned()]).concat(),
            Form::Csv => self.cells(line),
        }
    }

    /// Replaces the substitutes of a text.
    fn replaced(&self, text: &str, write: impl Fn(&str) -> String) -> String {
        let mut new = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            match self.at(text, at) {
                Some((len, original)) => {
                    new.push_str(&write(original));
                    at += len;
                }
                None => {
                    let len = rest.chars().next().map_or(1, char::len_utf8);
                    new.push_str(rest.split_at(len).0);
                    at += len;
                }
            }
        }
        new
    }

    /// The longest substitute at a place: its length and its original.
    fn at(&self, text: &str, at: usize) -> Option<(usize, &str)> {
        let bytes = text.as_bytes();
        let is_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        // A substitute is a word. Inside of another word it would be a part of something else.
        if !is_word(at) || at > 0 && is_word(at - 1) && !is_color(bytes, at) {
            return None;
        }
        let mut found = None;
        // The substitutes that begin as the text does. Each further byte leaves fewer of them, so a
        // table with long substitutes takes no longer than one with short ones.
        let mut left: &[Mapping] = &self.rows;
        let after = bytes.get(at..)?.iter().take(MAX_SUBSTITUTE);
        for (len, byte) in (1..).zip(after.copied()) {
            let from = left.partition_point(|row| row.byte(len - 1) < Some(byte));
            let to = left.partition_point(|row| row.byte(len - 1) <= Some(byte));
            left = left.get(from..to)?;
            // The shortest one comes first.
            let Some(row) = left.first() else {
                break;
            };
            // The word has to end where the substitute does.
            let ends_word = !is_word(at + len) || !is_word(at + len - 1);
            if row.substitute.len() == len && ends_word {
                found = Some((len, row.original.as_str()));
            }
        }
        found
    }

    /// Replaces the substitutes of the rows of a table, whose columns then have room for the
    /// originals.
    fn rows(&self, lines: &[String]) -> Vec<String> {
        let cells = |line: &String| columns::cells(line, |cell| self.replaced(cell, escaped));
        let rows: Vec<Vec<Cell>> = lines.iter().map(cells).collect();
        columns::aligned(&rows)
    }

    /// Replaces the substitutes of cells, which get quotes if an original needs them.
    fn cells(&self, line: &str) -> String {
        let mut cells = Vec::new();
        let (mut start, mut is_quoted) = (0, false);
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                b',' if !is_quoted => {
                    cells.extend(line.get(start..at));
                    start = at + 1;
                }
                _ => {}
            }
        }
        cells.extend(line.get(start..));
        let cell = |cell: &str| {
            // A quoted cell doubles its quotes.
            if cell.starts_with('"') {
                return self.replaced(cell, |original| escaped(original).replace('"', "\"\""));
            }
            let new = self.replaced(cell, escaped);
            // Quotes only where the original has made them necessary.
            if new != cell && new.contains([',', '"']) {
                format!("\"{}\"", new.replace('"', "\"\""))
            } else {
                new
            }
        };
        cells.into_iter().map(cell).collect::<Vec<_>>().join(",")
    }
}

/// The table is a file, which may contain anything.
fn escaped(original: &str) -> String {
    etwkit_terminal::escape::text(original).into_owned()
}

/// True if a sequence that sets a color ends before a place.
fn is_color(bytes: &[u8], at: usize) -> bool {
    let Some((b'm', front)) = bytes.get(..at).and_then(<[u8]>::split_last) else {
        return false;
    };
    let digits = front
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    front
        .get(..front.len() - digits)
        .is_some_and(|front| front.ends_with(b"\x1B["))
}

/// Writes lines with originals instead of substitutes.
pub struct OriginalsWriter<'o, W: Write> {
    out: W,
    originals: &'o Originals,
    form: Form,
    /// The line so far.
    line: Vec<u8>,
    /// Rows of a table that has not ended yet: the widths of its columns depend on all of them.
    rows: Vec<String>,
}

impl<'o, W: Write> OriginalsWriter<'o, W> {
    /// Creates a writer.
    pub const fn new(out: W, originals: &'o Originals, form: Form) -> Self {
        Self {
            out,
            originals,
            form,
            line: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Writes what follows the last line end.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.put()?;
        self.out.flush()
    }

    fn put(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        // Rows of a table are held back until it ends, since names change the width of columns.
        if let Some(row) = self.row(&line) {
            self.rows.push(row);
            return match self.rows.len() {
                MOST_ROWS => self.put_rows(),
                _ => Ok(()),
            };
        }
        self.put_rows()?;
        match std::str::from_utf8(&line) {
            Ok(text) => {
                let (text, end) = match text.strip_suffix('\n') {
                    Some(text) => (text, "\n"),
                    None => (text, ""),
                };
                let named = self.originals.line(text, self.form);
                self.out.write_all((named + end).as_bytes())
            }
            // Bytes that are no text have no names in them.
            Err(_) => self.out.write_all(&line),
        }
    }

    /// The text of a line that can be a row of a table.
    fn row(&self, line: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let is_row = matches!(self.form, Form::Text) && columns::is_row(text);
        is_row.then(|| text.to_owned())
    }

    /// Writes the rows so far.
    fn put_rows(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.originals
            .rows(&rows)
            .iter()
            .try_for_each(|row| writeln!(self.out, "{row}"))
    }
}

impl<W: Write> Write for OriginalsWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(line);
            if line.ends_with(b"\n") {
                self.put()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put_rows()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn originals(rows: &[(&str, &str)]) -> Originals {
        let rows = rows
            .iter()
            .map(|(substitute, original)| json!({"substitute": substitute, "original": original}));
        let lines: Vec<String> = [json!({FORMAT: VERSION})]
            .into_iter()
            .chain(rows)
            .map(|row| row.to_string())
            .collect();
        Originals::parse(&lines.join("\n")).unwrap()
    }

    #[test]
    fn substitutes_are_replaced_at_the_bounds_of_words() {
        let all = originals(&[
            ("program-1", "zebulon"),
            ("program-12", "twelve"),
            ("host-1.example", "nas.corp"),
            ("192.0.2.1", "10.1.2.3"),
            ("2001:db8::1", "fd00::9"),
        ]);
        for (text, expected) in [
            ("program-1.exe (12)", "zebulon.exe (12)"),
            (r"C:\program-12\x", r"C:\twelve\x"),
            ("program-123 xprogram-1", "program-123 xprogram-1"),
            ("host-1.example:80", "nas.corp:80"),
            (
                "192.0.2.1:53 192.0.2.12 2001:db8::1 2001:db8::12",
                "10.1.2.3:53 192.0.2.12 fd00::9 2001:db8::12",
            ),
            ("\x1B[1mprogram-1\x1B[0m", "\x1B[1mzebulon\x1B[0m"),
        ] {
            assert_eq!(all.line(text, Form::Text), expected);
        }
    }

    #[test]
    fn originals_are_written_as_their_form_needs_it() {
        let all = originals(&[("company-1", "A \"B\", \x1B[31m"), ("user-1", "r")]);
        assert_eq!(
            all.line(r#"{"a":"company-1"}"#, Form::Csv),
            r#"{"a":"A \"B\", \u001b[31m"}"#
        );
        assert_eq!(
            all.line("1,company-1,user-1,\"x, user-1\"", Form::Csv),
            "1,\"A \"\"B\"\", \\u{1b}[31m\",r,\"x, r\""
        );
        assert_eq!(all.line("  user-1   12  x", Form::Text), "  r        12  x");
    }

    #[test]
    fn a_table_gets_wider_as_a_whole() {
        let all = originals(&[("driver-1", "scanner")]);
        let mut out = Vec::new();
        let mut named = OriginalsWriter::new(&mut out, &all, Form::Text);
        named
            .write_all(b"driver-1  x\n  Name      ms\n  driver-1   1\n  a         22\nend")
            .unwrap();
        named.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "scanner   x\n  Name      ms\n  scanner    1\n  a         22\nend"
        );
        let all = originals(&[("driver-1", "scanner-of-files")]);
        let mut out = Vec::new();
        let mut named = OriginalsWriter::new(&mut out, &all, Form::Text);
        named
            .write_all(b"  Name      ms\n  driver-1   1\n  a         22\n")
            .unwrap();
        named.flush().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "  Name              ms\n  scanner-of-files   1\n  a                 22\n"
        );
    }

    #[test]
    fn the_longest_substitute_counts() {
        let all = originals(&[
            ("host-1", "a"),
            ("host-1.example", "b"),
            ("host-1.example", "c"),
            ("host-1.x.y", "d"),
            ("", "e"),
        ]);
        assert_eq!(
            all.line("host-1.example host-1.ex host-1.x.y host-1", Form::Text),
            "c a.ex d a"
        );
    }

    /// A search for each length of a substitute, at each place of an answer, would not end.
    #[test]
    fn long_substitutes_cost_no_time() {
        let long = "a-".repeat(100_000);
        let all = originals(&[(long.as_str(), "x"), ("a-b", "y")]);
        let start = std::time::Instant::now();
        let answer = format!("{{{}a-b}}", "a-".repeat(4_000));
        let named = all.line(&answer, Form::Text);
        assert!(named.ends_with("-a-y}"), "{}", named.len());
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn other_files_are_no_tables() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"etwkit_substitutes\":2}",
            "{\"etwkit_substitutes\":1}\nx",
        ] {
            assert!(Originals::parse(text).is_err(), "{text}");
        }
    }
}
