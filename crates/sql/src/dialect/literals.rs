//! Values in place of the parameters of a statement.

use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::tokenizer::Token;

use super::tokens::Tokens;
use crate::literal::quoted;
use crate::parameters::Values;
use crate::{Error, Result};

/// Replaces each `$name` with the literal of its value.
pub(super) fn insert(sql: &str, values: &Values) -> Result<String> {
    let Some(mut tokens) = Tokens::read(sql) else {
        return Ok(sql.to_owned());
    };
    for at in 0..tokens.len() {
        let Some(Token::Placeholder(name)) = tokens.get(at) else {
            continue;
        };
        let name = name.trim_start_matches('$');
        let value = values.typed.iter().find(|(known, _)| known == name);
        let Some(literal) = value.and_then(|(_, value)| literal(value)) else {
            return Err(Error::Parameter {
                question: values.question.clone(),
                expected: format!("{name} as a text, a number or a boolean"),
                found: String::new(),
            });
        };
        tokens.replace(at, literal);
    }
    Ok(tokens.text())
}

/// Returns the literal of a value; `None` for numbers that have none.
fn literal(value: &ScalarValue) -> Option<String> {
    match value {
        ScalarValue::Utf8(Some(text)) => Some(quoted(text)),
        ScalarValue::Boolean(Some(truth)) => Some(truth.to_string()),
        ScalarValue::Int64(Some(number)) => Some(signed(number.to_string())),
        // Written with a fraction, so that the number stays one of floating point.
        ScalarValue::Float64(Some(number)) if number.is_finite() => {
            Some(signed(format!("{number:?}")))
        }
        _ => None,
    }
}

/// Puts a negative number in brackets: two minus signs would start a comment.
fn signed(number: String) -> String {
    if number.starts_with('-') {
        format!("({number})")
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_place_of_their_names() {
        let values = Values {
            typed: vec![
                ("a".into(), ScalarValue::from("o'x")),
                ("b".into(), ScalarValue::from(-5_i64)),
                ("c".into(), ScalarValue::from(100.0)),
                ("d".into(), ScalarValue::from(true)),
            ],
            ..Values::default()
        };
        let sql = "SELECT $a, 1-$b, -- $c\n  $c, $d, '$a' FROM \"$b\"";
        assert_eq!(
            insert(sql, &values).unwrap(),
            "SELECT 'o''x', 1-(-5), -- $c\n  100.0, true, '$a' FROM \"$b\""
        );
        let unknown = insert("SELECT $e", &values).unwrap_err().to_string();
        assert!(unknown.contains("e as a text"), "{unknown}");
    }
}
