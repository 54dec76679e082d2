//! Symbol files of the images of a scenario, in the text form of Breakpad and the layout of symbol
//! stores.
//!
//! A line of a function is as true as its name: it gives the function's place in the image and
//! nothing more; there is no source. Some kernel labels are public symbols only, and one function
//! has another one inlined, as real files do.

use std::fmt::Write;

use crate::code::{CodeMap, FunctionPlan, hash, pdb_guid};
use crate::plan::{ModulePlan, Plan};
use crate::sim::PDB_AGE;
use crate::table::Module;

/// A symbol file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolFile {
    /// Path below the store, with `/`: `ntkrnlmp.pdb/GUID+AGE/ntkrnlmp.sym`.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// Labels that have no function of their own: `alias!name`.
const PUBLIC: [&str; 4] = [
    "nt!KiSystemServiceCopyEnd",
    "nt!KiDpcInterrupt",
    "nt!KiStartUserThread",
    "nt!KiStartSystemThread",
];
/// A function, and the one that is inlined into its middle.
const INLINED: (&str, &str) = ("nwengine!CSignatureTree::Match", "CSpan<unsigned char>::At");
/// Lines of a function, and the step between line numbers.
const LINES: u32 = 4;
const LINE_STEP: u32 = 3;

/// Returns the symbol files of all images that have code with names.
pub(crate) fn files(plan: &Plan) -> Vec<SymbolFile> {
    let has_names = |(module, image): &(Module, &ModulePlan)| {
        !image.is_nameless && plan.code.of(*module).next().is_some()
    };
    let modules = plan.modules.iter().filter(has_names);
    modules
        .map(|(module, image)| file(&plan.code, module, image))
        .collect()
}

fn file(code: &CodeMap, module: Module, image: &ModulePlan) -> SymbolFile {
    let guid = pdb_guid(image).to_string().replace('-', "").to_uppercase();
    let identity = format!("{guid}{PDB_AGE:X}");
    let stem = image.pdb.strip_suffix(".pdb").unwrap_or(image.pdb);
    let mut text = format!("MODULE windows x86_64 {identity} {}\n", image.pdb);
    // Writing into a text cannot fail.
    let _ = writeln!(
        text,
        "FILE 0 {}{}.cpp",
        image.maker.sources,
        stem.to_lowercase()
    );
    let functions: Vec<&FunctionPlan> = code
        .of(module)
        .map(|function| &code.functions[function])
        .collect();
    let named = |names: &[&str], plan: &FunctionPlan| {
        names
            .iter()
            .any(|name| name.split_once('!') == Some((image.alias, &plan.name)))
    };
    let inlines = functions.iter().any(|plan| named(&[INLINED.0], plan));
    if inlines {
        let _ = writeln!(
            text,
            "FILE 1 {}span.h\nINLINE_ORIGIN 0 {}",
            image.maker.sources, INLINED.1
        );
    }
    for plan in &functions {
        if !named(&PUBLIC, plan) {
            function(&mut text, plan, named(&[INLINED.0], plan));
        }
    }
    // Public symbols follow all functions, as the dumpers of Breakpad write them.
    for plan in functions.iter().filter(|plan| named(&PUBLIC, plan)) {
        let _ = writeln!(text, "PUBLIC {:x} 0 {}", plan.rva, plan.name);
    }
    SymbolFile {
        path: format!("{}/{identity}/{stem}.sym", image.pdb),
        text,
    }
}

/// Writes a function with its lines; the second line belongs to an inlined function, if there is
/// one.
fn function(text: &mut String, plan: &FunctionPlan, inlines: bool) {
    let FunctionPlan {
        name, rva, size, ..
    } = plan;
    let _ = writeln!(text, "FUNC {rva:x} {size:x} 0 {name}");
    // A line number that depends on the name stays the same when other functions are added to the
    // image.
    let (first, part) = (20 + hash(name) as u32 % 2000, size / LINES);
    if inlines {
        let _ = writeln!(
            text,
            "INLINE 0 {} 0 0 {:x} {part:x}",
            first + LINE_STEP,
            rva + part
        );
    }
    for number in 0..LINES {
        let start = number * part;
        // The last line takes the remainder of the division, since lines have to cover the whole
        // function.
        let len = if number + 1 == LINES {
            size - start
        } else {
            part
        };
        let (line, file) = if inlines && number == 1 {
            (41, 1)
        } else {
            (first + LINE_STEP * number, 0)
        };
        let _ = writeln!(text, "{:x} {len:x} {line} {file}", rva + start);
    }
}
