//! Filter on statements: only queries are run, and none that changes something or touches a file.

use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Statement as Sql, TableFactor, Visit, Visitor,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::{Error, Result, error, using};

/// Maximum length of SQL text that is parsed.
// A list of tens of thousands of ids is still accepted; the parser needs many times the text in
// memory.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of steps of a statement, see [`steps`]: planning recurses once for each, and this
/// many are safe on the stacks of the engine.
const MAX_STEPS: usize = 500;

/// Steps of a join or a union, whose planning takes more.
const STEPS_OF_A_TABLE: usize = 5;

/// Parses one query.
pub(crate) fn parse(sql: &str) -> Result<Statement> {
    let dialect = GenericDialect {};
    check_size(sql, &dialect)?;
    let parsed = DFParserBuilder::new(sql)
        .with_dialect(&dialect)
        .build()
        .and_then(|mut parser| parser.parse_statements());
    let mut statements = parsed.map_err(|e| error::from_planning(&e))?;
    let count = statements.len();
    match statements.pop_front() {
        Some(mut statement) if count == 1 => {
            check(&statement)?;
            using::qualify(&mut statement);
            Ok(statement)
        }
        _ => Err(Error::Statements { count }),
    }
}

/// Parses a condition: one expression.
pub(crate) fn expression(sql: &str) -> Result<Expr> {
    let dialect = GenericDialect {};
    check_size(sql, &dialect)?;
    let parsed = DFParserBuilder::new(sql)
        .with_dialect(&dialect)
        .build()
        .and_then(|mut parser| parser.parse_into_expr());
    let parsed = parsed.map_err(|e| error::from_planning(&e))?;
    match parsed.alias {
        None => Ok(parsed.expr),
        Some(name) => Err(Error::Sql {
            message: format!("expected a condition, found a name for it: {name}"),
            position: None,
            hint: Some("AND and OR connect conditions".to_owned()),
        }),
    }
}

/// Checks that a text can be parsed and planned with the stacks of the engine.
fn check_size(sql: &str, dialect: &GenericDialect) -> Result<()> {
    if sql.len() > MAX_BYTES {
        return Err(Error::TooLong {
            what: "bytes of SQL",
            found: sql.len(),
            limit: MAX_BYTES,
        });
    }
    // Counted before parsing: the planner overflows its stack on statements that the parser still
    // reads.
    let steps = steps(&tokens(sql, dialect));
    if steps > MAX_STEPS {
        return Err(Error::TooLong {
            what: "operators, with joins and unions five times",
            found: steps,
            limit: MAX_STEPS,
        });
    }
    Ok(())
}

/// Returns how many more steps a statement may have, see [`steps`].
pub(crate) fn room(sql: &str) -> usize {
    MAX_STEPS.saturating_sub(steps(&tokens(sql, &GenericDialect {})))
}

/// Returns the tokens of a text. Text that is not a token is left to the parser, whose error has a
/// position.
fn tokens(sql: &str, dialect: &GenericDialect) -> Vec<Token> {
    Tokenizer::new(dialect, sql).tokenize().unwrap_or_default()
}

/// Returns the maximum depth of chains of operators: `a AND b AND c` is a tree of two levels.
/// Brackets are limited by the parser.
fn steps(tokens: &[Token]) -> usize {
    let mut steps = 0;
    let mut before = None;
    for token in tokens {
        if matches!(token, Token::Whitespace(_)) {
            continue;
        }
        if !is_all(token, before) {
            steps += steps_of(token);
        }
        before = Some(token);
    }
    steps
}

/// Returns `true` for a star that stands for all columns or rows, which multiplies nothing.
fn is_all(token: &Token, before: Option<&Token>) -> bool {
    let is_after_no_value = match before {
        None | Some(Token::LParen | Token::Comma | Token::Period) => true,
        Some(Token::Word(word)) => word.keyword == Keyword::SELECT,
        Some(_) => false,
    };
    *token == Token::Mul && is_after_no_value
}

/// Returns the steps of a token: values and signs that separate have none.
fn steps_of(token: &Token) -> usize {
    match token {
        Token::Word(word) => match word.keyword {
            Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::LIKE | Keyword::IS => 1,
            Keyword::JOIN | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                STEPS_OF_A_TABLE
            }
            _ => 0,
        },
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Placeholder(_)
        | Token::Whitespace(_)
        | Token::Comma
        | Token::LParen
        | Token::RParen
        | Token::Period
        | Token::SemiColon
        | Token::EOF => 0,
        // Any other sign is an operator, or is so rare that it does not matter.
        _ => 1,
    }
}

fn check(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Explain(explain) => check(&explain.statement),
        Statement::Statement(sql) => match sql.visit(&mut Misread) {
            ControlFlow::Break((message, hint)) => Err(Error::Sql {
                message: message.to_owned(),
                position: None,
                hint: Some(hint.to_owned()),
            }),
            ControlFlow::Continue(()) if asks(sql) => Ok(()),
            ControlFlow::Continue(()) => Err(refused(statement)),
        },
        other => Err(refused(other)),
    }
}

fn refused(statement: &Statement) -> Error {
    let text = statement.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    Error::Refused {
        found: words.join(" "),
    }
}

fn asks(sql: &Sql) -> bool {
    match sql {
        Sql::Explain { statement, .. } => asks(statement),
        Sql::Query(_)
        | Sql::ExplainTable { .. }
        | Sql::ShowTables { .. }
        | Sql::ShowColumns { .. }
        | Sql::ShowFunctions { .. }
        | Sql::ShowVariable { .. } => true,
        _ => false,
    }
}

/// Finds expressions whose answer differs from their reading, with the problem and the replacement.
struct Misread;

impl Visitor for Misread {
    type Break = (&'static str, &'static str);

    /// Refuses samples of tables, which the engine ignores: the answer would be of all rows.
    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Self::Break> {
        match table {
            TableFactor::Table {
                sample: Some(_), ..
            }
            | TableFactor::Derived {
                sample: Some(_), ..
            } => ControlFlow::Break((
                "TABLESAMPLE is not supported",
                "WHERE random() < 0.1 takes about every tenth row",
            )),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The parser takes everything after `IS DISTINCT FROM` as its right side:
    /// `a IS DISTINCT FROM b AND c` becomes `a IS DISTINCT FROM (b AND c)`. Written brackets stay a
    /// node of their own and are not found.
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        let (Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right)) = expr else {
            return ControlFlow::Continue(());
        };
        match right.as_ref() {
            Expr::BinaryOp {
                op: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor,
                ..
            } => ControlFlow::Break((
                "AND or OR behind IS DISTINCT FROM needs brackets",
                "write (a IS DISTINCT FROM b) AND c",
            )),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_operators_and_five_times_joins() {
        for (sql, steps) in [
            ("SELECT * FROM a", 0),
            ("SELECT a.*, count(*) FROM a -- a * b", 0),
            ("SELECT $x, 'a * b', -1.5", 1),
            ("SELECT a * b, (a) * $x, 2 * c", 3),
            ("SELECT a FROM b WHERE c = 1 AND NOT d IS NULL", 4),
            ("SELECT a FROM b JOIN c ON b.d = c.d", 6),
            ("SELECT a FROM b JOIN c USING (d, e)", 5),
            ("SELECT 1 UNION ALL SELECT 2", 5),
        ] {
            assert_eq!(MAX_STEPS - room(sql), steps, "{sql}");
        }
        assert_eq!(room(&"1 + ".repeat(MAX_STEPS + 1)), 0);
    }
}
