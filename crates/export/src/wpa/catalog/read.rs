//! Reader of the file with all graphs. Its first lines say which lines it may have.

use std::collections::BTreeMap;
use std::str::Split;
use std::sync::LazyLock;

use etwkit_questions::boot::PHASES_SQL;

use super::{Column, Graph, Join, Other, Time, Unfilled, ValueKind};
use crate::wpa::format::Unit;

const FILE: &str = include_str!("graphs.tsv");

/// Lines of the file with what its definitions stand for.
static TEXT: LazyLock<String> = LazyLock::new(|| without_definitions(FILE));

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::read(&TEXT));

/// All graphs, in the order of the documentation.
#[must_use]
pub fn graphs() -> &'static [Graph] {
    &CATALOG.graphs
}

/// Columns that every graph may have and that nothing fills, unless the graph fills them.
#[must_use]
pub fn everywhere() -> &'static [Unfilled] {
    &CATALOG.everywhere
}

/// Graphs of profiles that an extract has no rows for, by name.
#[must_use]
pub fn others() -> &'static [Other] {
    &CATALOG.others
}

/// Everything that the file declares.
#[derive(Default)]
struct Catalog {
    graphs: Vec<Graph>,
    everywhere: Vec<Unfilled>,
    others: Vec<Other>,
    /// Lines that cannot be read. The file is a part of the program, so a test looks for them.
    unread: Vec<&'static str>,
}

/// Fields of a line after its first word.
type Fields = Split<'static, char>;

impl Catalog {
    fn read(text: &'static str) -> Self {
        let mut catalog = Self::default();
        for line in text.lines() {
            if catalog.line(line).is_none() {
                catalog.unread.push(line);
            }
        }
        catalog
    }

    fn line(&mut self, line: &'static str) -> Option<()> {
        let mut fields = line.split('\t');
        match fields.next()? {
            "graph" => self.graphs.push(graph(&mut fields)?),
            "everywhere" => self.everywhere.push(unfilled(&mut fields)?),
            "other" => self.others.push(Other {
                name: fields.next()?,
                guid: fields.next()?,
                recorded_by: fields.next()?,
            }),
            word => self.graphs.last_mut()?.take(word, &mut fields)?,
        }
        fields.next().is_none().then_some(())
    }
}

impl Graph {
    /// Takes a line about the graph.
    fn take(&mut self, word: &str, fields: &mut Fields) -> Option<()> {
        match word {
            "element" => self.element = Some(fields.next()?),
            "rows" => self.rows = Some(rows(fields.next()?)),
            "only" => self.only = Some(fields.next()?),
            "span" => self.time = Time::Span(fields.next()?, fields.next()?),
            "join" => self.joins.push(Join {
                alias: fields.next()?,
                sql: fields.next()?,
            }),
            "column" => self.columns.push(column(fields)?),
            "means" => {
                let meaning = (fields.next()?, fields.next()?);
                self.columns.last_mut()?.means.push(meaning);
            }
            "unfilled" => self.unfilled.push(unfilled(fields)?),
            _ => return None,
        }
        Some(())
    }
}

fn graph(fields: &mut Fields) -> Option<Graph> {
    Some(Graph {
        name: fields.next()?,
        guid: guid(fields.next()?),
        table: fields.next()?,
        element: None,
        rows: None,
        only: None,
        joins: Vec::new(),
        time: Time::Moment("r.ts_ns"),
        columns: Vec::new(),
        unfilled: Vec::new(),
    })
}

fn column(fields: &mut Fields) -> Option<Column> {
    let name = fields.next()?;
    let guid = guid(fields.next()?);
    let kind = fields.next()?;
    let sql = fields.next()?;
    Some(Column {
        name,
        guid,
        sql,
        kind: kind_of(kind, fields)?,
        means: Vec::new(),
    })
}

fn kind_of(word: &str, fields: &mut Fields) -> Option<ValueKind> {
    Some(match word {
        "text" => ValueKind::Text,
        "process" => ValueKind::Process(fields.next()?),
        "number" => ValueKind::Number,
        "hex" => ValueKind::Hex,
        "moment" => ValueKind::Moment,
        "s" => ValueKind::Duration(Unit::Seconds),
        "ms" => ValueKind::Duration(Unit::Milliseconds),
        "us" => ValueKind::Duration(Unit::Microseconds),
        "bytes" => ValueKind::Bytes,
        "percent" => ValueKind::Percent,
        "stack" => ValueKind::Stack,
        _ => return None,
    })
}

fn unfilled(fields: &mut Fields) -> Option<Unfilled> {
    Some(Unfilled {
        name: fields.next()?,
        guid: fields.next()?,
        why: fields.next()?,
    })
}

fn guid(field: &'static str) -> Option<&'static str> {
    (field != "-").then_some(field)
}

/// Returns a SELECT of rows. The phases of a boot are those of `dump boot`, whose SQL is not
/// repeated in the file.
fn rows(field: &'static str) -> &'static str {
    if field == "boot_phases" {
        PHASES_SQL
    } else {
        field
    }
}

/// Returns the lines of a file without comments, with the definitions put in where lines use them.
fn without_definitions(file: &str) -> String {
    let mut definitions = BTreeMap::new();
    let mut text = String::new();
    for line in file.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Definitions use earlier ones, so that their lines are written out as well.
        let line = written_out(line, &definitions);
        match definition(&line) {
            Some((name, sql)) => {
                definitions.insert(name.to_owned(), sql.to_owned());
            }
            None => {
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    text
}

fn definition(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("define\t")?.split_once('\t')
}

/// Puts the definitions into a line. Braces around other words stay, such as those of parameters.
fn written_out(line: &str, definitions: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((call, end)) = after.split_once('}') else {
            text.push('{');
            rest = after;
            continue;
        };
        let mut words = call.split(' ');
        match words.next().and_then(|name| definitions.get(name)) {
            Some(sql) => text.push_str(&with_arguments(sql, words)),
            None => {
                text.push('{');
                text.push_str(call);
                text.push('}');
            }
        }
        rest = end;
    }
    text.push_str(rest);
    text
}

fn with_arguments<'w>(sql: &str, arguments: impl Iterator<Item = &'w str>) -> String {
    let mut sql = sql.to_owned();
    for (place, argument) in arguments.enumerate() {
        sql = sql.replace(&format!("{{{}}}", place + 1), argument);
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_read() {
        assert_eq!(CATALOG.unread, Vec::<&str>::new());
        assert_eq!(graphs().len(), 31);
        let columns: usize = graphs().iter().map(|graph| graph.columns.len()).sum();
        assert_eq!(columns, 511);
    }

    #[test]
    fn every_definition_that_a_line_uses_exists() {
        let left: Vec<&str> = TEXT.lines().filter(|line| line.contains('{')).collect();
        assert_eq!(left, Vec::<&str>::new());
    }

    #[test]
    fn definitions_are_put_into_lines_and_into_later_definitions() {
        let file = "define\tname\tcoalesce({1}.name, {2})\n\
                    define\ttwo\t{name p 'a'} || {1}\n\
                    join\t{two x} {other}\n";
        assert_eq!(
            without_definitions(file),
            "join\tcoalesce(p.name, 'a') || x {other}\n"
        );
    }

    #[test]
    fn a_line_with_a_field_too_many_or_too_few_is_not_read() {
        let lines = "other\tname\tguid\nother\tname\tguid\tsession\tmore\ncolumn\tof no graph\n";
        assert_eq!(Catalog::read(lines).unread.len(), 3);
    }
}
