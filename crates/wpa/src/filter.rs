//! Conditions of the query language as SQL over the columns of a graph.

use etwkit_query::dump::sql::quoted;

use crate::catalog::{Column, Graph, Kind};
use crate::format::Unit;
use crate::words::{self, Condition, Operator};

/// Returns the SQL for the condition of a preset. `fill` puts the ends of the part of the trace
/// into the SQL of a column.
///
/// # Errors
/// The condition cannot be read, or it names an unknown column or operator. The error explains it
/// in words.
pub(crate) fn sql(
    text: &str,
    graph: &Graph,
    fill: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let condition = words::parse(text).map_err(|wrong| wrong.to_string())?;
    of_condition(&condition, graph, fill)
}

fn of_condition(
    condition: &Condition,
    graph: &Graph,
    fill: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let of = |inner: &Condition| of_condition(inner, graph, fill);
    Ok(match condition {
        Condition::And(a, b) => format!("({} AND {})", of(a)?, of(b)?),
        Condition::Or(a, b) => format!("({} OR {})", of(a)?, of(b)?),
        Condition::Not(inner) => format!("(NOT {})", of(inner)?),
        Condition::Is {
            column,
            operator,
            literal,
        } => {
            let (known, sql) = column_of(column, graph)?;
            // Only the column is filled: a literal, such as a path, may contain `$to`.
            let compared = compare(known, &fill(sql), *operator, literal).ok_or_else(|| {
                format!("column \"{column}\" cannot be compared like this with \"{literal}\"")
            })?;
            // An unknown value is unequal to everything. Null would make `NOT` of the whole
            // condition null, and so hide rows that an analyst expects to see.
            format!(
                "coalesce({compared}, {})",
                matches!(operator, Operator::NotEqual | Operator::ContainsNot)
            )
        }
    })
}

/// Returns a column by its title, with its SQL. The title of a process may be followed by `(Name)`.
fn column_of<'g>(title: &str, graph: &'g Graph) -> Result<(&'g Column, &'g str), String> {
    if let Some(column) = graph.by_name(title) {
        return Ok((column, column.sql));
    }
    if let Some(column) = title
        .strip_suffix(" (Name)")
        .and_then(|title| graph.by_name(title))
        && let Kind::Process(name) = column.kind
    {
        return Ok((column, name));
    }
    Err(format!("there is no column \"{title}\" in {}", graph.name))
}

fn compare(column: &Column, sql: &str, operator: Operator, literal: &str) -> Option<String> {
    match column.kind {
        Kind::Text | Kind::Process(_) => Some(text(column, sql, operator, literal)),
        // A stack is a number here, and the frames that a filter could compare are assembled only
        // when a row is written.
        Kind::Stack => None,
        kind => number(kind, sql, operator, literal),
    }
}

/// Compares texts regardless of case.
fn text(column: &Column, sql: &str, operator: Operator, literal: &str) -> String {
    // Profiles name values in the words of their program, which the column may write differently.
    let known = column
        .means
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(literal));
    let literal = known.map_or(literal, |(_, value)| value);
    let (value, with) = (format!("lower({sql})"), quoted(&literal.to_lowercase()));
    match operator {
        Operator::Equal => format!("{value} = {with}"),
        Operator::NotEqual => format!("{value} <> {with}"),
        Operator::Less => format!("{value} < {with}"),
        Operator::LessOrEqual => format!("{value} <= {with}"),
        Operator::Greater => format!("{value} > {with}"),
        Operator::GreaterOrEqual => format!("{value} >= {with}"),
        Operator::Contains => format!("contains({value}, {with})"),
        Operator::ContainsNot => format!("NOT contains({value}, {with})"),
        Operator::StartsWith => format!("starts_with({value}, {with})"),
        Operator::EndsWith => format!("ends_with({value}, {with})"),
        Operator::Matches => {
            // The whole text has to match, regardless of case, as in all other comparisons of
            // texts.
            let whole = quoted(&format!("^(?:{literal})$"));
            format!("regexp_like({sql}, {whole}, 'i')")
        }
    }
}

fn number(kind: Kind, sql: &str, operator: Operator, literal: &str) -> Option<String> {
    let word = match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        _ => return None,
    };
    Some(format!("{sql} {word} {}", value(kind, literal)?))
}

