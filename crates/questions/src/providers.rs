//! Lists of providers and their events.

use etwkit_sql::literal::quoted;

/// `p1:ev1,ev2;p2:7;!p3`: providers by name or GUID, each with events by name (a part of it, or a
/// pattern) or id. `!` before a provider or event excludes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Providers(Vec<Provider>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Provider {
    excludes: bool,
    pattern: String,
    events: Vec<(bool, String)>,
}

fn negated(part: &str) -> (bool, &str) {
    part.strip_prefix('!')
        .map_or((false, part), |rest| (true, rest.trim()))
}

impl Providers {
    /// Reads the list; every text is valid.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let parts = text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let provider = |part| {
            let (excludes, rest) = negated(part);
            let (pattern, events) = rest.split_once(':').unwrap_or((rest, ""));
            let events = events
                .split(',')
                .map(str::trim)
                .map(negated)
                .filter(|(_, event)| !event.is_empty());
            // GUIDs are often written in braces; tables have them without.
            let pattern = pattern.trim().trim_matches(['{', '}']);
            Provider {
                excludes,
                pattern: if pattern.is_empty() { "*" } else { pattern }.to_owned(),
                events: events
                    .map(|(excludes, event)| (excludes, event.to_owned()))
                    .collect(),
            }
        };
        Self(parts.map(provider).collect())
    }

    /// Returns `true` if the filter names events of a provider.
    #[must_use]
    pub fn names_events(&self) -> bool {
        self.0
            .iter()
            .any(|provider| !provider.excludes && !provider.events.is_empty())
    }

    pub(super) fn condition(&self) -> Option<String> {
        let of = |excludes: bool| {
            let fitting = self
                .0
                .iter()
                .filter(|provider| provider.excludes == excludes);
            fitting
                .map(|provider| format!("({})", provider.condition()))
                .collect::<Vec<_>>()
                .join(" OR ")
        };
        match (of(false), of(true)) {
            (some, none) if some.is_empty() && none.is_empty() => None,
            (some, none) if none.is_empty() => Some(format!("({some})")),
            (some, none) if some.is_empty() => Some(format!("NOT ({none})")),
            (some, none) => Some(format!("({some})\n  AND NOT ({none})")),
        }
    }
}

impl Provider {
    fn condition(&self) -> String {
        let pattern = quoted(&self.pattern);
        let mut all = vec![format!(
            "(wildcard_match(e.provider, {pattern}) OR wildcard_match(e.provider_guid, {pattern}))"
        )];
        let events = |excludes: bool| {
            let fitting = self.events.iter().filter(|(is, _)| *is == excludes);
            fitting
                .map(|(_, event)| event_condition(event))
                .collect::<Vec<_>>()
                .join(" OR ")
        };
        let some = events(false);
        let none = events(true);
        all.extend(Some(format!("({some})")).filter(|_| !some.is_empty()));
        all.extend(Some(format!("NOT ({none})")).filter(|_| !none.is_empty()));
        all.join(" AND ")
    }
}

fn event_condition(event: &str) -> String {
    // Event ids have 16 bits: a larger number is a part of a name.
    if let Ok(id) = event.parse::<u16>() {
        return format!("e.event_id = {id}");
    }
    let pattern = if event.contains(['*', '?']) {
        event.to_owned()
    } else {
        format!("*{event}*")
    };
    format!("wildcard_match(e.name, {})", quoted(&pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_providers_become_conditions() {
        let provider = |pattern: &str| {
            format!(
                "(wildcard_match(e.provider, '{pattern}') OR wildcard_match(e.provider_guid, '{pattern}'))"
            )
        };
        for (text, condition) in [
            ("", None),
            ("p", Some(format!("(({}))", provider("p")))),
            (
                "{ab-cd}:7",
                Some(format!("(({} AND (e.event_id = 7)))", provider("ab-cd"))),
            ),
            (
                "p:a,b*,!c",
                Some(format!(
                    "(({} AND (wildcard_match(e.name, '*a*') OR wildcard_match(e.name, 'b*')) AND NOT (wildcard_match(e.name, '*c*'))))",
                    provider("p")
                )),
            ),
            (" !q ", Some(format!("NOT (({}))", provider("q")))),
            (
                "p;!q:1",
                Some(format!(
                    "(({}))\n  AND NOT (({} AND (e.event_id = 1)))",
                    provider("p"),
                    provider("q")
                )),
            ),
            (
                ":x'y",
                Some(format!(
                    "(({} AND (wildcard_match(e.name, '*x''y*'))))",
                    provider("*")
                )),
            ),
        ] {
            assert_eq!(Providers::parse(text).condition(), condition, "{text:?}");
        }
        assert!(
            Providers::parse("p;q:1").names_events() && !Providers::parse("p;!q:1").names_events()
        );
    }
}
