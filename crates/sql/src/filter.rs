//! Filters on text and on processes, as every option and every SQL function of the tool understands
//! them.
//!
//! A filter is a list of patterns with `;` between them. `*` matches any number of characters and
//! `?` exactly one; a pattern covers the whole text, and case does not matter. A text passes if one
//! pattern matches (or there are only excluding ones) and no pattern after a `!` matches.

/// A pattern with `*` and `?`, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Creates a pattern; its case does not matter.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    /// Returns `true` if it matches the whole of a lowercase text. The time grows with the product
    /// of both lengths.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut pattern = self.0.chars();
        let mut text = text.chars();
        // The position to resume at if the text after the last star does not match.
        let mut retry = None;
        loop {
            let wanted = pattern.next();
            if wanted == Some('*') {
                retry = Some((pattern.clone(), text.clone()));
                // Another star makes the one before final: the text between both stars was found as
                // early as possible, which leaves the most for the rest.
                continue;
            }
            match (wanted, text.next()) {
                // Both ended at the same time.
                (None, None) => return true,
                // Later starts only leave less text.
                (Some(_), None) => return false,
                (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {}
                _ => {
                    let Some((after_star, mut from)) = retry else {
                        return false;
                    };
                    from.next();
                    (pattern, text) = (after_star.clone(), from.clone());
                    // Only the last star is tried again, so the time is not exponential.
                    retry = Some((after_star, from));
                }
            }
        }
    }

    fn is_star(&self) -> bool {
        // Also several stars, which match the same as one.
        !self.0.is_empty() && self.0.bytes().all(|byte| byte == b'*')
    }
}

/// Returns the parts of a filter between its `;`: whether each excludes, and its text.
fn parts(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split(';').map(str::trim).filter_map(|part| {
        let (excludes, part) = part
            .strip_prefix('!')
            .map_or((false, part), |rest| (true, rest.trim()));
        // An empty part is a mistyped separator, and must not match everything.
        (!part.is_empty()).then_some((excludes, part))
    })
}

/// Splits a filter into its positive and its excluding parts, as two filters: for texts of which
/// any of several may match. The second one passes everything that no part excludes.
#[must_use]
pub fn split(text: &str) -> (Option<String>, Option<String>) {
    let joined = |wanted: bool| {
        let mark = if wanted { "!" } else { "" };
        let list = parts(text).filter(|(excludes, _)| *excludes == wanted);
        let list: Vec<String> = list.map(|(_, part)| format!("{mark}{part}")).collect();
        (!list.is_empty()).then(|| list.join(";"))
    };
    (joined(false), joined(true))
}

/// A filter on text.
///
/// A missing text counts as an empty one; the pattern `*` also matches it. In a text of several
/// lines a pattern has to match one of the lines. The empty filter passes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextFilter {
    positive: Vec<Pattern>,
    negative: Vec<Pattern>,
}

impl TextFilter {
    /// Parses a filter; every text is valid.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut filter = Self::default();
        for (excludes, part) in parts(text) {
            let list = if excludes {
                &mut filter.negative
            } else {
                &mut filter.positive
            };
            list.push(Pattern::new(part));
        }
        filter
    }

    /// Returns `true` if the text passes.
    #[must_use]
    pub fn matches(&self, text: Option<&str>) -> bool {
        if self.is_empty() {
            return true;
        }
        // Lower case of a few letters has another length, so both sides are lowered as a whole and
        // not letter by letter.
        let text = text.unwrap_or("").to_lowercase();
        let any = |list: &[Pattern]| list.iter().any(|pattern| matches_a_line(pattern, &text));
        // Exclusions win over everything, whatever the order is.
        (self.positive.is_empty() || any(&self.positive)) && !any(&self.negative)
    }

    /// Returns `true` if it has no pattern, so everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty()
    }
}

fn matches_a_line(pattern: &Pattern, text: &str) -> bool {
    pattern.is_star()
        || pattern.matches(text)
        // Most texts have one line, for which looking at lines would match twice.
        // Lists of values have a line for each, and a filter means one of them.
        || (text.contains('\n') && text.lines().any(|line| pattern.matches(line)))
}

/// A pattern that means processes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProcessPattern {
    Pid(i64),
    /// The text as it is written, or as `name(pid)` if it looks like a process in an answer.
    Name(Pattern, Option<Pattern>),
}