/// Converts a literal to the unit of the column: nanoseconds, bytes, or a plain number.
fn value(kind: Kind, literal: &str) -> Option<i64> {
    if let Some(digits) = literal
        .strip_prefix("0x")
        .or_else(|| literal.strip_prefix("0X"))
    {
        // Addresses in the upper half are written without a sign, and stored as the same bits with
        // one.
        return u64::from_str_radix(digits, 16).ok().map(u64::cast_signed);
    }
    // The unit of a literal directly follows its digits. Without one, the unit of the column
    // applies.
    let digits = literal.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
    let unit = literal.get(digits.len()..)?.to_ascii_lowercase();
    let usual = match kind {
        Kind::Moment => Unit::Seconds,
        Kind::Duration(unit) => unit,
        _ => Unit::Bytes,
    };
    let unit = match unit.as_str() {
        "" => usual,
        "s" => Unit::Seconds,
        "ms" => Unit::Milliseconds,
        "us" | "µs" => Unit::Microseconds,
        "ns" => Unit::Nanoseconds,
        "b" => Unit::Bytes,
        "kb" => Unit::Kilobytes,
        "mb" => Unit::Megabytes,
        "gb" => Unit::Gigabytes,
        _ => return None,
    };
    // A size that is compared with a time is a mistake in the profile, and so is a share, whose
    // column has nanoseconds here. An error reports the mistake; otherwise rows would silently be
    // missing.
    if usual.is_time() != unit.is_time() || kind == Kind::Percent {
        return None;
    }
    let digits = digits.replace(',', "");
    let digits = digits.trim();
    // Whole numbers are not computed as fractions: nanoseconds of a long trace have more digits
    // than a fraction can hold.
    if let Ok(whole) = digits.parse::<i64>() {
        return whole.checked_mul(unit.size());
    }
    let number: f64 = digits.parse().ok()?;
    let number = number * unit.size() as f64;
    (number.is_finite() && number.abs() < 9e18).then_some(number.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::by_name;

    fn of(graph: &str, text: &str) -> Result<String, String> {
        sql(text, by_name(graph).unwrap(), &|sql| {
            sql.replace("$to", "9").replace("$from", "1")
        })
    }

    #[test]
    fn numbers_are_compared_in_the_unit_of_their_column() {
        let sampled = "CPU Usage (Sampled)";
        assert_eq!(
            of(sampled, "[CPU]:>=3").unwrap(),
            "coalesce(r.cpu >= 3, false)"
        );
        assert_eq!(
            of(sampled, "[Weight]:>1.5").unwrap(),
            "coalesce(r.weight_ns > 1500000, false)"
        );
        assert_eq!(
            of(sampled, "[TimeStamp]:<2").unwrap(),
            "coalesce(r.ts_ns < 2000000000, false)"
        );
        assert_eq!(
            of("Disk Usage", "Size:>64KB").unwrap(),
            "coalesce(r.size_bytes > 65536, false)"
        );
        assert_eq!(
            of("Disk Usage", "[IO Time]:<>10ms").unwrap(),
            "coalesce(r.io_ns <> 10000000, true)"
        );
        assert_eq!(
            of("Disk Usage", "[IO Time]:>5µs").unwrap(),
            "coalesce(r.io_ns > 5000, false)"
        );
        assert!(of("Disk Usage", "[IO Time]:>10MB").is_err());
    }

    #[test]
    fn texts_cannot_leave_their_literal() {
        let sql = of("Marks", r#"[Label]:="x' OR 1=1 --""#).unwrap();
        assert_eq!(sql, "coalesce(lower(r.text) = 'x'' or 1=1 --', false)");
    }

    #[test]
    fn ends_of_the_part_are_put_into_columns_and_not_into_literals() {
        let sql = of("Marks", r#"[Label]:="C:\$tools\$from""#).unwrap();
        assert_eq!(sql, r"coalesce(lower(r.text) = 'c:\$tools\$from', false)");
        let sql = of("CPU Usage (Precise)", "[CPU Usage (in view)]:>1").unwrap();
        assert!(
            sql.contains("9") && !sql.contains("$to") && !sql.contains("$from"),
            "{sql}"
        );
    }

    #[test]
    fn words_of_profiles_stand_for_values() {
        let sql = of("CPU Usage (Sampled)", r#"[DPC/ISR]:="DPC""#).unwrap();
        assert!(sql.ends_with("= 'dpc/isr', false)"), "{sql}");
    }

    #[test]
    fn a_process_may_be_named_without_its_id() {
        let sql = of("File I/O", r#"[Process (Name)]:~="diskspd.exe""#).unwrap();
        assert_eq!(
            sql,
            "coalesce(contains(lower(coalesce(p.name, 'Unknown')), 'diskspd.exe'), false)"
        );
    }

    #[test]
    fn a_column_that_does_not_exist_is_named() {
        let error = of("Marks", r#"[Series Name]:="x""#).unwrap_err();
        assert_eq!(error, "there is no column \"Series Name\" in Marks");
    }
}
