//! Values for the parameters `$name` of a statement.
//!
//! A value is given as text. Its type is the stated one, on the command line (`from:int=5`) or in
//! the declaration of a question of the library; otherwise the type that the statement compares it
//! with; otherwise the type that the text looks like. Values are bound as literals of that type,
//! never pasted into the text.

use std::collections::BTreeSet;
use std::str::FromStr;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::LogicalPlan;

use crate::{Error, Result, error};

/// Names of the types that can be declared.
const TYPES: [(&str, DataType); 4] = [
    ("text", DataType::Utf8),
    ("int", DataType::Int64),
    ("float", DataType::Float64),
    ("bool", DataType::Boolean),
];

/// A value for a parameter, as a user gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Name; `$name` in the SQL.
    pub name: String,
    /// Type, if the user gives one.
    pub kind: Option<DataType>,
    /// Value.
    pub text: String,
}

impl Parameter {
    /// Creates a value without a type.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: None,
            text: text.to_owned(),
        }
    }
}

/// Parses `NAME=VALUE` or `NAME:TYPE=VALUE`.
impl FromStr for Parameter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |expected: &str, found: &str| Error::Parameter {
            question: String::new(),
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| wrong("--param NAME=VALUE or NAME:TYPE=VALUE", text))?;
        let (name, kind) = match name.split_once(':') {
            Some((name, word)) => {
                let kind = kind(word)
                    .ok_or_else(|| wrong("one of the types text, int, float, bool", word))?;
                (name, Some(kind))
            }
            None => (name, None),
        };
        let name = name.trim_start_matches('$');
        Ok(Self {
            kind,
            ..Self::new(name, value)
        })
    }
}

/// Returns the type of that name.
pub(crate) fn kind(word: &str) -> Option<DataType> {
    TYPES
        .into_iter()
        .find(|(name, _)| *name == word)
        .map(|(_, kind)| kind)
}

/// Returns a type in the words of an error: `a number`.
pub(crate) fn type_in_words(kind: &DataType) -> String {
    match kind {
        DataType::Boolean => "true or false".to_owned(),
        DataType::Dictionary(_, value) => type_in_words(value),
        kind if kind.is_string() => "text".to_owned(),
        DataType::Int32 => "an integer of 32 bits".to_owned(),
        kind if kind.is_integer() => "an integer".to_owned(),
        kind if kind.is_numeric() => "a number".to_owned(),
        kind => kind.to_string(),
    }
}

/// Converts a text to a value of a type; to a number or boolean, if no type is known and it looks
/// like one.
pub(crate) fn value(text: &str, kind: Option<&DataType>) -> Option<ScalarValue> {
    match kind {
        Some(kind) if kind.is_string() => Some(ScalarValue::Utf8(Some(text.to_owned()))),
        Some(kind) => ScalarValue::try_from_string(text.to_owned(), kind).ok(),
        // A text that looks like a whole number is one, before it could be one with a fraction:
        // comparing keys with floating point loses digits.
        None => Some(
            match (
                text.parse::<i64>(),
                text.parse::<f64>(),
                text.parse::<bool>(),
            ) {
                (Ok(number), ..) => number.into(),
                // Rust parses words such as `inf` and `nan` as numbers; here they are texts.
                (_, Ok(number), _) if number.is_finite() => number.into(),
                (.., Ok(truth)) => truth.into(),
                _ => text.into(),
            },
        ),
    }
}

/// Values for a statement.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Name of the question of the library, for messages; empty for SQL of the user.
    pub(crate) question: String,
    /// Values with a type.
    pub(crate) typed: Vec<(String, ScalarValue)>,
    /// Values whose types follow from the statement.
    pub(crate) open: Vec<Parameter>,
}

impl Values {
    /// Inserts them into a plan, which has to name the open ones, and no others.
    ///
    /// # Errors
    /// A value that the plan does not name or whose type does not fit; a name without a value.
    pub(crate) fn bind(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let failed = |e| error::from_planning(&e);
        let types = plan.get_parameter_types().map_err(failed)?;
        let named: BTreeSet<&str> = types
            .keys()
            .map(|name| name.trim_start_matches('$'))
            .collect();
        let is_named = |name: &str| named.contains(name);
        let mut bound: Vec<(String, ScalarValue)> = self
            .typed
            .iter()
            .filter(|(name, _)| is_named(name))
            .cloned()
            .collect();
        for Parameter { name, kind, text } in &self.open {
            if !is_named(name) {
                let names: Vec<String> = named.iter().map(|name| format!("${name}")).collect();
                let expected = if names.is_empty() {
                    "no parameter".to_owned()
                } else {
                    names.join(", ")
                };
                return Err(Error::Parameter {
                    question: self.question.clone(),
                    expected,
                    found: name.clone(),
                });
            }
            let planned = types.get(&format!("${name}")).and_then(Option::as_ref);
            let kind = kind.as_ref().or(planned);
            let Some(value) = value(text, kind) else {
                let kind = kind.map_or_else(String::new, type_in_words);
                return Err(Error::Parameter {
                    question: self.question.clone(),
                    expected: format!("{name} as {kind}"),
                    found: text.clone(),
                });
            };
            bound.push((name.clone(), value));
        }
        if let Some(missing) = named
            .iter()
            .find(|name| bound.iter().all(|(known, _)| known != *name))
        {
            return Err(Error::Sql {
                message: format!("the parameter ${missing} has no value"),
                position: None,
                hint: Some(format!(
                    "`--param {missing}=VALUE` gives it one; a literal $ has to be in quotes"
                )),
            });
        }
        if bound.is_empty() {
            Ok(plan)
        } else {
            plan.with_param_values(bound).map_err(failed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_type_that_is_said_or_that_they_look_like() {
        for (written, expected) in [
            ("a=5", ScalarValue::from(5_i64)),
            ("a=-0.5", ScalarValue::from(-0.5)),
            ("a=true", ScalarValue::from(true)),
            ("a=inf", ScalarValue::from("inf")),
            ("a=", ScalarValue::from("")),
            ("a=b=c", ScalarValue::from("b=c")),
            ("a:text=5", ScalarValue::from("5")),
            ("$a:float=5", ScalarValue::from(5.0)),
            ("a:int=5", ScalarValue::from(5_i64)),
            ("a:bool=false", ScalarValue::from(false)),
        ] {
            let parameter: Parameter = written.parse().unwrap();
            assert_eq!(parameter.name, "a");
            assert_eq!(
                value(&parameter.text, parameter.kind.as_ref()),
                Some(expected),
                "{written}"
            );
        }
        assert_eq!(value("x", Some(&DataType::Int32)), None);
        for (written, message) in [
            (
                "a",
                "expected --param NAME=VALUE or NAME:TYPE=VALUE, found \"a\"",
            ),
            (
                "a:uint=5",
                "expected one of the types text, int, float, bool, found \"uint\"",
            ),
        ] {
            assert_eq!(
                written.parse::<Parameter>().unwrap_err().to_string(),
                message
            );
        }
    }
}