impl ProcessPattern {
    fn new(text: &str) -> Self {
        // A name made of digits alone cannot be given here: ids are far more common than such
        // names.
        // 64 bits, so that unsigned ids fit as well as negative ones.
        if let Ok(pid) = text.parse() {
            return Self::Pid(pid);
        }
        match printed(text) {
            // A process whose name is not known.
            Some(("?", pid)) => pid
                .parse()
                .map_or_else(|_| Self::Name(Pattern::new(text), None), Self::Pid),
            Some((name, pid)) => Self::Name(
                Pattern::new(text),
                Some(Pattern::new(&format!("{name}({pid})"))),
            ),
            None => Self::Name(Pattern::new(text), None),
        }
    }

    fn matches(&self, names: &[String], pid: Option<i32>) -> bool {
        match self {
            // Process ids are unsigned; tables hold their bit pattern.
            Self::Pid(wanted) => pid.is_some_and(|pid| {
                i64::from(pid) == *wanted || i64::from(pid.cast_unsigned()) == *wanted
            }),
            Self::Name(pattern, printed) => {
                let matches = |name: &String| {
                    pattern.matches(name)
                        || printed
                            .as_ref()
                            .is_some_and(|printed| printed.matches(name))
                };
                pattern.is_star() || names.iter().any(matches)
            }
        }
    }
}

/// Splits the name and process id of a process as answers print it: `cmd.exe(1234)`,
/// `cmd.exe (1234)`, with marks for its start and end after it as in `cmd.exe (1234) +-`, with
/// the number of its instance as in `cmd.exe (1234#2)`, or with its arguments as in
/// `cmd.exe(1234) /c build.cmd`.
fn printed(text: &str) -> Option<(&str, &str)> {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '+', '-']);
    text.match_indices('(').find_map(|(at, _)| {
        // The first bracket need not be the one: names have some, too.
        let (name, behind) = text.split_at(at);
        let (number, rest) = behind.strip_prefix('(')?.split_once(')')?;
        let pid = process_id(number)?;
        is_end(rest).then(|| (name.trim_end(), pid))
    })
}

/// Returns the process id of `1234` or of `1234#2`, the second process with this id.
fn process_id(text: &str) -> Option<&str> {
    let (pid, instance) = text.split_once('#').unwrap_or((text, "1"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(pid) && is_number(instance)).then_some(pid)
}

/// A filter on processes: `cmd;1234;!cmd.exe(77)`.
///
/// A number means a process id. Everything else means the name with or without its `.exe`, alone or
/// with the process id after it as in `cmd.exe(1234)`, or as answers print it (`cmd.exe (1234) +`).
/// A process without a name passes by its id, by `*`, and if all patterns are excluding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessFilter {
    positive: Vec<ProcessPattern>,
    negative: Vec<ProcessPattern>,
}

impl ProcessFilter {
    /// Parses a filter; every text is valid.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut filter = Self::default();
        for (excludes, part) in parts(text) {
            let list = if excludes {
                &mut filter.negative
            } else {
                &mut filter.positive
            };
            list.push(ProcessPattern::new(part));
        }
        filter
    }

    /// Returns `true` if the process with this name and id passes.
    #[must_use]
    pub fn matches(&self, name: Option<&str>, pid: Option<i32>) -> bool {
        if self.is_empty() {
            return true;
        }
        let names = name.map_or_else(Vec::new, |name| spellings(name, pid));
        let any = |list: &[ProcessPattern]| list.iter().any(|pattern| pattern.matches(&names, pid));
        (self.positive.is_empty() || any(&self.positive)) && !any(&self.negative)
    }

    /// Returns `true` if it has no pattern, so every process passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty()
    }
}

