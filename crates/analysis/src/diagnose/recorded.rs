//! Whether a trace has what a rule needs.

use std::collections::HashMap;

use etwkit_query::dump::ask;
use etwkit_query::{Session, tables};

use super::rule::Rule;
use crate::Result;

etwkit_query::declare! {
    row TopicRow {
        topic: String = "Topic.",
        is_recorded: bool = "Whether it was recorded.",
        tables: String = "Its tables, with `;` between them.",
        recorded_by: Option<String> = "What records it.",
    }
}

/// A word for two topics that rules need together.
const SAMPLES_WITH_STACKS: &str = "samples with stacks";

/// What a trace recorded.
pub(super) struct Recorded {
    /// Topics by their names and by the names of their tables.
    topics: HashMap<String, Vec<TopicRow>>,
}

impl Recorded {
    pub(super) fn of(session: &Session) -> Result<Self> {
        let sql = "SELECT topic, is_recorded, tables, recorded_by FROM topic";
        let mut topics: HashMap<String, Vec<TopicRow>> = HashMap::new();
        for row in ask::<TopicRow>(session, sql)? {
            let names: Vec<String> = row
                .tables
                .split(';')
                .chain([row.topic.as_str()])
                .map(str::to_owned)
                .collect();
            for name in names {
                topics.entry(name).or_default().push(row.clone());
            }
        }
        Ok(Self { topics })
    }

    /// What a rule needs and the extract does not have, and how to record it; `None` if nothing is missing.
    pub(super) fn missing(&self, session: &Session, rule: &Rule) -> Option<String> {
        rule.needs.iter().find_map(|need| self.lacks(session, need))
    }

    fn lacks(&self, session: &Session, need: &str) -> Option<String> {
        if need == SAMPLES_WITH_STACKS {
            return ["CPU samples", "stacks"]
                .into_iter()
                .find_map(|need| self.lacks(session, need));
        }
        // The first alternative is the one that is named as missing, since rules list the better one first.
        if let Some((one, other)) = need.split_once(" or ") {
            return self
                .lacks(session, one)
                .filter(|_| self.lacks(session, other).is_some());
        }
        // One recorded topic of several that fill a table is enough. What no topic mentions passes here, and
        // is looked up among the tables below.
        let topics = self.topics.get(need).map_or(&[][..], Vec::as_slice);
        if let Some(first) = topics
            .first()
            .filter(|_| topics.iter().all(|topic| !topic.is_recorded))
        {
            let how = first.recorded_by.as_deref().filter(|how| !how.is_empty());
            return Some(how.map_or_else(
                || first.topic.clone(),
                |how| format!("{} ({how})", first.topic),
            ));
        }
        let is_table = || tables().any(|table| table.name == need);
        if topics.is_empty() && !is_table() {
            return Some(format!("topic or table that is called {need}"));
        }
        // A summary keeps sums and leaves out the rows.
        session
            .leaves_out(need)
            .then(|| format!("single rows of {need}, which a summary does not keep"))
    }
}
