//! Conditions of the query language as SQL over the columns of a graph.

use std::collections::HashMap;

use etwkit_sql::literal::quoted;

use crate::wpa::catalog::{Column, Graph, ValueKind};
use crate::wpa::format::Unit;
use crate::wpa::profile::PresetColumn;
use crate::wpa::words::{self, Condition, Operator};

/// Returns the SQL for the condition of a preset with these columns. `fill` puts the ends of the
/// part of the trace into the SQL of a column.
///
/// # Errors
/// The condition cannot be read, or it names an unknown column or operator. The error explains it
/// in words.
pub(crate) fn sql(
    text: &str,
    graph: &'static Graph,
    columns: &[PresetColumn],
    fill: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let condition = words::parse(text).map_err(|wrong| wrong.to_string())?;
    of_condition(&condition, Titles { graph, columns }, fill)
}

fn of_condition(
    condition: &Condition,
    titles: Titles<'_>,
    fill: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let of = |inner: &Condition| of_condition(inner, titles, fill);
    Ok(match condition {
        Condition::And(..) | Condition::Or(..) => {
            let is_and = matches!(condition, Condition::And(..));
            let word = if is_and { " AND " } else { " OR " };
            let all: Vec<String> = with_lists(operands(condition), is_and, titles)
                .iter()
                .map(|operand| of_operand(operand, titles, fill))
                .collect::<Result<_, _>>()?;
            format!("({})", all.join(word))
        }
        Condition::Not(inner) => format!("(NOT {})", of(inner)?),
        Condition::Is {
            column,
            operator,
            literal,
        } => {
            let known = titles.find(column)?;
            // Only the column is filled: a literal, such as a path, may contain `$to`.
            let filled = Compared {
                sql: fill(&known.sql),
                ..known
            };
            let compared = filled.with(*operator, literal).ok_or_else(|| {
                format!("column \"{column}\" cannot be compared like this with \"{literal}\"")
            })?;
            // An unknown value is unequal to everything. Null would make `NOT` of the whole
            // condition null, and so hide rows that an analyst expects to see.
            // A share is compared with the capacity of the part, which is known as late.
            let compared = match filled.kind {
                ValueKind::Percent => fill(&compared),
                _ => compared,
            };
            format!(
                "coalesce({compared}, {})",
                matches!(operator, Operator::NotEqual | Operator::ContainsNot)
            )
        }
    })
}

/// Returns what a chain of `AND`, or of `OR`, consists of. In SQL it is one pair of parentheses: the
/// engine takes only so many inside each other.
fn operands(condition: &Condition) -> Vec<&Condition> {
    let is_and = matches!(condition, Condition::And(..));
    let mut found = Vec::new();
    let mut open = vec![condition];
    while let Some(next) = open.pop() {
        match next {
            Condition::And(a, b) if is_and => open.extend([&**b, &**a]),
            Condition::Or(a, b) if !is_and => open.extend([&**b, &**a]),
            other => found.push(other),
        }
    }
    found
}

/// An operand of a chain.
struct Operand<'c> {
    condition: &'c Condition,
    /// Further texts that a comparison of texts has in one list.
    further: Vec<&'c str>,
}

/// Puts comparisons of a column with several texts into one list: the engine takes only so many
/// comparisons, and people list programs, hundreds of them.
fn with_lists<'c>(
    operands: Vec<&'c Condition>,
    is_and: bool,
    titles: Titles<'_>,
) -> Vec<Operand<'c>> {
    let listed = match is_and {
        true => Operator::NotEqual,
        false => Operator::Equal,
    };
    let mut found: Vec<Operand<'c>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for condition in operands {
        if let Condition::Is {
            column,
            operator,
            literal,
        } = condition
            && *operator == listed
            && titles.find(column).is_ok_and(|known| known.is_text())
        {
            let place = *places.entry(column).or_insert(found.len());
            if let Some(first) = found.get_mut(place) {
                first.further.push(literal);
                continue;
            }
        }
        found.push(Operand {
            condition,
            further: Vec::new(),
        });
    }
    found
}

