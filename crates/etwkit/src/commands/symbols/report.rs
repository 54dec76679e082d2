//! Outcome of loading symbols: the files that were found and their sources, and the reasons for the
//! others.

use std::path::Path;

use etwkit_base::shell::quoted_pattern;
use etwkit_extract::{DotnetCode, NamedFile, Naming, UnknownFile, attempts};
use etwkit_question::numbers::Numbers;
use etwkit_symbols::search_path::{Element, Store};
use etwkit_symbols::{Attempt, Identity, ImageIdentity, SearchPath};
use etwkit_terminal::Table;
use serde_json::json;

use crate::printer::Printer;

/// Number of modules without a symbol file that are listed; further ones are seldom of interest.
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
    let servers = servers_without_connection(search, naming);
    let is_only_there = |file: &&NamedFile| {
        file.source.is_none()
            && !file.tried.is_empty()
            && file.tried.iter().all(|attempt| servers.contains(&attempt))
    };
    let files = naming.files.iter().filter(|file| !is_only_there(file));
    let rows = files.map(|file| row_of_file(file, &servers, numbers));
    let unknown = naming.unknown.iter().take(MAX_UNKNOWN);
    let rows = rows.chain(unknown.map(|file| row_of_unknown(file, numbers)));
    let rows: Vec<[String; 5]> = rows.collect();
    if !rows.is_empty() {
        printer.table(&Table::of(
            "module|symbol file|addresses>|named>|from, or why not",
            rows,
        ))?;
    }
    for server in &servers {
        printer.line(&server_line(server, naming, numbers))?;
    }
    if naming.unknown.len() > MAX_UNKNOWN {
        printer.line(&format!(
            "  … and {} more modules whose symbol files are not known",
            naming.unknown.len() - MAX_UNKNOWN
        ))?;
    }
    printer.line(&summary_line(naming, numbers))?;
    for line in without_lines(naming.dotnet, numbers) {
        printer.line(&line)?;
    }
    if !servers.is_empty() {
        printer.labelled(&format!(
            "hint: HTTPS_PROXY names a proxy; without a network, copy symbol files from another \
             computer: etwkit symbols load --symbols FOLDER {}",
            quoted_pattern(&path.display().to_string())
        ))?;
    }
    Ok(())
}

/// Returns the row of a symbol file that was looked for.
fn row_of_file(file: &NamedFile, servers: &[&Attempt], numbers: Numbers) -> [String; 5] {
    let from = match file.source_and_faults() {
        Some(source) => source + &lines_of(file, numbers),
        None => reason(file, servers),
    };
    let identity = file.identity.as_ref();
    let image = file.image_source.as_ref();
    let by = image.map_or_else(String::new, |image| format!("; named by {image}"));
    [
        file.module.clone(),
        identity.map_or_else(String::new, ToString::to_string),
        numbers.grouped(file.addresses as u64),
        numbers.grouped(file.named as u64),
        format!("{from}{by}"),
    ]
}

/// Returns the row of a module whose symbol file is not known.
fn row_of_unknown(file: &UnknownFile, numbers: Numbers) -> [String; 5] {
    [
        file.module.clone(),
        String::new(),
        numbers.grouped(file.addresses as u64),
        "0".to_owned(),
        file.reason(),
    ]
}

/// Returns the failed attempts at servers that did not answer, each once. They are the same for
/// each symbol file.
fn servers_without_connection<'n>(search: &SearchPath, naming: &'n Naming) -> Vec<&'n Attempt> {
    let stores = search
        .elements()
        .iter()
        .filter_map(|element| match element {
            Element::Chain(stores) => Some(stores),
            _ => None,
        });
    let urls: Vec<&str> = stores
        .flatten()
        .filter_map(|store| match store {
            Store::Server(url) => Some(url.as_str()),
            Store::Folder(_) => None,
        })
        .collect();
    // The other reasons that a server as a whole has: it answered.
    let is_down = |attempt: &&Attempt| {
        urls.contains(&attempt.place.as_str()) && attempt.reason != etwkit_symbols::NOT_THERE
    };
    let mut servers: Vec<&Attempt> = Vec::new();
    for attempt in naming
        .files
        .iter()
        .flat_map(|file| &file.tried)
        .filter(is_down)
    {
        if !servers.contains(&attempt) {
            servers.push(attempt);
        }
    }
    servers
}

