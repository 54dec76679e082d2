//! Cells against the fields of the rows that they read.

use etwkit_question::rows::Field;
use serde_json::{Value, json};

use super::of;
use crate::csv::cell::Cell::{self, *};
use crate::tables::DUMPS;

/// Types of a column, as schemas name them.
type Types = &'static [&'static str];

const WHOLE: Types = &["integer"];
const NUMBER: Types = &["integer", "number"];
const TEXT: Types = &["string"];
const TRUTH: Types = &["boolean"];
const ANY: Types = &["integer", "number", "string", "boolean"];

/// Sub commands, with the options that files of rows have.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("cpu", json!({})),
        ("cpu", json!({"methods": "*"})),
        ("process", json!({})),
        ("disk", json!({})),
        ("file", json!({})),
        ("version", json!({})),
        ("version", json!({"missing-pdb": "*"})),
        ("version", json!({"marked": "*"})),
        ("stats", json!({})),
        ("pmc", json!({})),
        ("lbr", json!({})),
        ("dns", json!({"details": true})),
        ("tcp", json!({})),
        ("tcp", json!({"details": true, "show-retransmit": true})),
        ("exception", json!({"sort-by": "time"})),
        ("mark", json!({})),
        ("thread-pool", json!({})),
        ("tracelog", json!({"by": "event"})),
        ("memory", json!({})),
        ("objectref", json!({"show-ref": true})),
        ("virtual-alloc", json!({})),
        ("virtual-alloc", json!({"events": true, "show-stack": true})),
        ("power", json!({})),
    ]
}

/// The declared fields of the rows of a request.
fn fields(dump: &str, options: &Value) -> Vec<Field> {
    let question = etwkit_questions::QUESTIONS
        .iter()
        .find(|question| question.name() == dump || question.aliases().contains(&dump))
        .unwrap();
    let request = question.read(options.as_object().unwrap()).unwrap();
    request.fields()
}

/// The columns that a cell reads and that rows have to have, with the types that it can read.
fn reads(cell: Cell) -> Vec<(&'static str, Types)> {
    match cell {
        Is(name) => vec![(name, ANY)],
        OrZero(name)
        | More(name, _)
        | Has(name)
        | Ms(name)
        | Us(name)
        | Seconds(name)
        | S(name)
        | Moment(name)
        | CallTime(name, _)
        | Minutes(name)
        | Time(name)
        | Mib(name)
        | ReturnCode(name) => vec![(name, WHOLE)],
        UsOfBoth(one, other) | Between(one, other) | Percent(one, other) | Rate(one, other) => {
            vec![(one, WHOLE), (other, WHOLE)]
        }
        Mebi(name) | Rounded(name) => vec![(name, NUMBER)],
        Depth(cost, depth) => vec![(cost, WHOLE), (depth, NUMBER)],
        Bool(name) => vec![(name, TRUTH)],
        If(name, cell) => [vec![(name, TRUTH)], reads(*cell)].concat(),
        Once(cell) => reads(*cell),
        Either(one, other) => vec![(one, TEXT), (other, TEXT)],
        Equals(name, _)
        | Named(name, _)
        | FileAtLevel(name)
        | FolderAtLevel(name)
        | FolderTo(name)
        | FolderOf(name)
        | NameOf(name)
        | Arguments(name)
        | Frames(name)
        | Module(name) => vec![(name, TEXT)],
        Process(name, id) => vec![(name, TEXT), (id, WHOLE)],
        Stack(id, frames) => vec![(id, WHOLE), (frames, TEXT)],
        Driver(path) => vec![
            (path, TEXT),
            ("driver_vendor", TEXT),
            ("driver_category", TEXT),
        ],
        References => vec![("event", TEXT), ("count", WHOLE)],
        Lifetime => vec![("lifetime_ns", WHOLE), ("destroyed_ns", WHOLE)],
        // Of the line, of the trace, or of columns that a row may lack.
        Line | TestCase | TestTime | FileName | Source | Directory | Baseline | Machine | Date
        | Maybe(_) | Facts(..) | Setting(_) | SchemeName(_) | SchemeGuid(_) | Empty => Vec::new(),
    }
}

#[test]
fn cells_read_columns_that_rows_have_with_their_types() {
    for (dump, options) in requests() {
        let fields = fields(dump, &options);
        let columns = of(dump, &fields).unwrap().iter().copied().flatten();
        for (name, types) in columns.flat_map(|(_, cell)| reads(*cell)) {
            let field = fields.iter().find(|field| field.name == name);
            let kind = field.map(|field| field.kind);
            assert!(
                kind.is_some_and(|kind| types.contains(&kind)),
                "{dump} {options}: {name} is {kind:?}"
            );
        }
    }
}

#[test]
fn all_files_are_checked() {
    let has_file = |dump: &&str| of(dump, &[]).is_some();
    for dump in DUMPS.iter().map(|dump| dump.native).filter(has_file) {
        let is_checked = requests().iter().any(|(checked, _)| *checked == dump);
        assert!(is_checked, "{dump}");
    }
}
