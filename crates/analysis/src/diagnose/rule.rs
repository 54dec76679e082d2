//! Rules: SQL with a header that says what its rows mean. The rules that come with the program and those of a
//! team have the same form, see `docs/diagnose.md`.

use std::borrow::Cow;

use etwkit_sql::library::{Param, Query};
use etwkit_sql::xml::FileError;

use super::evidence::{EvidenceLine, names};
use super::spot::{Spot, WrongWord};

/// Most rules in a file, and most bytes of it: a file that is far larger is not one of rules.
const MAX_RULES: usize = 1000;
const MAX_BYTES: usize = 4 << 20;

/// Where the questions of rules are in the library of SQL.
const AREA: &str = "rules";

/// What a file of rules looks like.
const HINT: &str = "a rule is SQL below lines such as \"-- rule: NAME\", \"-- title: …\" and \"-- sentence: {culprit} …\"; \
                    `etwkit diagnose --explain filter-scan` prints one";

/// Values of a finding that no rule has to select.
const ADDED: [&str; 4] = ["victim", "pid", "process", "total"];

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name: small letters and dashes.
    pub name: String,
    /// What it finds, in a few words.
    pub title: String,
    /// Cards of the rule book that it implements.
    pub cards: String,
    /// Whether its rows are only good to know; otherwise each costs a process time.
    pub is_note: bool,
    /// Whether a cause that another rule finds may be behind it: then it points to that finding.
    pub is_symptom: bool,
    /// Other rules that may find the cause behind it, although it may itself be the cause of a symptom.
    pub symptom_of: Vec<String>,
    /// What is said about a row, with `{column}` for its values.
    pub sentence: String,
    /// Why this happens.
    pub why: String,
    /// What to do about it.
    pub fix: String,
    /// What a finding does not prove.
    pub not_proved: String,
    /// How sure a finding is, and why.
    pub confidence: String,
    /// Tables and topics that have to be recorded.
    pub needs: Vec<String>,
    /// Tables and topics without which its silence proves nothing, although it can find something.
    pub needs_to_exclude: Vec<String>,
    /// Modules whose functions have to have names; without them its silence proves nothing.
    pub names: Vec<String>,
    /// Modules that it looks for by their own names; in a trace without real names its silence
    /// proves nothing.
    pub modules: Vec<String>,
    /// Command lines that show the rows behind it.
    pub evidence: Vec<EvidenceLine>,
    /// What these command lines show, where it is not just the number of a finding.
    pub shows: String,
    /// Views of the page that show these rows, with what narrows them: `flame --weight wait --process {pid}`. The
    /// first one whose columns a row has is used.
    pub spots: Vec<String>,
    /// The columns `culprit`, `process_key`, `from_ns` and `to_ns` of its pieces, and the part of its SQL that
    /// has them.
    pieces: String,
    query: Query,
    text: String,
}

/// What the header of a rule says, by keys.
#[derive(Debug, Default)]
struct Header {
    lines: Vec<(String, String)>,
}

impl Header {
    /// Reads the comments above the SQL: `-- key: value`, and `--   more` that continues the value.
    fn read(text: &str) -> Self {
        let mut header = Self::default();
        for line in text.lines() {
            // The first other line ends the header, so comments inside the SQL are no keys.
            let Some(comment) = line.strip_prefix("--") else {
                break;
            };
            // Three blanks continue a value: long texts do not fit into one line.
            match (comment.strip_prefix("   "), header.lines.last_mut()) {
                (Some(more), Some((_, value))) => {
                    value.push(' ');
                    value.push_str(more.trim());
                }
                _ => {
                    // A comment without a key is the title, as in other files of SQL.
                    let (key, value) = comment.split_once(": ").unwrap_or(("title", comment));
                    header
                        .lines
                        .push((key.trim().to_owned(), value.trim().to_owned()));
                }
            }
        }
        header
    }

    fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    fn one(&self, key: &str) -> String {
        self.all(key).next().unwrap_or("").to_owned()
    }
}

