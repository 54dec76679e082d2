//! Which events a question means.

use anyhow::bail;
use etwkit_etl::{Guid, Session};
use etwkit_query::filter::Pattern;

use crate::cli::EventsArgs;
use crate::time_range::TimeRange;

/// A list of patterns: `;` between them, `*` and `?` in them, `!` in front of those that must not match.
///
/// Without a positive pattern everything matches that no negative one excludes. Case does not matter.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    positive: Vec<Pattern>,
    negative: Vec<Pattern>,
}

impl Patterns {
    pub(super) fn parse(text: &str) -> Self {
        let mut patterns = Self::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (list, part) = match part.strip_prefix('!') {
                Some(rest) => (&mut patterns.negative, rest),
                None => (&mut patterns.positive, part),
            };
            list.push(Pattern::new(part));
        }
        patterns
    }

    /// Whether any of the texts that stand for one thing (a name and a number, say) matches.
    pub(super) fn match_any(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|t| t.to_lowercase()).collect();
        let any = |patterns: &[Pattern]| patterns.iter().any(|p| texts.iter().any(|t| p.matches(t)));
        (self.positive.is_empty() || any(&self.positive)) && !any(&self.negative)
    }
}

/// All filters of a question.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub(super) provider: Option<Patterns>,
    provider_guid: Option<Guid>,
    pub(super) name: Option<Patterns>,
    pub(super) process: Option<Patterns>,
    /// Raw ticks of the first and last event that count.
    range: (i64, i64),
}

impl Filter {
    pub(super) fn new(args: &EventsArgs, session: &Session) -> anyhow::Result<Self> {
        for (option, text) in [("provider", &args.provider), ("name", &args.name), ("process", &args.process)]
        {
            if text.as_deref().is_some_and(|text| text.split(';').all(|part| part.trim().is_empty())) {
                // An empty variable of a script must not turn a question into the whole trace.
                bail!("--{option} {:?}: expected a name", text.as_deref().unwrap_or_default());
            }
        }
        let provider_guid = args.provider.as_deref().and_then(|text| text.parse().ok());
        let patterns = |text: &Option<String>| text.as_deref().map(Patterns::parse);
        Ok(Self {
            provider: patterns(&args.provider).filter(|_| provider_guid.is_none()),
            provider_guid,
            name: patterns(&args.name),
            process: patterns(&args.process),
            range: range(args.range.as_deref(), session)?,
        })
    }

    /// Whether anything is filtered at all.
    pub(super) const fn asks(&self) -> bool {
        self.provider.is_some()
            || self.provider_guid.is_some()
            || self.name.is_some()
            || self.process.is_some()
            || self.range.0 != i64::MIN
            || self.range.1 != i64::MAX
    }

    pub(super) const fn includes_time(&self, ticks: i64) -> bool {
        self.range.0 <= ticks && ticks <= self.range.1
    }

    /// Whether no event behind this time can match.
    pub(super) const fn is_over(&self, ticks: i64) -> bool {
        ticks > self.range.1
    }

    pub(super) fn includes_provider(&self, guid: Guid, name: &str) -> bool {
        self.provider_guid.is_none_or(|wanted| wanted == guid)
            && self.provider.as_ref().is_none_or(|patterns| patterns.match_any(&[name]))
    }
}

/// The part of the trace in raw ticks, both ends included.
fn range(text: Option<&str>, session: &Session) -> anyhow::Result<(i64, i64)> {
    let range = TimeRange::parse(text)?.of(session)?;
    let ticks = |ns: i64, open: i64| if ns == open { open } else { session.clock().ticks_at(ns) };
    Ok((ticks(range.start_ns, i64::MIN), ticks(range.end_ns, i64::MAX)))
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
