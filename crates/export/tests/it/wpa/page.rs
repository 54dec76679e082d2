//! The page about the graphs that can be written, which is generated from the declarations.

use std::fmt::Write as _;
use std::path::Path;

use etwkit_export::wpa::catalog::{ValueKind, everywhere, graphs, others};
use etwkit_export::wpa::{Does, OPTIONS, SHIPPED};

const HEAD: &str = include_str!("page_head.md");

#[test]
fn the_page_says_what_the_declarations_say() {
    let mut page = HEAD.to_owned();
    page.push_str("## Profiles of our own\n\n| `--profile` | what it shows |\n|---|---|\n");
    for shipped in SHIPPED {
        writeln!(page, "| `{}` | {} |", shipped.name, shipped.sentence).unwrap();
    }
    page.push_str("\n## Options of wpaexporter\n\n| option | what becomes of it |\n|---|---|\n");
    for option in OPTIONS {
        let names: Vec<String> = option
            .names
            .iter()
            .map(|name| format!("`-{name}`"))
            .collect();
        let does = match option.does {
            Does::Ours(what) => what.to_owned(),
            Does::Nothing(why) => format!("changes nothing: {why}"),
            Does::Refused(why) => format!("refused: {why}"),
        };
        writeln!(page, "| {} | {does} |", names.join(", ")).unwrap();
    }
    page.push_str("\n## Graphs and columns\n\nIn the SQL, `r` is a row of the table.\n");
    for graph in graphs() {
        let guid = graph
            .guid
            .map_or("known by its name alone".to_owned(), |guid| {
                format!("`{guid}`")
            });
        writeln!(
            page,
            "\n### {}\n\n{guid}, from table `{}`\n\n| column | GUID | what it is |\n|---|---|---|",
            graph.name, graph.table
        )
        .unwrap();
        for column in &graph.columns {
            let unit = match column.kind {
                ValueKind::Moment => " (s)".to_owned(),
                ValueKind::Duration(unit) => format!(" ({})", unit.word()),
                ValueKind::Bytes => " (B)".to_owned(),
                _ => String::new(),
            };
            let name = if column.name.ends_with(&unit) {
                column.name.to_owned()
            } else {
                format!("{}{unit}", column.name)
            };
            let sql = match column.kind {
                ValueKind::Process(_) => "a process as `name (pid)`".to_owned(),
                ValueKind::Percent => format!("percent of all processors: `{}`", column.sql),
                _ => format!("`{}`", column.sql.replace('|', "\\|")),
            };
            writeln!(page, "| {name} | {} | {sql} |", column.guid.unwrap_or("")).unwrap();
        }
        for column in &graph.unfilled {
            writeln!(
                page,
                "| {} | {} | not in extracts: {} |",
                column.name, column.guid, column.why
            )
            .unwrap();
        }
    }
    page.push_str(
        "\n## Columns of any graph that nothing fills\n\nUnless the graph has them above.\n\n\
         | column | GUID | why |\n|---|---|---|\n",
    );
    for column in everywhere() {
        writeln!(
            page,
            "| {} | {} | {} |",
            column.name, column.guid, column.why
        )
        .unwrap();
    }
    page.push_str(
        "\n## Graphs that are not modelled\n\nA profile that shows one of them gets a line that says so. \
         Extracts have no rows for them, even if the trace has their events.\n\n| graph | GUID | what records it |\n|---|---|---|\n",
    );
    for other in others() {
        writeln!(
            page,
            "| {} | {} | {} |",
            other.name, other.guid, other.recorded_by
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wpaexporter.md");
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == page,
        "docs/wpaexporter.md is out of date; ETWKIT_BLESS=1 writes it"
    );
}
