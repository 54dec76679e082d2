//! `Modules`: files of code with their versions, and the processes that loaded them.

use etwkit_trace::table::Module;

use crate::json7z::error::{Failure, Result};
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;

/// The number of a text that is missing.
const NO_TEXT: i64 = -2;

/// A module before its texts are known.
struct Stored {
    /// Numbers of path, file, file version, product version, product, numeric file version,
    /// description.
    texts: Vec<i64>,
    processes: Vec<i64>,
    pdb: Option<i64>,
    /// Position in the file, for errors about its texts.
    wrong: String,
}

/// The members of the part, as they are stored.
#[derive(Default)]
struct Part {
    stored: Vec<Stored>,
    texts: Vec<String>,
    pdbs: Vec<Option<(String, i32, String)>>,
}

fn part(reader: &mut Reader, import: &mut Import<'_>) -> Result<Part> {
    let mut part = Part::default();
    reader.object(|reader, name| {
        match name {
            "Modules" => part.stored = reader.all(|reader| module(reader).map(Some))?,
            "SharedStrings" => {
                reader.object(|reader, name| match name {
                    "Strings" => {
                        part.texts = reader.texts()?;
                        Ok(())
                    }
                    _ => reader.unknown(),
                })?;
            }
            "UnresolvedPdbs" => part.pdbs = reader.all(|reader| pdb(reader).map(Some))?,
            "TotalPdbCount" => {
                import.leave_out(
                    reader,
                    "Modules.TotalPdbCount, how many symbol files there are",
                )?;
            }
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(part)
}

/// Reads the part. Modules are written with the stacks, since stacks can name more of them.
pub(crate) fn read(reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
    let Part {
        stored,
        texts,
        pdbs,
    } = part(reader, import)?;
    // All texts are known only now: in the file they can follow the modules that name them.
    for module in stored {
        let text = |at: usize| -> Result<Option<String>> {
            match module.texts.get(at) {
                None | Some(&NO_TEXT) => Ok(None),
                Some(number) => {
                    let text = usize::try_from(*number)
                        .ok()
                        .and_then(|number| texts.get(number));
                    let wrong = || {
                        reader.unexpected(
                            "numbers of SharedStrings",
                            format!("the text {:?}", module.wrong),
                        )
                    };
                    text.cloned().map(Some).ok_or_else(wrong)
                }
            }
        };
        let filled = |at| Ok::<_, Failure>(text(at)?.filter(|text| !text.is_empty()));
        let Some(name) = filled(1)? else {
            import.drop("Modules: modules without a name", 1);
            continue;
        };
        let path = match filled(0)? {
            Some(folder) => format!("{}\\{name}", folder.trim_end_matches('\\')),
            None => name.clone(),
        };
        let identity = module
            .pdb
            .and_then(|pdb| pdbs.get(usize::try_from(pdb).ok()?))
            .cloned()
            .flatten();
        let row = Module {
            path,
            name,
            file_version: filled(2)?.or(filled(5)?),
            product_version: filled(3)?,
            product_name: filled(4)?,
            description: filled(6)?,
            pdb_guid: identity.as_ref().map(|pdb| pdb.0.clone()),
            pdb_age: identity.as_ref().map(|pdb| pdb.1),
            pdb_name: identity.map(|pdb| pdb.2),
            ..Module::default()
        };
        for process in module.processes {
            let process_key = import.processes.at(process);
            import.stacks.modules.add(Module {
                process_key,
                ..row.clone()
            });
        }
    }
    Ok(())
}

/// Numbers of texts, then numbers of processes after a #: `3 4 5 6 7 8 9 #12 #34`.
fn module(reader: &mut Reader) -> Result<Stored> {
    let mut packed = String::new();
    let mut pdb = None;
    reader.object(|reader, name| {
        match name {
            "ModuleAndPid" => packed = reader.given(Reader::text)?,
            "PdbIdx" => pdb = reader.int()?.filter(|pdb| *pdb >= 0),
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    let mut stored = Stored {
        texts: Vec::new(),
        processes: Vec::new(),
        pdb,
        wrong: packed.chars().take(60).collect(),
    };
    for part in packed.split(' ').filter(|part| !part.is_empty()) {
        let (list, digits) = match part.strip_prefix('#') {
            Some(digits) => (&mut stored.processes, digits),
            None => (&mut stored.texts, part),
        };
        match digits.parse() {
            Ok(number) => list.push(number),
            Err(_) => {
                let found = format!("the text {:?}", stored.wrong);
                return Err(reader.unexpected("a module as \"0 1 2 3 4 5 6 #7\"", found));
            }
        }
    }
    Ok(stored)
}

/// GUID, age and name of a symbol file: `guid age name`, as text or in an object. `None` if one of
/// them is missing.
fn pdb(reader: &mut Reader) -> Result<Option<(String, i32, String)>> {
    let mut text = None;
    if reader.is_text()? {
        text = reader.text()?;
    } else {
        reader.object(|reader, name| match name {
            "Pdb" => {
                text = reader.text()?;
                Ok(())
            }
            _ => reader.unknown(),
        })?;
    }
    let Some(text) = text else {
        return Ok(None);
    };
    let mut parts = text.splitn(3, ' ');
    let guid = parts.next();
    let age = parts.next();
    let name = parts.next();
    let age = age.and_then(|age| age.parse().ok());
    Ok(guid
        .zip(age)
        .zip(name)
        .map(|((guid, age), name)| (guid.to_owned(), age, name.to_owned())))
}
