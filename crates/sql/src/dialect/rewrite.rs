//! Changes of a statement for DuckDB.

use datafusion::sql::sqlparser::tokenizer::Token;

use super::Obstacle;
use super::setup;
use super::tokens::Tokens;
use crate::functions;

/// Tables that only etwkit computes.
const COMPUTED: [&str; 1] = ["stack_hash"];

/// Functions of our engine that DuckDB has in no form.
const MISSING: [&str; 1] = ["to_char"];

/// Functions that have another name. The engine's `hex` writes other digits, and its `cardinality`
/// counts entries of maps.
const RENAMED: [(&str, &str); 3] = [
    ("cardinality", "len"),
    ("hex", "etwkit_hex"),
    ("regexp_like", "regexp_matches"),
];

/// Aggregates of an ordered group that have another name. As functions of a window they keep it.
const RENAMED_IN_GROUPS: [(&str, &str); 2] = [("first_value", "first"), ("last_value", "last")];

/// Words that end a list of ORDER BY.
const ENDS_OF_ORDER: [&str; 9] = [
    "LIMIT",
    "OFFSET",
    "FETCH",
    "ROWS",
    "RANGE",
    "GROUPS",
    "UNION",
    "EXCEPT",
    "INTERSECT",
];

/// Types of whole numbers.
const WHOLE: [&str; 3] = ["BIGINT", "INT", "INTEGER"];

/// Returns a statement as DuckDB understands it.
pub(super) fn duckdb(sql: &str) -> Result<String, Obstacle> {
    let Some(mut tokens) = Tokens::read(sql) else {
        return Err(Obstacle("it has characters that are not SQL".to_owned()));
    };
    for at in 0..tokens.len() {
        match tokens.get(at) {
            Some(Token::Number(number, _)) => {
                let number = number_there(&tokens, at, number);
                tokens.replace(at, number);
            }
            // It divides whole numbers to a whole number and others to a fraction, as our engine
            // does. The engine's `/` always makes a fraction.
            Some(Token::Div) => tokens.replace(at, "//"),
            Some(Token::DoubleColon) => cast_sign(&tokens, at)?,
            Some(Token::Word(_)) => word(&mut tokens, at)?,
            _ => {}
        }
    }
    // Last, since conditions move with the changes inside them.
    for at in 0..tokens.len() {
        if tokens.is_word(Some(at), "union_duration") {
            let _ = filter_inside(&mut tokens, at);
        }
    }
    Ok(tokens.text())
}

/// Returns a number with its type in our engine. There a number with a fraction is a decimal, which
/// is exact and has few digits, unless it has an exponent; a whole number has 32 bits, too few for
/// products.
fn number_there(tokens: &Tokens, at: usize, number: &str) -> String {
    let has_exponent = number.contains(['e', 'E']);
    let is_factor = [tokens.before(at), tokens.after(at)]
        .into_iter()
        .any(|next| tokens.is_sign(next, &Token::Mul));
    let suffix = if has_exponent {
        ""
    } else if number.contains('.') {
        "e0"
    } else if is_factor {
        "::BIGINT"
    } else {
        ""
    };
    format!("{number}{suffix}")
}

/// Refuses `x::BIGINT`, whose operand is not known here; see [`cast`].
fn cast_sign(tokens: &Tokens, at: usize) -> Result<(), Obstacle> {
    let kind = tokens.after(at);
    if WHOLE.iter().any(|whole| tokens.is_word(kind, whole)) {
        return Err(Obstacle(
            "`::` to a whole number rounds there and cuts off here".to_owned(),
        ));
    }
    Ok(())
}

fn word(tokens: &mut Tokens, at: usize) -> Result<(), Obstacle> {
    let Some(name) = tokens.word(at).map(str::to_lowercase) else {
        return Ok(());
    };
    if COMPUTED.contains(&name.as_str()) {
        return Err(Obstacle(format!(
            "it reads the table {name}, which only etwkit computes"
        )));
    }
    match name.as_str() {
        "order" if tokens.is_word(tokens.after(at), "BY") => {
            order_by(tokens, at);
            Ok(())
        }
        "like" | "ilike" => like(tokens, at),
        // A name of a column, unless it is the start of AT TIME ZONE.
        "at" if !tokens.is_word(tokens.after(at), "TIME") => {
            tokens.replace(at, "\"at\"");
            Ok(())
        }
        _ if tokens.is_sign(tokens.after(at), &Token::LParen) => call(tokens, at, &name),
        _ => Ok(()),
    }
}

