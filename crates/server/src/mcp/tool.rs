//! A tool: its name, sentence, schema, and function.

use std::time::Duration;

use etwkit_question::{AnyQuestion, Group, OptionKind, Values, request_schema};
use rmcp::model::{Tool as Listed, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::mcp::arguments::Arguments;
use crate::mcp::problem::{Problem, Result};
use crate::mcp::shared::Call;

/// Answer of a call: values by name.
pub(crate) type Answer = Map<String, Value>;

/// Answers a call of a tool.
pub(crate) type Work = fn(&Call<'_>, Arguments<'_>, &Tool) -> Result<Answer>;

/// A tool.
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// Its purpose, for an agent that chooses among tools.
    pub(crate) sentence: String,
    /// Schemas of its arguments, by name.
    pub(crate) arguments: Values,
    /// Names of the required arguments.
    pub(crate) required: &'static [&'static str],
    /// The longest time that it may take.
    pub(crate) most: Duration,
    /// True if it writes files outside of the cache.
    pub(crate) writes: bool,
    /// The declared question that it runs, if it is one.
    pub(crate) question: Option<&'static dyn AnyQuestion>,
    /// The function that answers it.
    pub(crate) work: Work,
}

impl Tool {
    /// Answers a call.
    pub(crate) fn answer(&self, call: &Call<'_>, given: &Values) -> Result<Answer> {
        let given = Arguments(given);
        given.check(&self.arguments)?;
        for name in self.required {
            given.required(name)?;
        }
        (self.work)(call, given, self)
    }

    /// Returns the question that it runs.
    pub(crate) fn question(&self) -> Result<&'static dyn AnyQuestion> {
        self.question
            .ok_or_else(|| Problem::failed(format!("{} asks no question", self.name)))
    }

    /// As it is listed.
    pub(crate) fn listed(&self) -> Listed {
        let schema = json!({
            "type": "object",
            "properties": self.arguments,
            "required": self.required,
            "additionalProperties": false,
        });
        let schema = match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        // No tool changes a trace, and every file that a tool writes can be reproduced.
        let says = ToolAnnotations::new()
            .read_only(!self.writes)
            .destructive(false)
            .open_world(false);
        Listed::new(self.name.clone(), self.sentence.clone(), schema).with_annotations(says)
    }
}

/// Returns the arguments of a declared question: its options without the ones that only change the
/// printed text and the ones that name files. An option that excludes others selects the kind of
/// rows, which also matters to programs.
pub(crate) fn options_of(question: &dyn AnyQuestion) -> Values {
    let options = question.options();
    let is_useful = |name: &str| {
        options.iter().any(|option| {
            let changes_rows = option.group != Group::Output || !option.excludes.is_empty();
            option.name == name && changes_rows && option.kind != OptionKind::Files
        })
    };
    let mut schema = request_schema(question);
    let properties = schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .map(std::mem::take);
    properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_useful(name))
        .collect()
}