/// `27 modules: https://…: io: failed to lookup address information`.
fn server_line(server: &Attempt, naming: &Naming, numbers: Numbers) -> String {
    let files = naming.files.iter();
    let modules = files.filter(|file| file.tried.contains(server)).count();
    let noun = if modules == 1 { "module" } else { "modules" };
    format!(
        "  {} {noun}: {}: {}",
        numbers.grouped(modules as u64),
        server.place,
        server.reason
    )
}

/// Returns the reason why there is no place to search, if it is the same for each file.
fn nowhere(search: &SearchPath, naming: &Naming) -> Option<String> {
    let mut reasons = Vec::new();
    for element in search.elements() {
        let (Element::Unusable { text, reason } | Element::Skipped { text, reason }) = element
        else {
            return None;
        };
        reasons.push(format!("{text}: {reason}"));
    }
    // A folder that came with the trace was searched.
    let is_unused = |file: &NamedFile| file.source.is_none() && file.tried.len() <= reasons.len();
    let is_nowhere = !naming.files.is_empty() && naming.files.iter().all(is_unused);
    is_nowhere.then(|| {
        if reasons.is_empty() {
            String::new()
        } else {
            format!(" ({})", reasons.join("; "))
        }
    })
}

fn not_looked_for(
    path: &Path,
    why: &str,
    naming: &Naming,
    numbers: Numbers,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let addresses: usize = naming.files.iter().map(|file| file.addresses).sum();
    let mapped: usize = naming.files.iter().map(|file| file.dotnet_addresses).sum();
    let lines = if mapped == 0 {
        String::new()
    } else {
        let mapped = numbers.grouped(mapped as u64);
        format!(" and lines for {mapped} .NET addresses")
    };
    printer.line(&format!(
        "  no place to look for symbol files is named{why}; {} of them have names for {} native addresses{lines}",
        numbers.grouped(naming.files.len() as u64),
        numbers.grouped(addresses as u64)
    ))?;
    Ok(printer.labelled(&format!(
        "hint: etwkit symbols load --symbols MS {}",
        quoted_pattern(&path.display().to_string())
    ))?)
}

/// `12 of 40 symbol files found, 1,234 of 2,000 addresses have names`.
pub(crate) fn summary_line(naming: &Naming, numbers: Numbers) -> String {
    let named: usize = naming.files.iter().map(|file| file.named).sum();
    let known: usize = naming.files.iter().map(|file| file.addresses).sum();
    let unknown: usize = naming.unknown.iter().map(|file| file.addresses).sum();
    let lines = match naming.dotnet {
        DotnetCode { mapped: 0, .. } => String::new(),
        DotnetCode { addresses, .. } => format!(
            ", {} of {} .NET addresses have lines",
            numbers.grouped(naming.lines() as u64),
            numbers.grouped(addresses as u64)
        ),
    };
    format!(
        "{} of {} symbol files found, {} of {} native addresses have names{lines}",
        naming.found(),
        naming.files.len(),
        numbers.grouped(named as u64),
        numbers.grouped((known + unknown) as u64)
    )
}

/// Returns the reasons why .NET code has no lines, whatever symbol files there are.
fn without_lines(dotnet: DotnetCode, numbers: Numbers) -> Vec<String> {
    let DotnetCode {
        addresses,
        mapped,
        unknown,
    } = dotnet;
    let mut reasons = Vec::new();
    if mapped < addresses {
        reasons.push(format!(
            "  {} .NET addresses have no lines: the extract has no IL-to-native maps of their methods; the .NET \
             provider writes them for methods that it compiles, with keyword JittedMethodILToNativeMap (0x20000)",
            numbers.grouped((addresses - mapped) as u64)
        ));
    }
    if unknown > 0 {
        reasons.push(format!(
            "  {} .NET addresses have no lines: no event says which symbol files their assemblies have",
            numbers.grouped(unknown as u64)
        ));
    }
    reasons
}

