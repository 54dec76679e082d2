//! Command lines of `wpaexporter`, as they occur in scripts.

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::Result;
use etwkit_base::shell;
use etwkit_question::range::{Range, TracePart, Unit};
use etwkit_terminal::errors::advised;

use crate::wpa::part::Part;

/// Treatment of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It has this effect, in the words of etwkit.
    Ours(&'static str),
    /// Nothing, and why.
    Nothing(&'static str),
    /// It is refused: the reason, and the alternative.
    Refused(&'static str),
}

/// Number of words that follow an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Exactly this many.
    Words(usize),
    /// All words up to the next option.
    List,
}

/// An option of `wpaexporter`.
#[derive(Debug)]
pub struct Opt {
    /// Its spellings, without the dash, in lower case.
    pub names: &'static [&'static str],
    /// The words that follow it.
    pub takes: Takes,
    /// Its treatment.
    pub does: Does,
}

const fn opt(names: &'static [&'static str], takes: Takes, does: Does) -> Opt {
    Opt { names, takes, does }
}

/// All options, in the order of the documentation.
pub static OPTIONS: &[Opt] = &[
    opt(
        &["i"],
        Takes::List,
        Does::Ours("the traces; words without an option before them are also traces"),
    ),
    opt(&["profile"], Takes::Words(1), Does::Ours("--profile")),
    opt(
        &["outputfolder"],
        Takes::Words(1),
        Does::Ours("--out; without it the current folder"),
    ),
    opt(&["prefix"], Takes::Words(1), Does::Ours("--prefix")),
    opt(
        &["range"],
        Takes::Words(2),
        Does::Ours("--range; numbers without s, ms or us are nanoseconds"),
    ),
    opt(
        &["marks"],
        Takes::Words(2),
        Does::Ours("--from-mark and --to-mark"),
    ),
    opt(&["region"], Takes::Words(1), Does::Ours("--region")),
    opt(
        &["regionsxml"],
        Takes::List,
        Does::Ours("--regions; one file"),
    ),
    opt(
        &["delimiter", "delimeter"],
        Takes::Words(1),
        Does::Ours("one character between the values of a row"),
    ),
    opt(
        &["outputformat"],
        Takes::Words(1),
        Does::Ours("CSV; XML is refused"),
    ),
    opt(
        &["mode"],
        Takes::Words(1),
        Does::Nothing("each trace becomes files of its own, as with Separate"),
    ),
    opt(
        &["symbols"],
        Takes::Words(0),
        Does::Nothing("names are those that the extract has; `etwkit symbols load` gets more"),
    ),
    opt(
        &["symcacheonly"],
        Takes::Words(0),
        Does::Nothing("nothing is downloaded in any case"),
    ),
    opt(
        &["tti"],
        Takes::Words(0),
        Does::Nothing("events out of the order of time are always read"),
    ),
    opt(
        &["tle"],
        Takes::Words(0),
        Does::Nothing("lost events are always reported, and the rest is read"),
    ),
    opt(
        &["cliprundown"],
        Takes::Words(0),
        Does::Nothing("the rundown is not part of the numbers"),
    ),
    opt(
        &["processor", "processors"],
        Takes::List,
        Does::Nothing("there are no plugins"),
    ),
    opt(
        &["addsearchdir"],
        Takes::Words(1),
        Does::Nothing("there are no plugins"),
    ),
    opt(
        &["nodefault"],
        Takes::Words(0),
        Does::Nothing("there are no plugins"),
    ),
    opt(
        &["listplugins"],
        Takes::Words(0),
        Does::Refused("there are no plugins; `etwkit docs wpaexporter` lists the graphs"),
    ),
    opt(
        &["slot"],
        Takes::Words(1),
        Does::Refused("traces are not compared here; `etwkit diff` does that"),
    ),
    opt(
        &["sysconfig"],
        Takes::List,
        Does::Refused("`etwkit sql TRACE \"@trace/machine\"` has the facts of the machine"),
    ),
    opt(
        &["exporterconfig"],
        Takes::Words(1),
        Does::Refused(
            "write one line for each profile and range of the file; extracts are kept, so that each is quick",
        ),
    ),
    opt(
        &["h", "help", "?"],
        Takes::Words(0),
        Does::Ours("what is printed here"),
    ),
];

/// The request of a command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExporterLine {
    /// Traces.
    pub traces: Vec<PathBuf>,
    /// Profiles.
    pub profiles: Vec<String>,
    /// Folder to write into.
    pub folder: Option<PathBuf>,
    /// Start of their names.
    pub prefix: String,
    /// The part of the trace to write.
    pub part: Part,
    /// File that defines regions.
    pub regions: Option<String>,
    /// Separator between values.
    pub delimiter: Option<u8>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// True if it requests help.
    pub help: bool,
}