impl Rule {
    /// A rule of that name; `None` if its header lacks the sentence or the title.
    pub(super) fn read(name: &str, text: &str) -> Option<Self> {
        let header = Header::read(text);
        let (title, sentence) = (header.one("title"), header.one("sentence"));
        // Neither can be made up; everything else may be missing.
        if title.is_empty() || sentence.is_empty() {
            return None;
        }
        let list = |key: &str| -> Vec<String> {
            header
                .all(key)
                .flat_map(|value| value.split(','))
                .map(|word| word.trim().to_owned())
                .collect()
        };
        Some(Self {
            name: name.to_owned(),
            title,
            cards: header.one("card"),
            is_note: header.one("severity") == "note",
            is_symptom: header.one("symptom") == "yes",
            symptom_of: list("symptom of"),
            sentence,
            why: header.one("why"),
            fix: header.one("fix"),
            not_proved: header.one("not proved"),
            confidence: header.one("confidence"),
            needs: list("needs"),
            needs_to_exclude: list("needs to exclude"),
            names: list("names"),
            modules: list("modules"),
            evidence: header
                .lines
                .iter()
                .filter_map(|(key, value)| EvidenceLine::read(key, value))
                .collect(),
            shows: header.one("shows"),
            spots: header.all("spot").map(str::to_owned).collect(),
            pieces: header.one("pieces"),
            // A rule of a user has no place in the library; one of the program gets it below.
            query: Query::own(Cow::<str>::Owned(name.to_owned()), text.to_owned()),
            text: text.to_owned(),
        })
    }

    /// This rule as one of the program: its question has a place in the library of SQL.
    pub(super) fn in_library(self, text: &'static str) -> Self {
        self.in_area(AREA, text)
    }

    /// This rule as one of the program, in an area of the library.
    pub(super) fn in_area(self, area: &str, text: &'static str) -> Self {
        let query = Query::of_program(format!("{area}/{}", self.name), text);
        Self { query, ..self }
    }

    /// The question that finds its rows.
    #[must_use]
    pub const fn query(&self) -> &Query {
        &self.query
    }

    /// The question for each piece of what it finds; `None` if its header does not say where they are.
    pub(super) fn pieces(&self) -> Option<Query> {
        if self.pieces.is_empty() {
            return None;
        }
        // What a rule is asked for stands at the end, after the parts that it names.
        // The rule's own parts stay, so that pieces are of the same rows.
        let (parts, _) = self.text.rsplit_once("\nSELECT ")?;
        let text = format!("{parts}\nSELECT {}", self.pieces);
        Some(Query::own(Cow::<str>::Owned(self.name.clone()), text))
    }

    /// Returns the first word of its spots that means nothing, with its line and its character in
    /// the text of the rule, both from 1.
    pub(super) fn wrong_spot(&self) -> Option<(WrongWord, usize, usize)> {
        let (number, wrong) = self.spots.iter().enumerate().find_map(|(number, spot)| {
            let wrong = Spot::read(spot).err();
            Some((number, wrong.or_else(|| self.unknown_column(spot))?))
        })?;
        let (line, character) = self.place_in_spot(number, &wrong.word);
        Some((wrong, line, character))
    }

    /// Returns the first column in a line that the SQL does not have.
    fn unknown_column(&self, line: &str) -> Option<WrongWord> {
        let sql: Vec<String> = self
            .text
            .lines()
            .filter(|line| !line.starts_with("--"))
            .map(str::to_ascii_lowercase)
            .collect();
        let sql = format!("\n{}", sql.join("\n"));
        let (_, last) = sql.rsplit_once("\nselect").unwrap_or(("", sql.as_str()));
        // The columns of a table are not in the text.
        let first = last.trim_start();
        let first = first.strip_prefix("distinct").unwrap_or(first).trim_start();
        if first.starts_with('*') || last.contains("select *") || last.contains(".*") {
            return None;
        }
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words: Vec<&str> = sql.split(|letter: char| !is_of_name(letter)).collect();
        let is_known = |name: &str| {
            let (name, long) = (name.to_ascii_lowercase(), format!("{name}_ns"));
            ADDED.contains(&&*name) || words.iter().any(|word| *word == name || *word == long)
        };
        let unknown = names(line).find(|name| !is_known(name))?;
        Some(WrongWord {
            word: unknown.to_owned(),
            expected: "a column of the rule".to_owned(),
        })
    }

