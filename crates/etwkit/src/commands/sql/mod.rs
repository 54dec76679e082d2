//! `etwkit sql`: questions of one's own to extracts.

mod question;
mod rows;
mod schema;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etwkit_query::Answer;

use crate::cli::{SqlArgs, SqlFormat};
use crate::exit::Exit;
use crate::extracts::{open_alone, open_extracts, unpacked};
use crate::out_file;
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
    if args.format == SqlFormat::Parquet && args.out.is_none() {
        bail!("--format parquet needs --out FILE");
    }
    if let Some(out) = &args.out {
        out_file::check(out, args.force)?;
    }
    let extracts: Vec<PathBuf> = extracts.iter().map(PathBuf::from).collect();
    let extracts = unpacked(extracts.into(), printer)?;
    let sets = args.tags.are_given().then(|| args.tags.sets()).transpose()?;
    let session = match sets {
        None => open_extracts(&extracts, printer)?,
        Some(sets) => {
            let session = open_alone(&extracts, printer)?;
            session.use_tags(sets.into());
            session.into()
        }
    };
    let answer = question.ask(&session)?;
    let rows = match &args.out {
        Some(out) => {
            let rows = write(answer, args.format, out, args.force)?;
            printer.line(&format!("Wrote {} rows to {}", grouped(rows as u64), out.display()))?;
            rows
        }
        None => print(answer, args.format, printer)?,
    };
    Ok(if rows > 0 { Exit::Answered } else { Exit::Nothing })
}

fn print(answer: Answer, format: SqlFormat, printer: &mut Printer<'_>) -> anyhow::Result<usize> {
    let mut rows = Rows::new(answer.schema(), format, Target::Screen { width: printer.width() });
    rows.begin(printer)?;
    for batch in answer {
        rows.batch(&batch?, printer)?;
    }
    rows.end(printer)
}

/// Writes the rows into a file, which gets its name when it is complete.
fn write(answer: Answer, format: SqlFormat, path: &Path, force: bool) -> anyhow::Result<usize> {
    let mut file = BufWriter::with_capacity(OUT_BUFFER, out_file::temporary_beside(path)?);
    let count = if format == SqlFormat::Parquet {
        answer.write_parquet(&mut file)?
    } else {
        let mut rows = Rows::new(answer.schema(), format, Target::File);
        let mut printer = Printer::new(&mut file);
        rows.begin(&mut printer)?;
        for batch in answer {
            rows.batch(&batch?, &mut printer)?;
        }
        rows.end(&mut printer)?
    };
    file.flush().with_context(|| out_file::cannot(path))?;
    let file = file
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)
        .with_context(|| out_file::cannot(path))?;
    out_file::keep(file, path, force)?;
    Ok(count)
}
