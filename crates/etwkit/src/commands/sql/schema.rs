//! `--show-schema`: the tables, or the columns of one.

use anyhow::bail;
use etwkit_query::{reference, tables};

use crate::exit::Exit;
use crate::printer::{Align, Printer, Table};

pub(super) fn show(name: &str, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let first = |doc: &str| doc.lines().next().unwrap_or_default().trim().to_owned();
    if name.is_empty() {
        let mut list = Table::new(&[("table", Align::Left), ("a row is", Align::Left)]);
        tables().for_each(|table| list.row([table.name.to_owned(), first(table.doc)]));
        printer.table(&list)?;
        return Ok(Exit::Answered);
    }
    let Some(table) = tables().find(|table| table.name == name) else {
        let names: Vec<&str> = tables().map(|table| table.name).collect();
        bail!("there is no table {name}; there are: {}", names.join(", "));
    };
    printer.heading(&format!("{}: {}", table.name, first(table.doc)))?;
    let columns = [("column", Align::Left), ("type", Align::Left), ("unit", Align::Left), ("", Align::Left)];
    let mut list = Table::new(&columns);
    for column in table.columns {
        let doc = column.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        list.row([column.name.to_owned(), reference::type_text(column), column.unit.to_owned(), doc]);
    }
    printer.table(&list)?;
    Ok(Exit::Answered)
}
