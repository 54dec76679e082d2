//! Which statements are answered: those that ask, and none that changes something or touches a file.

use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::Statement as Sql;

use crate::{Error, Result, error};

/// Longest SQL text that is parsed; beyond, nested terms would outgrow the stacks of the engine.
const MAX_BYTES: usize = 1 << 20;

/// Parses one statement that asks something.
pub(crate) fn parse(sql: &str) -> Result<Statement> {
    if sql.len() > MAX_BYTES {
        return Err(Error::TooLong { bytes: sql.len(), limit: MAX_BYTES });
    }
    let parsed = DFParserBuilder::new(sql).build().and_then(|mut parser| parser.parse_statements());
    let mut statements = parsed.map_err(|e| error::from_planning(&e))?;
    let count = statements.len();
    match statements.pop_front() {
        Some(statement) if count == 1 => check(&statement).map(|()| statement),
        _ => Err(Error::Statements { count }),
    }
}

fn check(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Explain(explain) => check(&explain.statement),
        Statement::Statement(sql) if asks(sql) => Ok(()),
        other => {
            let text = other.to_string();
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(Error::Refused { found: words.join(" ") })
        }
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
