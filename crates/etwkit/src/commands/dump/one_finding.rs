//! One finding of a trace as a file to mail. Its reader needs neither the trace nor this program.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use etwkit_analysis::diagnose::{FindingRow, Printed, html_of_one};
use etwkit_base::shell;
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::declared::Declared;
use super::diagnose::diagnosed;
use super::page;
use crate::out_file::{self, OutFile, Replace};
use crate::printer::Printer;

/// Writes the finding with that number, from the one given trace.
///
/// # Errors
/// There are several traces, the finding does not exist, or the file cannot be written.
pub(super) fn run(
    asked: &Declared,
    number: i64,
    file: &Path,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    page::check_new(file)?;
    let chosen = asked.common.chosen(printer)?;
    let [extract] = chosen else {
        let hint = "give the trace whose finding it is";
        return Err(advised(
            "--finding is of one trace, and here are several".to_owned(),
            hint,
        ));
    };
    let all = diagnosed(asked, printer)?;
    let Some(one) = all.first() else {
        return Ok(Exit::Nothing);
    };
    let finding = numbered(&one.diagnosis.findings, number, (&one.trace, extract))?;
    let archive = out_file::buffered(file, Replace::Nothing)?;
    let archive =
        write(archive, (&one.trace, finding), extract).with_context(|| out_file::cannot(file))?;
    out_file::keep(archive, file)?;
    printer.line(&format!("Wrote {}", file.display()))?;
    Ok(Exit::Answered)
}

/// Returns the finding with that number of a trace, given by its name and its path.
///
/// # Errors
/// There is no finding with that number.
pub(crate) fn numbered<'f>(
    findings: &'f [FindingRow],
    number: i64,
    (trace, path): (&str, &Path),
) -> anyhow::Result<&'f FindingRow> {
    let found = findings.iter().find(|finding| finding.number == number);
    found.ok_or_else(|| {
        let there = match findings.len() {
            0 => "no findings".to_owned(),
            1 => "1 finding".to_owned(),
            more => format!("{more} findings"),
        };
        let message = format!("{trace} has {there}, and none is number {number}");
        let path = shell::quoted_pattern(&path.display().to_string());
        let hint = format!("`etwkit diagnose {path}` lists the findings with their numbers");
        advised(message, hint)
    })
}

/// Packs the page, the finding, and the answer of each evidence line for people and for programs.
fn write(
    to: BufWriter<OutFile>,
    (trace, finding): (&str, &FindingRow),
    extract: &Path,
) -> anyhow::Result<BufWriter<OutFile>> {
    let mut archive = ZipWriter::new(to);
    let mut printed = Vec::new();
    for (at, line) in finding.evidence.lines().enumerate() {
        let answer =
            |more| answer(line, extract, more).map(|text| without_folders(&text, extract, trace));
        // The file is to have all rows; commands without that option refuse it.
        let text = answer(&["--top=0"]).or_else(|_| answer(&[]))?;
        add(
            &mut archive,
            &format!("evidence-{}.jsonl", at + 1),
            &answer(&["--json"])?,
        )?;
        printed.push(Printed {
            line: line.to_owned(),
            text,
        });
    }
    add(
        &mut archive,
        "finding.json",
        &serde_json::to_string_pretty(finding)?,
    )?;
    add(
        &mut archive,
        "finding.html",
        &html_of_one(trace, finding, &printed),
    )?;
    Ok(archive.finish()?)
}

fn add(archive: &mut ZipWriter<impl Write + Seek>, name: &str, text: &str) -> anyhow::Result<()> {
    archive.start_file(name, SimpleFileOptions::default())?;
    Ok(archive.write_all(text.as_bytes())?)
}

/// Replaces the full path of the extract by the name of the trace: the recipient must not learn the
/// folders.
fn without_folders(text: &str, extract: &Path, trace: &str) -> String {
    let path = extract.display().to_string();
    // In JSON the backslashes of a path are doubled, and letters beyond ASCII stay as they are.
    let in_json = serde_json::Value::from(path.as_str()).to_string();
    let in_json = in_json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(&path);
    text.replace(in_json, trace).replace(&path, trace)
}

/// Runs a command line and returns its output.
fn answer(line: &str, extract: &Path, more: &[&str]) -> anyhow::Result<String> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut args = vec!["etwkit".into(), "--quiet".into()];
    args.extend(
        shell::split(line)
            .into_iter()
            .chain(more.iter().map(|&word| word.to_owned()))
            .map(Into::into),
    );
    args.push(extract.as_os_str().to_owned());
    if crate::run(args, &mut out, &mut err) == Exit::Error {
        bail!("etwkit {line}: {}", String::from_utf8_lossy(&err));
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_from_text_and_from_json() {
        for path in [r"C:\Büro\it's\x.etwx", "/home/Büro/x.etwx"] {
            let json = serde_json::json!({ "extract": path }).to_string();
            let of = |text: &str| without_folders(text, Path::new(path), "x");
            assert_eq!(of(&json), r#"{"extract":"x"}"#);
            assert_eq!(
                of(&format!("Extract {path} has rows")),
                "Extract x has rows"
            );
        }
    }
}
