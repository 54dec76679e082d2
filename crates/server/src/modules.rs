//! Modules of processes, level by level.

use etwkit_sql::literal::quoted;

use crate::api::Call;
use crate::cells::{asked, count_at, key, sum_at, text_at, text_or_empty, whole};
use crate::problem::{Problem, Result};
use crate::select::{Selected, like, select};
use crate::tables;
use crate::wire::{
    Cell, Chip, Field, ModuleOn, ModulesAnswer, ModulesOf, ModulesRequest, Selection, Source,
};

/// Largest number of rows in an answer.
const MOST_ROWS: u32 = 1_000;
/// Longest search text.
const LONGEST_FIND: usize = 200;

pub(crate) fn modules(call: &Call<'_>, request: &ModulesRequest) -> Result<ModulesAnswer> {
    if request.limit == 0 || request.limit > MOST_ROWS || request.find.len() > LONGEST_FIND {
        return Err(Problem::bad(format!(
            "expected a limit from 1 to {MOST_ROWS}, and {LONGEST_FIND} letters to look for at most"
        )));
    }
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    // Here a module is compared with the module itself, not with frames of a stack.
    let (own, chips) = request
        .selection
        .chips
        .iter()
        .cloned()
        .partition(|chip| chip.field == Field::Module);
    let mut selected = select(
        &session,
        tables::table("module")?,
        &Selection { range: None, chips },
    )?;
    narrow(&mut selected, request, &own);
    let sql = match request.of {
        None => owners_sql(&selected, request.limit),
        Some(_) => modules_sql(&selected, request.limit),
    };
    let rows = asked(&session, &sql, request.limit as usize)?.rows;
    // Each row has the number of all: without rows there are none.
    let total = rows.first().map_or(Ok(0), |row| count_at(row, 0))?;
    let mut owners = Vec::new();
    let mut modules = Vec::new();
    for row in &rows {
        match request.of {
            None => owners.push(owner(row)?),
            Some(_) => modules.push(module(row)?),
        }
    }
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, sql, total)
    };
    Ok(ModulesAnswer {
        owners,
        modules,
        total,
        source,
    })
}

/// Restricts rows to modules that were loaded in the range, match the text, and belong to the
/// requested process.
fn narrow(selected: &mut Selected, request: &ModulesRequest, own: &[Chip]) {
    for chip in own {
        let names: Vec<String> = chip
            .values
            .iter()
            .map(|name| quoted(&name.to_lowercase()))
            .collect();
        let names = if names.is_empty() {
            "''".to_owned()
        } else {
            names.join(", ")
        };
        let not = if chip.exclude { "NOT " } else { "" };
        // Names of modules are compared regardless of case, like names of files on Windows.
        selected.and(format!("lower(t.name) {not}IN ({names})"));
    }
    // A module without a load time was loaded from the start, one without an unload time until the
    // end.
    if let Some(range) = request.selection.range {
        let a = range.from_ns;
        let b = range.to_ns;
        selected.and(format!(
            "coalesce(t.load_ns < {b}, true) AND coalesce(t.unload_ns > {a}, true)"
        ));
    }
    if !request.find.is_empty() {
        selected.and(format!(
            "lower(t.path) LIKE {} ESCAPE '\\'",
            like(&request.find.to_lowercase())
        ));
    }
    match request.of.map(|of| of.process_key) {
        Some(Some(key)) => selected.and(format!("t.process_key = {key}")),
        Some(None) => selected.and("t.process_key IS NULL"),
        None => {}
    }
}

fn owners_sql(selected: &Selected, limit: u32) -> String {
    format!(
        // Grouped before names are joined: there are many modules and few processes.
        "WITH g AS (SELECT t.process_key, count(*) AS modules, sum(t.size) AS size_bytes, \
         count(t.function_count) AS with_symbols FROM module t{} GROUP BY t.process_key) \
         SELECT count(*) OVER () AS total, g.process_key, \
         CASE WHEN g.process_key IS NULL THEN 'Kernel and drivers' ELSE {} END AS label, \
         g.modules, g.size_bytes, g.with_symbols FROM g LEFT JOIN process p ON p.process_key = g.process_key \
         ORDER BY g.process_key IS NULL DESC, lower(label), g.process_key LIMIT {limit}",
        selected.sql(),
        tables::process_label("p")
    )
}

fn modules_sql(selected: &Selected, limit: u32) -> String {
    format!(
        "SELECT count(*) OVER () AS total, t.module_id, t.name, t.path, t.file_version, t.company, \
         t.size, t.load_ns, \
         t.unload_ns, t.pdb_guid IS NOT NULL AS has_identity, t.function_count FROM module t{} \
         ORDER BY lower(t.name), t.module_id LIMIT {limit}",
        selected.sql()
    )
}

fn owner(row: &[Cell]) -> Result<ModulesOf> {
    Ok(ModulesOf {
        process_key: row.get(1).and_then(key),
        label: text_or_empty(row, 2),
        modules: count_at(row, 3)?,
        size_bytes: sum_at(row, 4)?,
        with_symbols: count_at(row, 5)?,
    })
}

fn module(row: &[Cell]) -> Result<ModuleOn> {
    Ok(ModuleOn {
        module_id: row
            .get(1)
            .and_then(key)
            .ok_or_else(|| Problem::lacking("the key of a module"))?,
        name: text_or_empty(row, 2),
        path: text_or_empty(row, 3),
        version: text_at(row, 4),
        company: text_at(row, 5),
        size_bytes: sum_at(row, 6)?,
        load_ns: row.get(7).and_then(whole),
        unload_ns: row.get(8).and_then(whole),
        has_identity: matches!(row.get(9), Some(Cell::Flag(true))),
        functions: row.get(10).and_then(key),
    })
}
