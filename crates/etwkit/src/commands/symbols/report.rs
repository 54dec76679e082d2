//! What became of symbols: which files were found where, and why others were not.

use std::path::Path;

use etwkit_extract::{NamedFile, Naming};
use etwkit_query::numbers::Numbers;
use etwkit_symbols::SearchPath;
use etwkit_symbols::search_path::{Element, Store};
use serde_json::json;

use crate::printer::{Align, Printer, Table};

/// Modules without a symbol file that are listed; more than these are seldom of interest.
const MAX_UNKNOWN: usize = 10;

pub(super) fn text(
    path: &Path,
    search: &SearchPath,
    naming: &Naming,
    numbers: Numbers,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    printer.file(&format!("Symbols of {}", path.display()))?;
    if let Some(why) = nowhere(search, naming) {
        return not_looked_for(path, &why, naming, numbers, printer);
    }
    for line in search_lines(search) {
        printer.line(&format!("  {line}"))?;
    }
    let right = Align::Right;
    let mut table = Table::new(&[
        ("module", Align::Left),
        ("symbol file", Align::Left),
        ("addresses", right),
        ("named", right),
        ("from, or why not", Align::Left),
    ]);
    for file in &naming.files {
        let from = file.source.clone().unwrap_or_else(|| reason(file));
        let (addresses, named) = (numbers.grouped(file.addresses as u64), numbers.grouped(file.named as u64));
        table.row([file.module.clone(), file.identity.to_string(), addresses, named, from]);
    }
    for (module, addresses) in naming.unknown.iter().take(MAX_UNKNOWN) {
        let why = "the trace does not tell which symbol file it has";
        table.row([
            module.clone(),
            String::new(),
            numbers.grouped(*addresses as u64),
            "0".to_owned(),
            why.to_owned(),
        ]);
    }
    printer.table(&table)?;
    if naming.unknown.len() > MAX_UNKNOWN {
        printer.line(&format!(
            "  … and {} more modules of which it does not",
            naming.unknown.len() - MAX_UNKNOWN
        ))?;
    }
    Ok(printer.line(&summary_line(naming, numbers))?)
}

/// Why there is no place to look at, where there is the same to say of each file.
fn nowhere(search: &SearchPath, naming: &Naming) -> Option<String> {
    let mut reasons = Vec::new();
    for element in search.elements() {
        let Element::Unusable { text, reason } = element else { return None };
        reasons.push(format!("{text}: {reason}"));
    }
    // A folder that came with the trace was looked into.
    let is_unused = |file: &NamedFile| file.source.is_none() && file.tried.len() <= reasons.len();
    let is_nowhere = !naming.files.is_empty() && naming.files.iter().all(is_unused);
    is_nowhere.then(|| if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) })
}

fn not_looked_for(
    path: &Path,
    why: &str,
    naming: &Naming,
    numbers: Numbers,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let addresses: usize = naming.files.iter().map(|file| file.addresses).sum();
    printer.line(&format!(
        "  no place to look for symbol files is named{why}; {} of them have names for {} native addresses",
        numbers.grouped(naming.files.len() as u64),
        numbers.grouped(addresses as u64)
    ))?;
    Ok(printer.labelled(&format!("hint: etwkit symbols load --symbols MS {}", path.display()))?)
}

/// `12 of 40 symbol files found, 1 234 of 2 000 addresses have names`.
pub(crate) fn summary_line(naming: &Naming, numbers: Numbers) -> String {
    let named: usize = naming.files.iter().map(|file| file.named).sum();
    let known: usize = naming.files.iter().map(|file| file.addresses).sum();
    let unknown: usize = naming.unknown.iter().map(|(_, addresses)| addresses).sum();
    format!(
        "{} of {} symbol files found, {} of {} native addresses have names",
        naming.found(),
        naming.files.len(),
        numbers.grouped(named as u64),
        numbers.grouped((known + unknown) as u64)
    )
}

fn reason(file: &NamedFile) -> String {
    let tried = file.tried.iter().map(|attempt| format!("{}: {}", attempt.place, attempt.reason));
    let tried = tried.collect::<Vec<_>>().join("; ");
    if tried.is_empty() { "no place to look for it is known".to_owned() } else { tried }
}

fn search_lines(search: &SearchPath) -> Vec<String> {
    let store = |store: &Store| match store {
        Store::Folder(folder) => folder.display().to_string(),
        Store::Server(url) => url.clone(),
    };
    let line = |element: &Element| match element {
        Element::Folder(folder) | Element::Beside(folder) => format!("folder  {}", folder.display()),
        Element::Chain(stores) => {
            format!("store   {}", stores.iter().map(store).collect::<Vec<_>>().join(" ← "))
        }
        Element::Unusable { text, reason } => format!("unused  {text}: {reason}"),
    };
    let lines: Vec<String> = search.elements().iter().map(line).collect();
    if lines.is_empty() {
        vec!["no place is named: use --symbols or _NT_SYMBOL_PATH".to_owned()]
    } else {
        lines
    }
}

pub(super) fn json(path: &Path, naming: &Naming, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    for file in &naming.files {
        let tried =
            |attempt: &etwkit_symbols::Attempt| json!({"place": attempt.place, "reason": attempt.reason});
        printer.json(&json!({
            "extract": path,
            "module": file.module,
            "pdb_name": file.identity.name(),
            "pdb_guid": file.identity.guid().to_string(),
            "pdb_age": file.identity.age(),
            "addresses": file.addresses,
            "named": file.named,
            "source": file.source,
            "tried": file.tried.iter().map(tried).collect::<Vec<_>>(),
        }))?;
    }
    for (module, addresses) in &naming.unknown {
        printer.json(&json!({"extract": path, "module": module, "addresses": addresses, "named": 0}))?;
    }
    Ok(())
}