impl ExporterLine {
    /// Parses the words after the name of the program.
    ///
    /// # Errors
    /// An option that `wpaexporter` does not have, one that is refused, or words that are missing.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut line = Self::default();
        // Outside of Windows, a line from a script is put in quotes as a whole.
        let words = match words {
            [whole] if whole.contains(' ') && option_of(whole).is_some() => {
                Cow::Owned(shell::split(whole))
            }
            _ => Cow::Borrowed(words),
        };
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let Some(name) = option_of(word) else {
                line.traces.push(word.into());
                continue;
            };
            let known = OPTIONS
                .iter()
                .find(|option| option.names.contains(&name.as_str()));
            let Some(option) = known else {
                let how = "`etwkit wpaexporter -h` lists the options";
                return Err(advised(format!("wpaexporter has no option {word}"), how));
            };
            let mut values = Vec::new();
            let most = match option.takes {
                Takes::Words(count) => count,
                Takes::List => usize::MAX,
            };
            // A list ends at the next option. With a known number of words each one is taken, even
            // if it starts with a dash.
            while values.len() < most
                && let Some(value) =
                    words.next_if(|next| option.takes != Takes::List || option_of(next).is_none())
            {
                values.push(value);
            }
            if matches!(option.takes, Takes::Words(count) if values.len() < count)
                || most == usize::MAX && values.is_empty()
            {
                let how = format!(
                    "write {word} with {}",
                    if most == 2 { "two words" } else { "a word" }
                );
                return Err(advised(format!("{word} lacks its value"), how));
            }
            line.take(word, option, &values)?;
        }
        line.check()
    }

    fn take(&mut self, word: &str, option: &Opt, values: &[&str]) -> Result<()> {
        match option.does {
            Does::Refused(why) => return Err(advised(format!("{word} is not done here"), why)),
            Does::Nothing(why) => {
                self.notes.push(format!("{word} changes nothing: {why}"));
                return Ok(());
            }
            Does::Ours(_) => {}
        }
        let first = values.first().copied().unwrap_or("");
        let second = values.get(1).copied().unwrap_or("");
        match option.names.first().copied().unwrap_or("") {
            "i" => self.traces.extend(values.iter().map(PathBuf::from)),
            "profile" => self.profiles.push(first.to_owned()),
            "outputfolder" => self.folder = Some(first.into()),
            "prefix" => self.prefix = first.to_owned(),
            "range" => self.part = range(first, second)?,
            "marks" => self.part = Part::Marks(first.to_owned(), second.to_owned()),
            "region" => self.part = Part::Region(first.to_owned()),
            "regionsxml" if values.len() > 1 => {
                return Err(advised(
                    "several files of regions cannot be read",
                    "put their regions into one file",
                ));
            }
            "regionsxml" => self.regions = Some(first.to_owned()),
            "delimiter" => self.delimiter = Some(delimiter(first)?),
            "outputformat" if !first.eq_ignore_ascii_case("csv") => {
                return Err(advised(
                    format!("the format {first} is not written"),
                    "CSV is: -outputformat CSV",
                ));
            }
            "h" => self.help = true,
            _ => {}
        }
        Ok(())
    }

    fn check(self) -> Result<Self> {
        let lacks = |what: &str, how: &str| Err(advised(format!("the line names no {what}"), how));
        match &self {
            Self { help: true, .. } => {}
            Self { traces, .. } if traces.is_empty() => {
                return lacks("trace", "name one: -i trace.etl");
            }
            Self { profiles, .. } if profiles.is_empty() => {
                return lacks(
                    "profile",
                    "name one: -profile FILE.wpaProfile, or cpu, wait, disk, memory or system",
                );
            }
            Self {
                part: Part::Region(_),
                regions: None,
                ..
            } => {
                return lacks("file of regions", "name one: -regionsxml FILE");
            }
            _ => {}
        }
        Ok(self)
    }
}

/// Returns the name of an option in lower case; `None` for other words. Texts of word processors
/// have longer dashes. Paths also start with a slash, so only known options can.
fn option_of(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    if let Some(name) = lower.strip_prefix('/') {
        let mut names = OPTIONS.iter().flat_map(|option| option.names);
        return names.any(|known| *known == name).then(|| name.to_owned());
    }
    let name = lower.trim_start_matches(['-', '\u{2012}', '\u{2013}', '\u{2014}']);
    (name.len() < lower.len() && !name.is_empty()).then(|| name.to_owned())
}