/// Changes a call of a function, or of a keyword that looks like one.
fn call(tokens: &mut Tokens, at: usize, name: &str) -> Result<(), Obstacle> {
    let is_own = functions::references()
        .iter()
        .any(|function| function.name == name);
    let renamed = RENAMED.iter().find(|(own, _)| *own == name);
    let name_there = renamed.map_or(name, |(_, there)| *there);
    if MISSING.contains(&name) || (is_own && !setup::has_macro(name_there)) {
        return Err(Obstacle(format!(
            "it calls the function {name}, which cannot be written in SQL"
        )));
    }
    if renamed.is_some() {
        tokens.replace(at, name_there);
    }
    let Some(open) = tokens.after(at) else {
        return Ok(());
    };
    let Some(close) = tokens.closing(open) else {
        return Ok(());
    };
    let next = tokens.after(close);
    match name {
        "cast" => cast(tokens, open, close),
        "string_agg" if has_no_order(tokens, open, close) => {
            return Err(Obstacle(
                "it calls string_agg(DISTINCT …), whose texts have no order".to_owned(),
            ));
        }
        "union_duration" if tokens.is_word(next, "OVER") => {
            return Err(Obstacle(
                "it calls union_duration with OVER, which a macro does not take".to_owned(),
            ));
        }
        _ => {
            let renamed = RENAMED_IN_GROUPS.iter().find(|(own, _)| *own == name);
            if let Some((_, there)) = renamed
                && !tokens.is_word(next, "OVER")
            {
                tokens.replace(at, *there);
            }
        }
    }
    Ok(())
}

/// Moves the condition of `union_duration(…) FILTER (WHERE …)` into the first argument: a macro
/// takes no FILTER, and intervals without a start are left out.
fn filter_inside(tokens: &mut Tokens, at: usize) -> Option<()> {
    let open = tokens.after(at)?;
    let close = tokens.closing(open)?;
    let filter = tokens.after(close)?;
    if !tokens.is_word(Some(filter), "FILTER") {
        return None;
    }
    let filter_open = tokens.after(filter)?;
    let filter_close = tokens.closing(filter_open)?;
    let start = tokens.after(filter_open)?.checked_add(1)?;
    let condition = tokens.text_of(start..filter_close);
    let comma = tokens.first_comma(open, close)?;
    tokens.append(open, &format!("CASE WHEN {} THEN ", condition.trim()));
    tokens.replace(comma, " END,");
    for removed in close.checked_add(1)?..=filter_close {
        tokens.remove(removed);
    }
    Some(())
}

/// Returns `true` for a list of distinct values without an order of its own.
fn has_no_order(tokens: &Tokens, open: usize, close: usize) -> bool {
    let is_distinct = tokens.is_word(tokens.after(open), "DISTINCT");
    is_distinct && !(open..close).any(|at| tokens.is_word(Some(at), "ORDER"))
}

/// Cuts the fraction off before a number becomes a whole one, as our engine does. DuckDB rounds.
fn cast(tokens: &mut Tokens, open: usize, close: usize) {
    let kind = tokens.before(close);
    let keyword = kind.and_then(|kind| tokens.before(kind));
    let is_whole = WHOLE.iter().any(|whole| tokens.is_word(kind, whole));
    let is_null = tokens.is_word(tokens.after(open), "NULL");
    if !is_whole || is_null || !tokens.is_word(keyword, "AS") {
        return;
    }
    if let Some(last) = keyword.and_then(|keyword| tokens.before(keyword)) {
        tokens.append(open, "etwkit_whole(");
        tokens.append(last, ")");
    }
}

/// Names the character that takes the meaning of `%` and `_` away: DuckDB has none unless it is
/// named.
fn like(tokens: &mut Tokens, at: usize) -> Result<(), Obstacle> {
    let Some(pattern) = tokens.after(at) else {
        return Ok(());
    };
    let Some(Token::SingleQuotedString(text)) = tokens.get(pattern) else {
        return Err(Obstacle(
            "it compares with LIKE and a pattern that is computed".to_owned(),
        ));
    };
    let has_escape = text.contains('\\');
    if has_escape && !tokens.is_word(tokens.after(pattern), "ESCAPE") {
        tokens.append(pattern, r" ESCAPE '\'");
    }
    Ok(())
}

/// Says where NULL is in an order: in DuckDB it is last in both directions, and a setting changes
/// that.
fn order_by(tokens: &mut Tokens, at: usize) {
    if is_within_group(tokens, at) {
        return;
    }
    let by = tokens.after(at).unwrap_or(at);
    let mut key = Key::default();
    let mut depth = 0_usize;
    let mut next = tokens.after(by);
    while let Some(at) = next {
        let is_outside = depth == 0;
        match tokens.get(at) {
            Some(Token::LParen | Token::LBracket) => depth = depth.saturating_add(1),
            Some(Token::RParen | Token::RBracket | Token::SemiColon) if is_outside => break,
            Some(Token::RParen | Token::RBracket) => depth = depth.saturating_sub(1),
            Some(Token::Comma) if is_outside => key.end(tokens),
            Some(Token::Word(_)) if is_outside && is_end_of_order(tokens, at) => break,
            _ => {}
        }
        if !(is_outside && tokens.is_sign(Some(at), &Token::Comma)) {
            key.take(tokens, at, is_outside);
        }
        next = tokens.after(at);
    }
    key.end(tokens);
}

