//! Resolves addresses by one symbol file, and says how long it took.
//!
//! `resolve FILE.pdb --spread 10000` takes addresses spread evenly over the functions of the file; `resolve
//! FILE.pdb 1000 10a0` those addresses (hexadecimal). `--table FILE` reads or writes the table of symbols;
//! `--part` reads only the compilands that are needed; `--print` writes the answers.

use std::fs::File;
use std::io::{BufReader, Write, stdout};
use std::path::Path;
use std::time::Instant;

use etwkit_symbols::Symbol;
use etwkit_symbols::pdb::Pdb;
use etwkit_symbols::table::SymbolTable;

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Anything<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let (mut spread, mut rvas, mut is_part, mut prints, mut kept) =
        (0, Vec::new(), false, false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--spread" => spread = arguments.next().ok_or("how many?")?.parse()?,
            "--part" => is_part = true,
            "--print" => prints = true,
            "--table" => kept = Some(arguments.next().ok_or("which table?")?),
            rva => rvas.push(u32::from_str_radix(rva.trim_start_matches("0x"), 16)?),
        }
    }
    rvas.sort_unstable();
    let mut out = stdout().lock();
    if spread > 0 {
        rvas = spread_over(&open(&file)?.table()?, spread);
        writeln!(out, "addresses: {}", rvas.len())?;
        // The memory that this took is none of the measured work.
        let mut again = std::process::Command::new(std::env::current_exe()?);
        again
            .arg(&file)
            .args(rvas.iter().map(|rva| format!("{rva:x}")));
        again
            .args(is_part.then_some("--part"))
            .args(prints.then_some("--print"));
        again.args(kept.iter().flat_map(|kept| ["--table", kept]));
        drop(out);
        return if again.status()?.success() {
            Ok(())
        } else {
            Err("it failed".into())
        };
    }
    let start = Instant::now();
    let table = match &kept {
        Some(kept) if Path::new(kept).exists() => SymbolTable::open(std::fs::read(kept)?)?,
        _ if is_part => open(&file)?.table_of(&rvas)?,
        _ => open(&file)?.table()?,
    };
    let opened = start.elapsed();
    let symbols = table.resolve_sorted(&rvas);
    let resolved = start.elapsed();
    if let Some(kept) = kept.filter(|kept| !Path::new(kept).exists()) {
        std::fs::write(kept, table.as_bytes())?;
    }
    if prints {
        for (rva, symbol) in rvas.iter().zip(&symbols) {
            print(&mut out, *rva, symbol.as_ref())?;
        }
    }
    let named = symbols.iter().flatten().count();
    let with_line = symbols
        .iter()
        .flatten()
        .filter(|symbol| symbol.line.is_some())
        .count();
    let inlined: usize = symbols
        .iter()
        .flatten()
        .map(|symbol| symbol.inlined.len())
        .sum();
    writeln!(
        out,
        "functions: {}, bytes of the table: {}",
        table.len(),
        table.as_bytes().len()
    )?;
    writeln!(
        out,
        "named: {named} of {}, with a line: {with_line}, inlined: {inlined}",
        rvas.len()
    )?;
    writeln!(
        out,
        "opened: {} ms, with all addresses: {} ms",
        opened.as_millis(),
        resolved.as_millis()
    )?;
    // Nanoseconds on a processor: what a busy machine does not change.
    let schedule = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    if let Some(on_processor) = schedule
        .split(' ')
        .next()
        .and_then(|text| text.parse::<u64>().ok())
    {
        writeln!(out, "processor time: {} ms", on_processor / 1_000_000)?;
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let memory = status
            .lines()
            .filter(|line| line.starts_with("VmHWM") || line.starts_with("RssAnon"));
        memory.for_each(|line| drop(writeln!(out, "{}", line.replace('\t', " "))));
    }
    Ok(())
}

fn open(file: &str) -> Anything<Pdb<'static>> {
    Ok(Pdb::open(BufReader::new(File::open(file)?))?)
}

fn spread_over(table: &SymbolTable, count: usize) -> Vec<u32> {
    let functions: Vec<(u32, u32)> = table
        .functions()
        .map(|symbol| (symbol.start_rva, symbol.size.unwrap_or(1)))
        .collect();
    let one = |nth: usize| {
        let (start, size) = functions.get(nth * functions.len() / count)?;
        // Anywhere in the function, but always the same.
        Some(start + u32::try_from(nth).ok()?.wrapping_mul(2_654_435_761) % size)
    };
    let mut rvas: Vec<u32> = (0..count).filter_map(one).collect();
    rvas.sort_unstable();
    rvas.dedup();
    rvas
}

fn print(out: &mut impl Write, rva: u32, symbol: Option<&Symbol>) -> std::io::Result<()> {
    let Some(symbol) = symbol else {
        return writeln!(out, "{rva:#x}: ?");
    };
    write!(out, "{rva:#x}:")?;
    for inlined in &symbol.inlined {
        write!(
            out,
            " {} {}:{} <",
            inlined.name,
            inlined.file.as_deref().unwrap_or("?"),
            inlined.line.unwrap_or(0)
        )?;
    }
    let (file, line) = (
        symbol.file.as_deref().unwrap_or("?"),
        symbol.line.unwrap_or(0),
    );
    writeln!(
        out,
        " {} {file}:{line} +{:#x}",
        symbol.name,
        rva - symbol.start_rva
    )
}
