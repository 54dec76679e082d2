//! `etwkit sql`: the user's own queries on extracts.

pub(crate) mod args;
mod question;
mod rows;
mod schema;
mod setup;
mod unrecorded;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use etwkit_engine::{AllGaps, Asking, InputKind, named};
use etwkit_sql::Answer;
use etwkit_terminal::Exit;

use crate::commands::dump::typed::{check_stream, of_writing};
use crate::extracts::{open_extracts, readable, unpacked};
use crate::out_file::{self, Replace};
use crate::printer::Printer;
use args::{SqlArgs, SqlFormat};
use rows::{Rows, Target};

pub(crate) fn run(args: &SqlArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if let Some(table) = &args.show_schema {
        return schema::show(table, args.format, printer);
    }
    if let Some(engine) = args.show_setup {
        return setup::show(engine, &args.items, printer);
    }
    if args.show_sql {
        printer.block(&question::text(args)?)?;
        return Ok(Exit::Answered);
    }
    let (question, extracts) = question::read(args)?;
    let format = args.form();
    check(args, format, printer)?;
    let extracts = readable_extracts(args, extracts, printer)?;
    let sets = args
        .tags
        .are_given()
        .then(|| args.tags.sets(printer))
        .transpose()?;
    let session = open_extracts(&extracts, printer)?;
    if let Some(sets) = sets {
        session.use_tags(sets.into());
    }
    let answer = question.ask(&session)?;
    unrecorded::notes(&session, &extracts, &question.sql())
        .iter()
        .for_each(|note| printer.note(note));
    let rows = match &args.out {
        Some(out) => {
            let rows = write(
                answer,
                format,
                (out, Replace::forced(args.force)),
                printer.gaps().clone(),
            )?;
            printer.wrote(rows, out)?;
            rows
        }
        None => print(answer, format, printer)?,
    };
    if let Some(cut_off) = question.cut_off(&session, rows)? {
        printer.note(&cut_off);
    }
    Ok(if rows > 0 {
        Exit::Answered
    } else {
        Exit::Nothing
    })
}

/// Returns the extracts to query, after traces have become extracts. With `--keep-going` these are
/// the ones that can be read.
fn readable_extracts(
    args: &SqlArgs,
    given: &[OsString],
    printer: &mut Printer<'_>,
) -> anyhow::Result<Vec<PathBuf>> {
    let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
    let extracts = named(&given, InputKind::Answers, false)?;
    let extracts = args.chosen_by.choose(extracts, printer)?;
    let asking = Asking {
        resources: args.resources(),
        ..printer.context().asking
    };
    printer.ask_with(asking);
    let extracts = unpacked(extracts.into(), printer)?.into_owned();
    if args.keep_going {
        return readable(extracts, printer);
    }
    Ok(extracts)
}

/// Rejects output that cannot be written, before anything is computed for it.
fn check(args: &SqlArgs, format: SqlFormat, printer: &Printer<'_>) -> anyhow::Result<()> {
    match &args.out {
        Some(out)
            if args.format.is_none() && out.extension().is_some_and(|ending| ending == "arrow") =>
        {
            bail!(
                "rows of Arrow are written as a stream: name the file NAME.arrows, or say --format arrow"
            )
        }
        Some(out) => out_file::check(out, Replace::forced(args.force)),
        None if format == SqlFormat::Parquet => bail!("--format parquet needs --out FILE"),
        None if format == SqlFormat::Arrow => check_stream(printer),
        None => Ok(()),
    }
}

fn print(answer: Answer, format: SqlFormat, printer: &mut Printer<'_>) -> anyhow::Result<usize> {
    if format == SqlFormat::Arrow {
        return answer.write_arrow(printer.bytes()).map_err(of_writing);
    }
    // Only a terminal is a screen: a pipe gets the same output as a file.
    let target = printer
        .width()
        .map_or(Target::File, |width| Target::Screen { width });
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
    let mut file = out_file::buffered(path, replace)?;
    let count = match format {
        SqlFormat::Parquet => answer.write_parquet(&mut file)?,
        SqlFormat::Arrow => answer.write_arrow(&mut file)?,
        SqlFormat::Table | SqlFormat::Csv | SqlFormat::Json => {
            let mut rows = Rows::new(answer.schema(), format, Target::File);
            let mut printer = Printer::new(&mut file).with_gaps(gaps);
            rows.begin(&mut printer)?;
            for batch in answer {
                rows.batch(&batch?, &mut printer)?;
            }
            rows.end(&mut printer)?
        }
    };
    out_file::keep(file, path)?;
    Ok(count)
}