fn of_operand(
    operand: &Operand<'_>,
    titles: Titles<'_>,
    fill: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let Condition::Is {
        column,
        operator,
        literal,
    } = operand.condition
    else {
        return of_condition(operand.condition, titles, fill);
    };
    if operand.further.is_empty() {
        return of_condition(operand.condition, titles, fill);
    }
    let known = titles.find(column)?;
    let all = std::iter::once(literal.as_str()).chain(operand.further.iter().copied());
    let texts: Vec<String> = all.map(|text| lower(known.column, text)).collect();
    let value = fill(&known.sql);
    let texts = texts.join(", ");
    Ok(match operator {
        Operator::NotEqual => format!("coalesce(lower({value}) NOT IN ({texts}), true)"),
        _ => format!("coalesce(lower({value}) IN ({texts}), false)"),
    })
}

/// A column in a comparison.
struct Compared {
    column: &'static Column,
    /// Kind of the compared values.
    kind: ValueKind,
    /// The compared values.
    sql: String,
    /// The unit of numbers that are written without one.
    unit: Unit,
}

/// The titles that a condition can name.
#[derive(Clone, Copy)]
struct Titles<'t> {
    graph: &'static Graph,
    /// Columns of the preset: profiles of version 1 have other titles for the same columns.
    columns: &'t [PresetColumn],
}

impl Titles<'_> {
    /// Returns what a title stands for: a column, the name of a process without its id, or the tag
    /// of a stack.
    fn find(self, title: &str) -> Result<Compared, String> {
        let (bare, unit) = split_unit(title);
        let found = self
            .in_graph(title)
            .or_else(|| self.in_graph(bare))
            .or_else(|| self.in_preset(bare));
        let found = found.ok_or_else(|| self.why_missing(title, bare))?;
        Ok(match unit {
            Some(unit) => found.in_unit(unit),
            None => found,
        })
    }

    /// Finds a title of the catalog.
    fn in_graph(self, title: &str) -> Option<Compared> {
        let graph = self.graph;
        if let Some(column) = graph.by_name(title) {
            return Some(Compared::of(column, column.kind, column.sql.to_owned()));
        }
        let before = |end: &str| {
            title
                .strip_suffix(end)
                .and_then(|title| graph.by_name(title))
        };
        if let Some(column) = before(" (Name)")
            && let ValueKind::Process(name) = column.kind
        {
            return Some(Compared::of(column, ValueKind::Text, name.to_owned()));
        }
        let column = before(" Tag").filter(|column| column.kind == ValueKind::Stack)?;
        Some(Compared::of(column, ValueKind::Text, stack_tag(column.sql)))
    }

    /// Finds a title of the preset by the GUID of its column.
    fn in_preset(self, bare: &str) -> Option<Compared> {
        let column = self.graph.by_guid(&self.shown(bare)?.guid)?;
        Some(Compared::of(column, column.kind, column.sql.to_owned()))
    }

    /// Returns the column of the preset with this title, whatever unit is behind it.
    fn shown(&self, bare: &str) -> Option<&PresetColumn> {
        self.columns
            .iter()
            .find(|shown| split_unit(&shown.name).0.eq_ignore_ascii_case(bare))
    }

    /// Returns the reason why a title stands for nothing.
    fn why_missing(self, title: &str, bare: &str) -> String {
        let guid = self.shown(bare).map_or("", |shown| shown.guid.as_str());
        let known = self.graph.unfilled(guid, bare);
        match known.or_else(|| self.graph.unfilled("", bare)) {
            Some(known) => format!("column \"{}\": not in extracts: {}", known.name, known.why),
            None => format!("there is no column \"{title}\" in {}", self.graph.name),
        }
    }
}

/// Splits a title and the unit that version 1 writes behind it: `TimeSinceLast (us)`.
fn split_unit(title: &str) -> (&str, Option<Unit>) {
    let parts = title
        .strip_suffix(')')
        .and_then(|title| title.rsplit_once('('));
    let unit = parts.and_then(|(_, word)| unit_of(word));
    match (parts, unit) {
        (Some((bare, _)), Some(_)) => (bare.trim_end(), unit),
        _ => (title, None),
    }
}

/// Returns the unit of a word, in any case.
fn unit_of(word: &str) -> Option<Unit> {
    Some(match word.to_ascii_lowercase().as_str() {
        "s" => Unit::Seconds,
        "ms" => Unit::Milliseconds,
        "us" | "µs" => Unit::Microseconds,
        "ns" => Unit::Nanoseconds,
        "b" => Unit::Bytes,
        "kb" => Unit::Kilobytes,
        "mb" => Unit::Megabytes,
        "gb" => Unit::Gigabytes,
        _ => return None,
    })
}