/// Parses the ends of a range; numbers without a unit are nanoseconds.
fn range(from: &str, to: &str) -> Result<Part> {
    let end = |end: &str| {
        // Numbers of `wpaexporter` are nanoseconds, and our numbers without a unit are seconds.
        let is_bare = end.chars().all(|c| c.is_ascii_digit());
        if is_bare {
            format!("{end}ns")
        } else {
            end.to_owned()
        }
    };
    let text = format!("{}..{}", end(from), end(to));
    let range = Range::parse(&text, Unit::Moment).map_err(|error| {
        advised(
            format!("-range: {error}"),
            "write two times as 0.75s 5.4s or 750ms 5400ms",
        )
    })?;
    Ok(Part::Range(text, TracePart::Known(range)))
}

fn delimiter(text: &str) -> Result<u8> {
    let text = if text == "\\t" { "\t" } else { text };
    match text.as_bytes() {
        // A quotation mark would be read as the quotes around a value, and a letter or digit as a
        // part of it.
        [byte]
            if *byte == b'\t'
                || (byte.is_ascii_punctuation() && *byte != b'"')
                || *byte == b' ' =>
        {
            Ok(*byte)
        }
        _ => Err(advised(
            format!("{text:?} cannot be between values"),
            "name one sign of ASCII other than the quotation mark, such as ; or \\t for a tabulator",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ExporterLine> {
        ExporterLine::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn the_line_of_the_article_is_understood() {
        let line = parse("-profile disc.wpaProfile -prefix disc_ -i heapusage.etl").unwrap();
        let expected = ExporterLine {
            traces: vec!["heapusage.etl".into()],
            profiles: vec!["disc.wpaProfile".to_owned()],
            prefix: "disc_".to_owned(),
            ..ExporterLine::default()
        };
        assert_eq!(line, expected);
    }

    #[test]
    fn options_are_understood_in_any_case_and_order() {
        let line =
            parse("a.etl -OutputFolder out -tle -tti -profile p -range 0.75s 5400ms -delimeter ;")
                .unwrap();
        assert_eq!(
            (line.delimiter, line.folder),
            (Some(b';'), Some("out".into()))
        );
        let Part::Range(_, TracePart::Known(range)) = line.part else {
            panic!("{:?}", line.part)
        };
        assert_eq!((range.min, range.max), (750_000_000, 5_400_000_000));
        assert_eq!(line.notes.len(), 2);
        let line = parse("-i a.etl b.etl -profile p -range 5 1000").unwrap();
        let Part::Range(_, TracePart::Known(range)) = line.part else {
            panic!("{:?}", line.part)
        };
        assert_eq!((range.min, range.max, line.traces.len()), (5, 1000, 2));
        let line = parse("-i a.etl -profile p -marks Start Stop").unwrap();
        assert_eq!(
            line.part,
            Part::Marks("Start".to_owned(), "Stop".to_owned())
        );
    }

    #[test]
    fn lines_of_texts_and_scripts_are_understood() {
        let expected = parse("-i a.etl -profile p -outputfolder out").unwrap();
        for line in [
            "\u{2013}i a.etl \u{2013}profile p \u{2014}outputfolder out",
            "/i a.etl /Profile p /outputfolder out",
        ] {
            assert_eq!(parse(line).unwrap(), expected, "{line}");
        }
        let whole = "-i a.etl -profile \"my p\" -outputfolder out".to_owned();
        let line = ExporterLine::parse(&[whole]).unwrap();
        assert_eq!(line.profiles, ["my p"]);
        assert_eq!(line.folder, expected.folder);
        let path = parse("/tmp/a.etl -profile p").unwrap();
        assert_eq!(path.traces, [PathBuf::from("/tmp/a.etl")]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |line: &str| parse(line).unwrap_err().to_string();
        assert_eq!(wrong("-i a.etl"), "the line names no profile");
        assert_eq!(wrong("-profile p"), "the line names no trace");
        assert_eq!(wrong("-i a.etl -profile"), "-profile lacks its value");
        assert_eq!(
            wrong("-i a.etl -profile p -marks A"),
            "-marks lacks its value"
        );
        assert_eq!(
            wrong("-i a.etl -profile p -frob"),
            "wpaexporter has no option -frob"
        );
        assert_eq!(
            wrong("-i a.etl -profile p -slot 1"),
            "-slot is not done here"
        );
        assert_eq!(
            wrong("-i a.etl -profile p -region R"),
            "the line names no file of regions"
        );
        assert!(wrong("-i a.etl -profile p -range 1x 2").starts_with("-range: "));
        assert!(wrong("-i a.etl -profile p -delimiter ab").contains("cannot be between values"));
    }
}
