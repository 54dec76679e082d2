//! Columns of tables for the page: the declared ones, and names in place of keys.

use etwkit_sql::Session;
use etwkit_trace::table::{Column, ColumnKind, Table};

use crate::problem::{Problem, Result};
use crate::schema;
use crate::tags;
use crate::titles;
use crate::wire::ColumnInfo;

/// A column that requests can name.
pub(crate) struct NamedColumn {
    /// Its name in requests.
    pub(crate) name: String,
    how: How,
}

/// The source of a column's values.
#[derive(Clone, Copy)]
enum How {
    /// The table itself.
    Declared(&'static Column),
    /// The name of a process, from a column with its key.
    Process(&'static Column),
    /// The name of a thread.
    Thread(&'static Column),
    /// The stack tag of a stack.
    Tag(&'static Column),
    /// The stack itself, as a group.
    Stack(&'static Column),
    /// The frames of the stack from the outermost one inward, with a group for each.
    Frames(&'static Column),
}

/// Returns all columns of a table.
pub(crate) fn columns(table: &'static Table) -> Vec<NamedColumn> {
    let shown = |column: &'static Column| NamedColumn {
        name: column.name.to_owned(),
        how: How::Declared(column),
    };
    let mut all: Vec<NamedColumn> = table.columns.iter().map(shown).collect();
    for column in table.columns {
        let process = column.name.strip_suffix("process_key");
        let thread = column.name.strip_suffix("thread_key");
        // Keys mean nothing to people, so each column of keys adds a column with names.
        let joined = match (process, thread, column.name.strip_suffix("stack_id")) {
            (Some(front), _, _) => vec![(format!("{front}process"), How::Process(column))],
            (_, Some(front), _) => vec![(format!("{front}thread"), How::Thread(column))],
            (_, _, Some(front)) => vec![
                (format!("{front}tag"), How::Tag(column)),
                (format!("{front}stack"), How::Stack(column)),
                (format!("{front}frames"), How::Frames(column)),
            ],
            _ => Vec::new(),
        };
        for (name, how) in joined {
            // A declared column keeps its name: a table may have a column `process` of its own.
            if all.iter().all(|known| known.name != name) {
                all.push(NamedColumn { name, how });
            }
        }
    }
    all
}

/// Returns the table of that name.
pub(crate) fn table(name: &str) -> Result<&'static Table> {
    etwkit_sql::tables()
        .find(|table| table.name == name)
        .ok_or_else(|| {
            Problem::not_found(format!("there is no table {name:?}"))
                .with_hint("`schema` lists them")
        })
}

/// Returns the column of that name.
pub(crate) fn column(table: &'static Table, name: &str) -> Result<NamedColumn> {
    columns(table)
        .into_iter()
        .find(|column| column.name == name)
        .ok_or_else(|| {
            Problem::bad(format!("the table {} has no column {name:?}", table.name))
                .with_hint("`schema` lists them")
        })
}

impl NamedColumn {
    /// Returns the description of the column for the page.
    pub(crate) fn info(&self) -> ColumnInfo {
        let sentence = match self.how {
            How::Declared(column) => return schema::column(column),
            How::Process(column) => format!("Name and id of the process of `{}`.", column.name),
            How::Thread(column) => {
                format!("Id of the thread of `{}`, and its process.", column.name)
            }
            How::Tag(_) => "Stack tag by the rules of the set `default`.".to_owned(),
            How::Stack(_) => "The stack: its innermost frame and the callers of it.".to_owned(),
            How::Frames(_) => {
                "The stack from its outermost frame inward: groups unfold frame by frame."
                    .to_owned()
            }
        };
        let (title, unit) = match self
            .name
            .strip_suffix("frames")
            .filter(|_| self.is_frames())
        {
            Some(front) => (
                format!(
                    "{} from the root",
                    titles::of_name(&format!("{front}stack"))
                ),
                "frames",
            ),
            None => (titles::of_name(&self.name), "text"),
        };
        ColumnInfo {
            name: self.name.clone(),
            title,
            unit: unit.to_owned(),
            sentence,
            can_group: true,
            can_sum: false,
        }
    }

    /// Returns the declared column, if it is one.
    pub(crate) const fn declared(&self) -> Option<&'static Column> {
        match self.how {
            How::Declared(column) => Some(column),
            _ => None,
        }
    }

    /// Returns the grouping key, as an expression on the table `t`. Keys differ even if names are
    /// equal.
    pub(crate) fn group(&self, session: &Session) -> String {
        match self.how {
            How::Declared(column)
            | How::Process(column)
            | How::Thread(column)
            | How::Stack(column) => {
                format!("t.{}", column.name)
            }
            How::Tag(column) => tags::expression(session, &format!("t.{}", column.name)),
            How::Frames(_) => self.root(1),
        }
    }

    /// Returns the expression for the outermost `frames` frames of a column of frames.
    pub(crate) fn root(&self, frames: u32) -> String {
        let (How::Declared(column)
        | How::Process(column)
        | How::Thread(column)
        | How::Tag(column)
        | How::Stack(column)
        | How::Frames(column)) = self.how;
        format!("stack_root(t.{}, {frames})", column.name)
    }

    /// Type of [`Self::group`].
    pub(crate) const fn kind(&self) -> ColumnKind {
        match self.how {
            How::Declared(column) => column.kind,
            How::Process(_) | How::Thread(_) | How::Stack(_) | How::Frames(_) => ColumnKind::Int32,
            How::Tag(_) => ColumnKind::Text,
        }
    }

    /// True if groups are whole stacks.
    pub(crate) const fn is_stack(&self) -> bool {
        matches!(self.how, How::Stack(_))
    }

    /// True if groups are frames, from the outermost inward.
    pub(crate) const fn is_frames(&self) -> bool {
        matches!(self.how, How::Frames(_))
    }

    /// Returns the label of a value and the joins that it needs, for the expression of the value
    /// and a number that makes the names of joins unique.
    pub(crate) fn label(&self, value: &str, number: usize) -> (String, String) {
        let process = format!("p{number}");
        let thread = format!("h{number}");
        match self.how {
            How::Process(_) => (
                named(&process),
                format!(" LEFT JOIN process {process} ON {process}.process_key = {value}"),
            ),
            How::Thread(_) => (
                format!(
                    "CASE WHEN {thread}.tid IS NOT NULL THEN {} END",
                    thread_label(&thread, &process)
                ),
                format!(
                    " LEFT JOIN thread {thread} ON {thread}.thread_key = {value} \
                     LEFT JOIN process {process} ON {process}.process_key = {thread}.process_key"
                ),
            ),
            _ => (value.to_owned(), String::new()),
        }
    }
}

/// Returns the expression for the name and id of a process that may be unknown.
fn named(process: &str) -> String {
    format!(
        "CASE WHEN {process}.pid IS NOT NULL THEN {} END",
        process_label(process)
    )
}

/// Returns the expression for the label of a process, for the given name of the table in the
/// statement.
pub(crate) fn process_label(process: &str) -> String {
    format!("concat(coalesce({process}.name, '?'), ' (', {process}.pid, ')')")
}

/// Returns the expression for the label of a thread, `cmd.exe (4711) thread 4712` as in all answers:
/// `concat` leaves out null parts.
pub(crate) fn thread_label(thread: &str, process: &str) -> String {
    format!(
        "concat(coalesce({process}.name, '?'), ' (' || {process}.pid || ')', ' thread ', {thread}.tid)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names_beside_them() {
        let names = |name: &str| -> Vec<String> {
            let of = columns(table(name).unwrap());
            of.into_iter()
                .filter(|column| column.declared().is_none())
                .map(|column| column.name)
                .collect()
        };
        assert_eq!(
            names("cpu_sample"),
            ["process", "thread", "tag", "stack", "frames"]
        );
        assert!(names("context_switch").contains(&"readying_frames".to_owned()));
        assert_eq!(names("cpu_tag"), ["process"]);
        assert!(names("alpc").contains(&"sender_process".to_owned()));
        assert!(table("process; DROP").is_err());
        assert!(column(table("cpu_sample").unwrap(), "ts_ns; --").is_err());
    }

    #[test]
    fn names_of_columns_need_no_quotes_in_sql() {
        let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
        for column in etwkit_sql::tables().flat_map(columns) {
            let name = column.name;
            assert!(name.chars().all(is_plain), "{name}");
        }
    }
}
