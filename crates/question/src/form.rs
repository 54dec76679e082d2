//! The execution of a request: its SQL, the recording that it needs, and the answer made of its
//! rows.

use super::answer::Answer;
use super::fields;
use super::view::View;
use crate::group::Top;
use crate::rows::Field;
use crate::{FromRows, Recorded, Result, ask};
use etwkit_sql::Session;
use serde::Serialize;

/// The column of the names of tables.
const TABLE: Field = Field::new("table", "Table that the row is of", "string", false);

/// Makes an answer of a request.
type Make<Q> = Box<dyn Fn(&Form<Q>, &Q, &Session) -> Result<Answer>>;

/// Declares the aggregation and the good direction of columns of JSON and CSV.
type Describe<Q> = Box<dyn Fn(&Q, &mut [Field])>;

/// The execution of a request with its options. The SQL that is shown, the columns of JSON and CSV,
/// and the answer come from it.
#[must_use]
pub struct Form<Q> {
    /// The SQL, runnable as it is.
    pub sql: String,
    /// The columns of the rows of its answer in JSON and CSV, in order.
    pub fields: Vec<Field>,
    /// Number of rows, largest first.
    pub top: Top,
    recorded: Option<(&'static Recorded, bool)>,
    describe: Vec<Describe<Q>>,
    answer: Make<Q>,
}

impl<Q: Clone + Send + Sync + 'static> Form<Q> {
    /// Creates a form that shows the largest rows of the SQL in a view.
    pub fn rows<R: FromRows + Serialize + Send + 'static>(
        view: &'static View<Q, R>,
        sql: String,
    ) -> Self {
        Self::of(sql, move |asked, _, rows| {
            Ok(Answer::rows(asked, view, rows))
        })
        .shows(view)
    }

    /// Creates a form whose answer is made of the largest rows of the SQL.
    pub fn of<R: FromRows>(
        sql: String,
        answer: impl Fn(&Q, &Session, Vec<R>) -> Result<Answer> + 'static,
    ) -> Self {
        Self {
            answer: Box::new(move |form, asked, session| {
                answer(asked, session, form.ask(session)?)
            }),
            ..Self::made::<R>(sql, |_, _| Ok(Answer::report([])))
        }
    }

    /// Creates a form with rows of this type whose answer takes more than one query.
    pub fn made<R: FromRows>(
        sql: String,
        answer: impl Fn(&Q, &Session) -> Result<Answer> + 'static,
    ) -> Self {
        Self::asking(sql, fields::<R>(), answer)
    }

    fn asking(
        sql: String,
        fields: Vec<Field>,
        answer: impl Fn(&Q, &Session) -> Result<Answer> + 'static,
    ) -> Self {
        let answer: Make<Q> = Box::new(move |form, asked, session| {
            form.check(session)?;
            answer(asked, session)
        });
        Self {
            sql,
            fields,
            top: Top::default(),
            recorded: None,
            describe: Vec::new(),
            answer,
        }
    }

    /// Creates a form of a report: several tables with rows of different types. Its columns are the
    /// name of the table and the columns of all tables, each once.
    pub fn report(
        sql: String,
        columns: impl IntoIterator<Item = Field>,
        answer: impl Fn(&Q, &Session) -> Result<Answer> + 'static,
    ) -> Self {
        let mut all = vec![TABLE];
        // Tables share columns such as `process_key`, and a schema has each name once.
        for field in columns {
            if all.iter().all(|known| known.name != field.name) {
                all.push(field);
            }
        }
        Self::asking(sql, all, answer)
    }

    /// Adds columns after the columns of the row type.
    pub fn with_fields(mut self, more: Vec<Field>) -> Self {
        self.fields.extend(more);
        self
    }

    /// Sets the view of its rows, whose columns declare their aggregation and their good direction.
    pub fn shows<R: FromRows + 'static>(self, view: &'static View<Q, R>) -> Self {
        self.shows_as(view, |row: R| row)
    }

    /// Sets a view of values made of its rows.
    pub fn shows_as<F: FromRows + 'static, R>(
        self,
        view: &'static View<Q, R>,
        shown: fn(F) -> R,
    ) -> Self {
        self.describing(move |asked, fields| view.describe(asked, shown, fields))
    }

    /// Adds a function that declares the aggregation and the good direction of columns.
    pub fn describing(mut self, describe: impl Fn(&Q, &mut [Field]) + 'static) -> Self {
        self.describe.push(Box::new(describe));
        self
    }

    /// Returns the columns of JSON and CSV, with the additions of its views.
    #[must_use]
    pub fn fields_of(self, asked: &Q) -> Vec<Field> {
        let mut fields = self.fields;
        self.describe
            .iter()
            .for_each(|describe| describe(asked, &mut fields));
        fields
    }

    /// Declares the recording that it needs, and whether it needs single rows.
    pub fn needs(self, recorded: &'static Recorded, single_rows: bool) -> Self {
        Self {
            recorded: Some((recorded, single_rows)),
            ..self
        }
    }

    /// Limits the answer to the largest rows; the default is all.
    pub fn top(self, top: Top) -> Self {
        Self { top, ..self }
    }

    /// Checks that the data it needs was recorded.
    ///
    /// # Errors
    /// It was not; single rows are needed, and the extract has none.
    pub fn check(&self, session: &Session) -> Result<()> {
        self.recorded.map_or(Ok(()), |(recorded, single_rows)| {
            recorded.check(session, single_rows)
        })
    }

    /// Queries the largest rows of the SQL.
    ///
    /// # Errors
    /// The errors of [`Self::check`]; the query fails.
    pub fn ask<R: FromRows>(&self, session: &Session) -> Result<Vec<R>> {
        self.check(session)?;
        let mut rows = ask(session, &self.sql)?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Returns the answer to its request.
    ///
    /// # Errors
    /// The errors of [`Self::ask`].
    pub fn answer(&self, asked: &Q, session: &Session) -> Result<Answer> {
        (self.answer)(self, asked, session)
    }
}