    /// Returns the line and the character of a word of a spot, both from 1: those of the spot where
    /// the word is missing.
    fn place_in_spot(&self, number: usize, word: &str) -> (usize, usize) {
        let spots = self.text.lines().enumerate();
        let mut spots = spots.filter(|(_, line)| line.starts_with("-- spot:"));
        let start = spots.nth(number).map_or(0, |(at, _)| at);
        // Its value can go on in further lines.
        let lines = self.text.lines().enumerate().skip(start);
        let mut comments = lines.take_while(|(_, line)| line.starts_with("--"));
        let found = comments.find_map(|(at, line)| {
            let from = if at == start { "-- spot:".len() } else { 0 };
            let (_, rest) = line.split_at_checked(from)?;
            let before = rest.find(word).filter(|_| !word.is_empty())?;
            let characters = line.get(..from + before)?.chars().count();
            Some((at + 1, characters + 1))
        });
        found.unwrap_or((start + 1, 1))
    }

    /// Returns `true` if another rule may find the cause behind it.
    pub(super) fn has_causes(&self) -> bool {
        self.is_symptom || !self.symptom_of.is_empty()
    }

    /// Returns `true` if that rule may find the cause behind it.
    pub(super) fn may_be_due_to(&self, cause: &Self) -> bool {
        // A symptom is not the cause of another symptom, or two could explain each other.
        let is_any = self.is_symptom && !cause.is_symptom;
        is_any || self.symptom_of.contains(&cause.name)
    }

    /// Its thresholds, each with its reason.
    pub fn thresholds(&self) -> impl Iterator<Item = Param<'_>> {
        self.query.params()
    }

    /// The file as it is: header and SQL.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Rules of a file: each begins with a line `-- rule: NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is not text, has no rule or too many, or a rule lacks its title or sentence.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let wrong = |line: usize, expected: &str, found: &str| {
            FileError::at_line(file, line, expected, found, HINT)
        };
        // Before it is split: the parts of a huge file would take far more than its bytes.
        if bytes.len() > MAX_BYTES {
            return Err(wrong(1, "at most 4 MiB", &format!("{} bytes", bytes.len())));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|_| wrong(1, "text in UTF-8", "other bytes"))?;
        let mut rules: Vec<Rule> = Vec::new();
        for (line, name, body) in parts(text) {
            // Names are words of `--rule` and `--fail-on`, where other letters have a meaning.
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || !name.chars().all(is_word) {
                return Err(wrong(
                    line,
                    "a name of small letters, digits and dashes",
                    name,
                ));
            }
            // `--rule` could not tell them apart.
            if rules.iter().any(|rule| rule.name == name) {
                return Err(wrong(
                    line,
                    "a name that no other rule of the file has",
                    name,
                ));
            }
            let rule = Rule::read(name, &body).ok_or_else(|| {
                wrong(
                    line,
                    "a line \"-- title: …\" and a line \"-- sentence: …\"",
                    "none",
                )
            })?;
            // The name of the rule is in the line before its text.
            if let Some((wrong, at, character)) = rule.wrong_spot() {
                let place = (file, line + at, character);
                return Err(FileError::at_place(
                    place,
                    &wrong.expected,
                    wrong.found(),
                    HINT,
                ));
            }
            rules.push(rule);
            if rules.len() > MAX_RULES {
                return Err(wrong(line, "at most 1000 rules", "more"));
            }
        }
        if rules.is_empty() {
            return Err(wrong(1, "a line \"-- rule: NAME\"", "none"));
        }
        Ok(Self(rules))
    }
}