/// Returns the spellings in lower case: the name and the name without `.exe`, each alone and with
/// the process id.
fn spellings(name: &str, pid: Option<i32>) -> Vec<String> {
    let name = name.to_lowercase();
    let stem = name.strip_suffix(".exe").map(str::to_owned);
    let mut names: Vec<String> = [Some(name), stem].into_iter().flatten().collect();
    if let Some(pid) = pid {
        let with_pid: Vec<String> = names
            .iter()
            .map(|name| format!("{name}({})", pid.cast_unsigned()))
            .collect();
        names.extend(with_pid);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_pass_by_the_rules_of_patterns() {
        let cases: &[(&str, Option<&str>, bool)] = &[
            // Whole text, any case, `*` any number, `?` exactly one.
            ("explorer.exe", Some("Explorer.EXE"), true),
            ("explorer", Some("explorer.exe"), false),
            ("*plor*", Some("explorer.exe"), true),
            ("?md.exe", Some("cmd.exe"), true),
            ("?cmd.exe", Some("cmd.exe"), false),
            ("cmd.exe?", Some("cmd.exe"), false),
            ("a*b*c", Some("a1b2b3c"), true),
            ("a*b*c", Some("a1c2b"), false),
            ("*aab", Some("aaaab"), true),
            ("**", Some("x"), true),
            ("a.c", Some("abc"), false),
            ("a[b", Some("a[b"), true),
            ("stra?e", Some("STRAßE"), true),
            // Lists: empty parts do not count, one positive is enough, no negative may match.
            ("a;b", Some("b"), true),
            (";; b ;", Some("b"), true),
            ("!a", Some("b"), true),
            ("!a", Some("a"), false),
            ("a*;!ab", Some("ac"), true),
            ("a*;!ab", Some("ab"), false),
            ("!;a", Some("a"), true),
            // Missing texts.
            ("", None, true),
            ("*", None, true),
            ("?", None, false),
            ("a", None, false),
            ("!a", None, true),
            ("!*", None, false),
            // Lines.
            ("*second*", Some("first\r\nthe second one\nthird"), true),
            ("first", Some("first\r\nsecond"), true),
            ("irst", Some("first\nsecond"), false),
            ("!second", Some("first\nsecond"), false),
        ];
        for (filter, text, passes) in cases {
            assert_eq!(
                TextFilter::parse(filter).matches(*text),
                *passes,
                "{filter:?} {text:?}"
            );
        }
    }

    #[test]
    fn processes_pass_by_name_or_number() {
        let cases: &[(&str, Option<&str>, Option<i32>, bool)] = &[
            ("1234", Some("cmd.exe"), Some(1234), true),
            ("1234", Some("cmd.exe"), Some(12345), false),
            ("1234", None, Some(1234), true),
            ("4294967292", Some("x"), Some(-4), true),
            ("cmd", Some("Cmd.exe"), Some(7), true),
            ("CMD.EXE", Some("cmd.exe"), None, true),
            ("cmd.exe(1024)", Some("cmd.exe"), Some(1024), true),
            ("cmd(1024)", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe(1024)", Some("cmd.exe"), Some(1025), false),
            ("cmd.exe(1024)", Some("cmd.exe"), None, false),
            ("cmd;!1234", Some("cmd.exe"), Some(1234), false),
            ("cmd;!1234", Some("cmd.exe"), Some(1235), true),
            ("*(12?4)", Some("cmd.exe"), Some(1234), true),
            // In the format of answers.
            ("cmd.exe (1024)", Some("cmd.exe"), Some(1024), true),
            ("cmd (1024)", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe (1024) +-", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe(1024)-", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe (1024#2)", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe (1024)", Some("cmd.exe"), Some(1025), false),
            ("!cmd.exe (1024)", Some("cmd.exe"), Some(1024), false),
            // With the arguments.
            (
                "cmd.exe(1024) /c (a) build.cmd",
                Some("cmd.exe"),
                Some(1024),
                true,
            ),
            ("cmd.exe (1024) +- /c x", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe(1024) - /c x", Some("cmd.exe"), Some(1024), true),
            ("cmd.exe(1024) /c x", Some("cmd.exe"), Some(1025), false),
            ("cmd.exe(1024)x", Some("cmd.exe"), Some(1024), false),
            (
                "svchost Event Log (7)",
                Some("svchost Event Log"),
                Some(7),
                true,
            ),
            ("? (1024)", None, Some(1024), true),
            ("? (1024)", None, Some(1025), false),
            ("copy (2)", Some("copy (2).exe"), Some(9), true),
            ("System", Some("System"), Some(4), true),
            ("system.exe", Some("System"), Some(4), false),
            ("c?d", Some("cmd.exe"), Some(4), true),
            ("", None, None, true),
            ("*", None, None, true),
            ("c*", None, Some(5), false),
            ("!cmd", None, Some(5), true),
        ];
        for (filter, name, pid, passes) in cases {
            assert_eq!(
                ProcessFilter::parse(filter).matches(*name, *pid),
                *passes,
                "{filter:?} {name:?} {pid:?}"
            );
        }
    }

    #[test]
    fn many_stars_on_a_long_text_end_soon() {
        let text = "a".repeat(20_000);
        assert!(!TextFilter::parse("*a*a*a*a*a*a*a*a*b").matches(Some(&text)));
    }
}
