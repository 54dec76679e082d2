//! Selection of events.

use anyhow::bail;
use etwkit_extract::Input;
use etwkit_sql::filter::Pattern;
use etwkit_trace::report::events::{EventFilter, NameFilter, ProviderFilter};

use crate::cli::EventsArgs;
use crate::time_range::TimeRange;

/// A list of patterns: `;` separates them, `*` and `?` are wildcards, and a leading `!` excludes
/// matches.
///
/// Without a positive pattern everything matches that no negative one excludes. Case does not
/// matter.
#[derive(Debug, Clone, Default)]
struct Patterns {
    positive: Vec<Pattern>,
    negative: Vec<Pattern>,
}

impl Patterns {
    fn parse(text: &str) -> Self {
        let mut patterns = Self::default();
        for part in text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (list, part) = match part.strip_prefix('!') {
                Some(rest) => (&mut patterns.negative, rest),
                None => (&mut patterns.positive, part),
            };
            list.push(Pattern::new(part));
        }
        patterns
    }

    /// True if any of the texts for one thing (such as a name and a number) matches.
    fn match_any(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|t| t.to_lowercase()).collect();
        let any =
            |patterns: &[Pattern]| patterns.iter().any(|p| texts.iter().any(|t| p.matches(t)));
        (self.positive.is_empty() || any(&self.positive)) && !any(&self.negative)
    }
}

/// Returns the filter of the arguments, checked against a trace.
pub(super) fn of(args: &EventsArgs, input: &Input) -> anyhow::Result<EventFilter<'static>> {
    for (option, text) in [
        ("provider", &args.provider),
        ("name", &args.name),
        ("process", &args.process),
    ] {
        if text
            .as_deref()
            .is_some_and(|text| text.split(';').all(|part| part.trim().is_empty()))
        {
            // An empty variable of a script must not turn a question into the whole trace.
            bail!(
                "--{option} {:?}: expected a name",
                text.as_deref().unwrap_or("")
            );
        }
    }
    Ok(EventFilter {
        provider: args
            .provider
            .as_deref()
            .map(|text| ProviderFilter::new(text, wanted(text))),
        name: args.name.as_deref().map(wanted),
        process: args.process.as_deref().map(wanted),
        range: TimeRange::parse(args.range.as_deref())?.of(input)?,
        limit: args.limit,
    })
}

pub(in crate::commands) fn wanted(text: &str) -> NameFilter<'static> {
    let patterns = Patterns::parse(text);
    Box::new(move |texts| patterns.match_any(texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &str, text: &str) -> bool {
        Patterns::parse(patterns).match_any(&[text])
    }

    #[test]
    fn patterns_are_lists_with_wildcards_and_exclusions() {
        assert!(check("cmd*;explorer", "CMD.exe") && check("*", "") && check("", "x"));
        assert!(check("?md.exe", "cmd.exe") && !check("?md", "cmd.exe"));
        assert!(check("!cmd*", "explorer.exe") && !check("!cmd*", "cmd.exe"));
        assert!(!check("*.exe;!cmd*", "cmd.exe") && check("*.exe;!cmd*", "a.exe"));
        assert!(check("a*b*c", "a1b2b3c") && !check("a*b*c", "a1c2b"));
    }

    #[test]
    fn a_process_is_meant_by_name_or_number() {
        assert!(Patterns::parse("4").match_any(&["System", "4"]));
    }
}