/// The rules in a text: line, name, and what stands below. What precedes the first rule is a comment of the
/// file.
fn parts(text: &str) -> Vec<(usize, &str, String)> {
    let mut parts: Vec<(usize, &str, String)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        match (line.strip_prefix("-- rule:"), parts.last_mut()) {
            (Some(name), _) => parts.push((number, name.trim(), String::new())),
            (None, Some((_, _, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
-- what our team knows
-- rule: slow-share
-- title: The share is slow
-- severity: note
-- sentence: {culprit} took {total}
--   for {victim}
-- symptom of: slow-disk, busy-disk
-- needs: file_io, stacks
-- names: mup.sys, user32.dll or win32k*.sys
-- modules: fltmgr.sys
-- evidence: dump file
-- evidence of dns_query: dump dns --process {pid}
-- shows: all files of {culprit}
-- param min_ms: float = 5 – nobody sees less
SELECT 1
-- rule: other
-- title: Other
-- sentence: {culprit}
SELECT 2
";

    #[test]
    fn a_file_has_rules_with_headers() {
        let rules = Rules::parse("team.sql", TEXT.as_bytes()).unwrap().0;
        let [share, other] = rules.as_slice() else {
            panic!("{rules:?}")
        };
        assert_eq!(
            (share.name.as_str(), share.title.as_str()),
            ("slow-share", "The share is slow")
        );
        assert_eq!(share.sentence, "{culprit} took {total} for {victim}");
        assert_eq!(share.symptom_of, ["slow-disk", "busy-disk"]);
        assert!(!share.is_symptom && share.has_causes() && !other.has_causes());
        assert_eq!(share.needs, ["file_io", "stacks"]);
        assert_eq!(share.names, ["mup.sys", "user32.dll or win32k*.sys"]);
        assert_eq!(share.modules, ["fltmgr.sys"]);
        assert_eq!(share.shows, "all files of {culprit}");
        let evidence: Vec<(&str, Option<&str>)> = share
            .evidence
            .iter()
            .map(|one| (one.template.as_str(), one.table.as_deref()))
            .collect();
        assert_eq!(
            evidence,
            [
                ("dump file", None),
                ("dump dns --process {pid}", Some("dns_query"))
            ]
        );
        assert!(share.is_note && !other.is_note);
        assert_eq!(
            share
                .thresholds()
                .map(|param| param.doc)
                .collect::<Vec<_>>(),
            ["nobody sees less"]
        );
        assert!(other.text().ends_with("SELECT 2\n"));
    }

    #[test]
    fn what_a_spot_does_not_have_is_said_with_its_place() {
        let error = |spot: &str| {
            let text = format!(
                "-- rule: a\n-- title: x\n-- sentence: y\n-- spot: dns --process {{pid}}\n{spot}\n\
                 SELECT host AS culprit, 1 AS cost_ns\n"
            );
            let read = Rules::parse("t.sql", text.as_bytes());
            read.map_or_else(|error| error.to_string(), |_| String::new())
        };
        assert_eq!(error("-- spot: ask dns --query {culprit}"), "");
        assert_eq!(error("-- spot: dns --name {cost}"), "");
        for (spot, expected) in [
            (
                "-- spot: dsn",
                "t.sql:5:10: expected a view of the page, such as flame, disk or gc, found dsn",
            ),
            (
                "-- spot: dns --process {pid}\n--   --nam {culprit}",
                "t.sql:6:6: expected a filter of dns, found --nam",
            ),
            (
                "-- spot: ask dns --query {host_name}",
                "t.sql:5:27: expected a column of the rule, found host_name",
            ),
            (
                "-- spot: dns --process",
                "t.sql:5:1: expected a value after --process, found none",
            ),
        ] {
            assert_eq!(error(spot), expected, "{spot}");
        }
    }

    #[test]
    fn a_spot_may_name_columns_of_a_table_that_the_text_does_not_have() {
        for select in [
            "SELECT * FROM dns_query",
            "SELECT DISTINCT * FROM dns_query",
            "SELECT DISTINCT\n  *\nFROM dns_query",
            "SELECT q.* FROM dns_query q",
            "WITH q AS (SELECT 1 AS x)\n  SELECT * FROM dns_query",
        ] {
            let text = format!("-- A\n-- sentence: y\n-- spot: dns --name {{name}}\n{select}\n");
            let rule = Rule::read("a", &text).unwrap();
            assert_eq!(rule.wrong_spot(), None, "{select}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let error = |text: &str| {
            Rules::parse("t.sql", text.as_bytes())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("SELECT 1"),
            "t.sql:1:1: expected a line \"-- rule: NAME\", found none"
        );
        assert!(
            error("\n-- rule: A b\n").starts_with("t.sql:2:1: expected a name of small letters")
        );
        assert!(error("-- rule: a\nSELECT 1").contains("-- sentence"));
        let twice = format!("{TEXT}-- rule: other\n-- title: x\n-- sentence: y\n");
        assert!(error(&twice).starts_with("t.sql:20:1: expected a name that no other"));
        assert!(Rules::parse("t.sql", &[0xFF]).is_err());
    }
}