/// Returns `true` for the order of `percentile_cont(…) WITHIN GROUP (ORDER BY …)`, which NULL does
/// not take part in.
fn is_within_group(tokens: &Tokens, at: usize) -> bool {
    let open = tokens.before(at);
    let group = open.and_then(|open| tokens.before(open));
    let within = group.and_then(|group| tokens.before(group));
    tokens.is_word(group, "GROUP") && tokens.is_word(within, "WITHIN")
}

fn is_end_of_order(tokens: &Tokens, at: usize) -> bool {
    ENDS_OF_ORDER
        .iter()
        .any(|end| tokens.is_word(Some(at), end))
}

/// One expression of a list of ORDER BY.
#[derive(Default)]
struct Key {
    /// Its last token.
    last: Option<usize>,
    is_descending: bool,
    /// True if it says where NULL is.
    has_nulls: bool,
}

impl Key {
    fn take(&mut self, tokens: &Tokens, at: usize, is_outside: bool) {
        self.last = Some(at);
        self.is_descending |= is_outside && tokens.is_word(Some(at), "DESC");
        self.has_nulls |= is_outside && tokens.is_word(Some(at), "NULLS");
    }

    /// Adds the place of NULL, and starts with the next expression.
    fn end(&mut self, tokens: &mut Tokens) {
        let key = std::mem::take(self);
        if let Some(last) = key.last
            && !key.has_nulls
        {
            let place = if key.is_descending {
                " NULLS FIRST"
            } else {
                " NULLS LAST"
            };
            tokens.append(last, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_engine_reads_otherwise_is_written_out() {
        for (ours, there) in [
            ("SELECT a / 2, 5/b", "SELECT a // 2, 5//b"),
            ("SELECT 0.5, .5, 1e6, 7", "SELECT 0.5e0, .5e0, 1e6, 7"),
            (
                "SELECT x ORDER BY a, f(b, c) DESC, d NULLS FIRST -- last\nLIMIT 1",
                "SELECT x ORDER BY a NULLS LAST, f(b, c) DESC NULLS FIRST, d NULLS FIRST -- last\nLIMIT 1",
            ),
            (
                "first_value(a ORDER BY (b, c DESC) DESC)",
                "first(a ORDER BY (b, c DESC) DESC NULLS FIRST)",
            ),
            (
                "first_value(a) OVER (ORDER BY b ROWS 1 PRECEDING)",
                "first_value(a) OVER (ORDER BY b NULLS LAST ROWS 1 PRECEDING)",
            ),
            (
                "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)",
                "percentile_cont(0.5e0) WITHIN GROUP (ORDER BY a)",
            ),
            (
                r"a LIKE '\_b%' AND c NOT LIKE 'd_' AND e ILIKE '\%' ESCAPE '\'",
                r"a LIKE '\_b%' ESCAPE '\' AND c NOT LIKE 'd_' AND e ILIKE '\%' ESCAPE '\'",
            ),
            (
                "CAST(a + f(b) AS BIGINT), CAST(NULL AS INT), CAST(c AS VARCHAR)",
                "CAST(etwkit_whole(a + f(b)) AS BIGINT), CAST(NULL AS INT), CAST(c AS VARCHAR)",
            ),
            ("hex(a), cardinality(b)", "etwkit_hex(a), len(b)"),
            (
                "union_duration(f(a, b), c) FILTER (WHERE d > 0.5) AS e",
                "union_duration(CASE WHEN d > 0.5e0 THEN f(a, b) END, c) AS e",
            ),
            (
                "a * 1000 + 5 * b - 7",
                "a * 1000::BIGINT + 5::BIGINT * b - 7",
            ),
            ("ORDER BY 1, 0.5", "ORDER BY 1 NULLS LAST, 0.5e0 NULLS LAST"),
            (
                "CAST(a / 0.5 AS INT)",
                "CAST(etwkit_whole(a // 0.5e0) AS INT)",
            ),
            ("ORDER BY at", "ORDER BY \"at\" NULLS LAST"),
            (
                "SELECT 'it''s / 0.5' AS \"a/b\" /* 1/2 */",
                "SELECT 'it''s / 0.5' AS \"a/b\" /* 1/2 */",
            ),
        ] {
            assert_eq!(duckdb(ours).as_deref(), Ok(there));
        }
    }

    #[test]
    fn what_another_engine_lacks_is_named() {
        for (sql, obstacle) in [
            (
                "SELECT stack_tag(stack_id, 'default') FROM cpu_stack",
                "it calls the function stack_tag, which cannot be written in SQL",
            ),
            (
                "SELECT * FROM stack_hash",
                "it reads the table stack_hash, which only etwkit computes",
            ),
            (
                "SELECT string_agg(DISTINCT a, ',')",
                "it calls string_agg(DISTINCT …), whose texts have no order",
            ),
            (
                "SELECT a LIKE b",
                "it compares with LIKE and a pattern that is computed",
            ),
            (
                "SELECT a::bigint",
                "`::` to a whole number rounds there and cuts off here",
            ),
        ] {
            assert_eq!(duckdb(sql).unwrap_err().to_string(), obstacle);
        }
    }
}