/// Returns the SQL for the tag of a stack.
pub(crate) fn stack_tag(sql: &str) -> String {
    format!("stack_tag({sql}, 'default')")
}

impl Compared {
    fn of(column: &'static Column, kind: ValueKind, sql: String) -> Self {
        let unit = match kind {
            ValueKind::Moment => Unit::Seconds,
            ValueKind::Duration(unit) => unit,
            _ => Unit::Bytes,
        };
        Self {
            column,
            kind,
            sql,
            unit,
        }
    }

    /// Takes numbers without a unit in this one, if the column can have it.
    fn in_unit(self, unit: Unit) -> Self {
        let fits = match self.kind {
            ValueKind::Moment | ValueKind::Duration(_) => unit.is_time(),
            ValueKind::Bytes => unit.is_size(),
            _ => false,
        };
        let unit = if fits { unit } else { self.unit };
        Self { unit, ..self }
    }

    const fn is_text(&self) -> bool {
        matches!(self.kind, ValueKind::Text | ValueKind::Process(_))
    }

    fn with(&self, operator: Operator, literal: &str) -> Option<String> {
        let Self {
            column,
            kind,
            sql,
            unit,
        } = self;
        match kind {
            ValueKind::Text | ValueKind::Process(_) => Some(text(column, sql, operator, literal)),
            ValueKind::Stack => Some(stack(column, sql, operator, literal)),
            // Parts of numbers are compared as their digits are written.
            ValueKind::Number if !operator.orders() => Some(text(
                column,
                &format!("CAST({sql} AS VARCHAR)"),
                operator,
                literal,
            )),
            ValueKind::Hex if !operator.orders() => {
                Some(text(column, &format!("hex({sql})"), operator, literal))
            }
            kind => number(*kind, *unit, sql, operator, literal),
        }
    }
}

/// Compares the text of a stack as it is written: `/` between frames, the outermost first. A stack
/// that was not recorded has no text: it meets what excludes texts.
fn stack(column: &Column, sql: &str, operator: Operator, literal: &str) -> String {
    const TEXT: &str = "array_to_string(array_reverse(string_to_array(text, chr(10))), '/')";
    let (is_without, operator) = match operator {
        Operator::NotEqual => (true, Operator::Equal),
        Operator::ContainsNot => (true, Operator::Contains),
        operator => (false, operator),
    };
    let condition = text(column, TEXT, operator, literal);
    let not = if is_without { "NOT " } else { "" };
    format!("{not}({sql} IN (SELECT stack_id FROM stack_text WHERE {condition}))")
}

/// Returns the value that a literal stands for. Profiles name values in the words of their program,
/// which the column may write differently.
fn meant<'l>(column: &Column, literal: &'l str) -> &'l str {
    let known = column
        .means
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(literal));
    known.map_or(literal, |(_, value)| value)
}

/// Returns a literal in SQL, for comparisons regardless of case.
fn lower(column: &Column, literal: &str) -> String {
    quoted(&meant(column, literal).to_lowercase())
}

/// Compares texts regardless of case.
fn text(column: &Column, sql: &str, operator: Operator, literal: &str) -> String {
    let value = format!("lower({sql})");
    let with = lower(column, literal);
    let literal = meant(column, literal);
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

fn number(
    kind: ValueKind,
    usual: Unit,
    sql: &str,
    operator: Operator,
    literal: &str,
) -> Option<String> {
    let word = match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        _ => return None,
    };
    if kind == ValueKind::Percent {
        // Values are nanoseconds here: a share is that of the capacity of all processors.
        let share: f64 = literal.trim_end_matches('%').trim_end().parse().ok()?;
        return share
            .is_finite()
            .then(|| format!("({sql}) * 100.0 {word} {share:?} * $capacity"));
    }
    Some(format!("{sql} {word} {}", value(usual, literal)?))
}

