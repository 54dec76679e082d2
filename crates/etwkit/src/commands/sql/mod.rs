//! `etwkit sql`: questions of one's own to extracts.

mod question;
mod rows;
mod schema;
mod unrecorded;

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use etwkit_query::Answer;

use crate::cli::{SqlArgs, SqlFormat};
use crate::context::Context;
use crate::exit::Exit;
use crate::extracts::{open_extracts, unpacked};
use crate::gaps::AllGaps;
use crate::out_file::{self, OutFile, Replace};
use crate::printer::{Printer, grouped};
use rows::{Rows, Target};

/// Bytes that are collected before they go to the disk.
const OUT_BUFFER: usize = 1 << 20;

pub(crate) fn run(args: &SqlArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if let Some(table) = &args.show_schema {
        return schema::show(table, printer);
    }
    let [extracts @ .., sql] = args.items.as_slice() else { bail!("expected EXTRACT… and SQL") };
    if extracts.is_empty() {
        bail!("expected an extract in front of the SQL; `etwkit sql --help` shows how");
    }
    let question = question::read(sql, &args.params)?;
    let format = args.form();
    if format == SqlFormat::Parquet && args.out.is_none() {
        bail!("--format parquet needs --out FILE");
    }
    if let Some(out) = &args.out {
        out_file::check(out, Replace::forced(args.force))?;
    }
    let extracts: Vec<PathBuf> = extracts.iter().map(PathBuf::from).collect();
    let mut extracts = unpacked(extracts.into(), printer)?.into_owned();
    if args.keep_going {
        extracts = readable(extracts, printer)?;
    }
    let sets = args.tags.are_given().then(|| args.tags.sets()).transpose()?;
    let session = open_extracts(&extracts, printer)?;
    if let Some(sets) = sets {
        session.use_tags(sets.into());
    }
    let answer = question.ask(&session)?;
    unrecorded::notes(&session, &extracts, &question.sql()).iter().for_each(|note| printer.note(note));
    let rows = match &args.out {
        Some(out) => {
            let rows = write(answer, format, (out, Replace::forced(args.force)), printer.gaps().clone())?;
            printer.line(&format!("Wrote {} rows to {}", grouped(rows as u64), out.display()))?;
            rows
        }
        None => print(answer, format, printer)?,
    };
    if let Some(cut_off) = question.cut_off(&session, rows)? {
        printer.note(&cut_off);
    }
    Ok(if rows > 0 { Exit::Answered } else { Exit::Nothing })
}

/// The extracts that can be opened; the others become errors of the command.
fn readable(extracts: Vec<PathBuf>, printer: &mut Printer<'_>) -> anyhow::Result<Vec<PathBuf>> {
    let (mut good, Context { engine, asking }) = (Vec::new(), printer.context());
    for path in extracts {
        // Notes of those that can be opened come when they are opened to be asked.
        let opened = engine.source(&asking, &path, &mut Vec::new());
        match opened.with_context(|| path.display().to_string()) {
            Ok(_) => good.push(path),
            Err(error) => printer.failed(error),
        }
    }
    if good.is_empty() {
        bail!("none of the extracts can be opened");
    }
    Ok(good)
}

fn print(answer: Answer, format: SqlFormat, printer: &mut Printer<'_>) -> anyhow::Result<usize> {
    // Only a terminal is a screen: a pipe gets what a file gets.
    let target = printer.width().map_or(Target::File, |width| Target::Screen { width });
    let mut rows = Rows::new(answer.schema(), format, target);
    rows.begin(printer)?;
    for batch in answer {
        rows.batch(&batch?, printer)?;
    }
    rows.end(printer)
}

/// Writes the rows into a file, which gets its name when it is complete.
fn write(
    answer: Answer,
    format: SqlFormat,
    (path, replace): (&Path, Replace),
    gaps: AllGaps,
) -> anyhow::Result<usize> {
    let mut file = BufWriter::with_capacity(OUT_BUFFER, OutFile::create(path, replace)?);
    let count = if format == SqlFormat::Parquet {
        answer.write_parquet(&mut file)?
    } else {
        let mut rows = Rows::new(answer.schema(), format, Target::File);
        let mut printer = Printer::new(&mut file).with_gaps(gaps);
        rows.begin(&mut printer)?;
        for batch in answer {
            rows.batch(&batch?, &mut printer)?;
        }
        rows.end(&mut printer)?
    };
    out_file::keep(file, path)?;
    Ok(count)
}