/// `; lines of 3 of 4 .NET addresses`, for a symbol file that was asked for them.
fn lines_of(file: &NamedFile, numbers: Numbers) -> String {
    if file.dotnet_addresses == 0 {
        return String::new();
    }
    format!(
        "; lines of {} of {} .NET addresses",
        numbers.grouped(file.lines as u64),
        numbers.grouped(file.dotnet_addresses as u64)
    )
}

/// Returns the reasons why a symbol file was not found, without the servers that have a line of
/// their own.
fn reason(file: &NamedFile, servers: &[&Attempt]) -> String {
    let others = file
        .tried
        .iter()
        .filter(|attempt| !servers.contains(attempt));
    let tried = attempts(others);
    if tried.is_empty() {
        "no place to look for it is known".to_owned()
    } else {
        tried
    }
}

fn search_lines(search: &SearchPath) -> Vec<String> {
    let store = |store: &Store| match store {
        Store::Folder(folder) => folder.display().to_string(),
        Store::Server(url) => url.clone(),
    };
    let line = |element: &Element| match element {
        Element::Folder(folder) if !folder.exists() => {
            format!("folder  {}: does not exist", folder.display())
        }
        Element::Folder(folder) | Element::Beside(folder) => {
            format!("folder  {}", folder.display())
        }
        Element::Chain(stores) => {
            format!(
                "store   {}",
                stores.iter().map(store).collect::<Vec<_>>().join(" ← ")
            )
        }
        Element::Unusable { text, reason } => format!("unused  {text}: {reason}"),
        Element::Skipped { text, reason } => format!("skipped {text}: {reason}"),
    };
    let lines: Vec<String> = search.elements().iter().map(line).collect();
    if lines.is_empty() {
        vec!["no place is named: use --symbols or _NT_SYMBOL_PATH".to_owned()]
    } else {
        lines
    }
}

fn tried(attempts: &[Attempt]) -> serde_json::Value {
    let one = |attempt: &Attempt| json!({"place": attempt.place, "reason": attempt.reason});
    attempts.iter().map(one).collect()
}

/// Adds the image that names the symbol file, if the trace does not name it.
fn add_image(line: &mut serde_json::Value, image: Option<&ImageIdentity>, source: Option<&str>) {
    if let Some((line, image)) = line.as_object_mut().zip(image) {
        let image = json!({"name": image.name(), "key": image.key(), "source": source});
        line.insert("image".to_owned(), image);
    }
}

/// Adds the counts of .NET code, if the module has any that lines can be found for.
fn add_lines(line: &mut serde_json::Value, file: &NamedFile) {
    if let Some(line) = line.as_object_mut().filter(|_| file.dotnet_addresses > 0) {
        line.insert("dotnet_addresses".to_owned(), file.dotnet_addresses.into());
        line.insert("lines".to_owned(), file.lines.into());
    }
}

pub(super) fn json(path: &Path, naming: &Naming, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    for file in &naming.files {
        let identity = file.identity.as_ref();
        let mut line = json!({
            "extract": path,
            "module": file.module,
            "pdb_name": identity.map(Identity::name),
            "pdb_guid": identity.map(|identity| identity.guid().to_string()),
            "pdb_age": identity.map(Identity::age),
            "addresses": file.addresses,
            "named": file.named,
            "source": file.source,
            "tried": tried(&file.tried),
        });
        add_image(&mut line, file.image.as_ref(), file.image_source.as_deref());
        add_lines(&mut line, file);
        printer.json(&line)?;
    }
    for file in &naming.unknown {
        let mut line = json!({"extract": path, "module": file.module, "addresses": file.addresses, "named": 0});
        add_image(&mut line, file.image.as_ref(), file.image_source.as_deref());
        if let Some(line) = line.as_object_mut().filter(|_| file.image.is_some()) {
            line.insert("tried".to_owned(), tried(&file.tried));
        }
        printer.json(&line)?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use etwkit_symbols::search_path::Defaults;

    use super::*;

    #[test]
    fn a_folder_that_does_not_exist_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("symbols");
        let texts = [folder.path(), &missing].map(|path| path.to_str().unwrap());
        let search = SearchPath::parse(texts, &Defaults::default());
        assert_eq!(
            search_lines(&search),
            [
                format!("folder  {}", texts[0]),
                format!("folder  {}: does not exist", texts[1])
            ]
        );
    }
}