/// Converts a literal to the unit of the column: nanoseconds, bytes, or a plain number.
fn value(usual: Unit, literal: &str) -> Option<i64> {
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
    let unit = match literal.get(digits.len()..)? {
        "" => usual,
        word => unit_of(word)?,
    };
    // A size that is compared with a time is a mistake in the profile. An error reports it; otherwise
    // rows would silently be missing.
    if usual.is_time() != unit.is_time() {
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
    use crate::wpa::catalog::by_name;

    fn of(graph: &str, text: &str) -> Result<String, String> {
        of_preset(graph, &[], text)
    }

    /// The SQL for a condition of a preset whose columns have these titles and GUIDs.
    fn of_preset(graph: &str, columns: &[(&str, &str)], text: &str) -> Result<String, String> {
        let shown = columns.iter().map(|(name, guid)| PresetColumn {
            name: (*name).to_owned(),
            guid: (*guid).to_owned(),
            ..PresetColumn::default()
        });
        let shown: Vec<PresetColumn> = shown.collect();
        sql(text, by_name(graph).unwrap(), &shown, &|sql| {
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
    fn shares_are_compared_in_percent_of_the_capacity() {
        assert_eq!(
            of("DPC/ISR", "[% Exclusive Duration]:>=1.5").unwrap(),
            "coalesce((r.duration_ns - r.nested_ns) * 100.0 >= 1.5 * $capacity, false)"
        );
        assert!(of("DPC/ISR", "[% Exclusive Duration]:>=1ms").is_err());
    }

    #[test]
    fn a_chain_is_one_pair_of_parentheses() {
        let sql = of(
            "Marks",
            "[CPU]:=1 AND [CPU]:=2 AND ([CPU]:=3 OR [CPU]:=4 OR NOT [CPU]:=5)",
        );
        assert_eq!(
            sql.unwrap().replace("coalesce", "").replace(", false", ""),
            "((r.cpu = 1) AND (r.cpu = 2) AND ((r.cpu = 3) OR (r.cpu = 4) OR (NOT (r.cpu = 5))))"
        );
    }

    #[test]
    fn texts_of_one_column_are_a_list() {
        let sql = of(
            "File I/O",
            r#"[Process (Name)]:="A.exe" OR [Size]:>1 OR [Process (Name)]:="b.exe""#,
        );
        assert_eq!(
            sql.unwrap(),
            "(coalesce(lower(coalesce(p.name, 'Unknown')) IN ('a.exe', 'b.exe'), false) \
             OR coalesce(r.size_bytes > 1, false))"
        );
        let sql = of(
            "File I/O",
            r#"[Process (Name)]:<>"a.exe" AND [Process (Name)]:<>"b.exe""#,
        );
        assert_eq!(
            sql.unwrap(),
            "(coalesce(lower(coalesce(p.name, 'Unknown')) NOT IN ('a.exe', 'b.exe'), true))"
        );
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
    fn titles_of_version_1_are_those_of_the_preset() {
        let old = |text: &str| {
            let columns = [
                ("NewProcess Name", "F64ABE19-837A-4E53-8087-4547026B82B2"),
                ("Wait (ms)", "6d598aa8-2ec4-46cd-b71a-88a239dfacf7"),
                ("Notes", "2818954f-2d30-5569-4510-dade0a5a605c"),
                ("Mine", "11111111-2222-3333-4444-555555555555"),
            ];
            of_preset("CPU Usage (Precise)", &columns, text)
        };
        assert_eq!(
            old(r#"[NewProcess Name]:="a.exe""#),
            old(r#"[New Process Name]:="A.exe""#)
        );
        // A number without a unit is in that of the title, here not the one of the column.
        let wait = old("[Wait (ms)]:>2").unwrap();
        assert_eq!(wait, "coalesce(r.wait_ns > 2000000, false)");
        assert_eq!(old("[Waits (us)]:>2000"), Ok(wait.clone()));
        assert_eq!(old("[Wait(ms)]:>2000us"), Ok(wait));
        let why = old(r#"[Notes]:="x""#).unwrap_err();
        assert!(
            why.starts_with("column \"Annotation\": not in extracts"),
            "{why}"
        );
        let why = old("[Mine (s)]:=1").unwrap_err();
        assert_eq!(
            why,
            "there is no column \"Mine (s)\" in CPU Usage (Precise)"
        );
    }

    #[test]
    fn a_column_that_does_not_exist_is_named() {
        let error = of("Marks", r#"[Series Name]:="x""#).unwrap_err();
        assert_eq!(error, "there is no column \"Series Name\" in Marks");
    }
}
