//! Loads the symbols of one module along a search path: `load PATH NAME KEY [RVA...]`, the key as in a symbol
//! store, addresses hexadecimal.

use std::io::{Write, stdout};

use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::{Event, Identity, Options, Outcome, SearchPath, Symbols};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, name, key, rvas @ ..] = arguments.as_slice() else {
        return Err("load PATH NAME KEY [RVA...]".into());
    };
    let identity = Identity::with_key(name, key).ok_or("no name and key of a symbol file")?;
    let cache = std::env::temp_dir().join("etwkit-symbols");
    let path = SearchPath::parse(
        [path.as_str()],
        &Defaults::of_system(Some(cache.join("files"))),
    );
    let mut out = stdout().lock();
    for element in path.elements() {
        writeln!(out, "{element}")?;
    }
    let symbols = Symbols::new(
        path,
        Options {
            tables: Some(cache.join("tables")),
            ..Options::default()
        },
    );
    let mut progress = |_: &str, event: Event<'_>| {
        drop(writeln!(out, "{event:?}"));
    };
    let outcome = symbols.load(&identity, &mut progress);
    let (tried, module) = match outcome {
        Outcome::Loaded(module) => (module.tried.clone(), Some(module)),
        Outcome::Missing { tried } => (tried, None),
    };
    for attempt in tried {
        writeln!(out, "{}: {}", attempt.place, attempt.reason)?;
    }
    let Some(module) = module else {
        return Err("no symbols".into());
    };
    writeln!(out, "from {}", module.source)?;
    let rvas: Vec<u32> = rvas
        .iter()
        .map(|rva| u32::from_str_radix(rva, 16))
        .collect::<Result<_, _>>()?;
    for (rva, symbol) in rvas.iter().zip(module.resolve_sorted(&rvas)?) {
        writeln!(out, "{rva:#x}: {symbol:?}")?;
    }
    Ok(())
}
