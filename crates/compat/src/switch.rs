//! Translations of switches: tables of [`Switch`] hold all knowledge of this crate about each
//! command.

use std::ffi::OsString;

use anyhow::bail;

use super::line::{Line, point, range, split_dash};

/// Arguments of our own command.
pub(crate) type Native = Vec<OsString>;

/// A switch of ETWAnalyzer.
#[derive(Debug)]
pub(crate) struct Switch {
    /// Its name and its abbreviations, in lower case, without dash.
    pub(crate) names: &'static [&'static str],
    /// Its translation.
    pub(crate) to: To,
}

/// Words of a value, in lower case, and their translations.
pub(crate) type Words = &'static [(&'static str, &'static str)];

/// The translation of a switch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum To {
    /// An option without value.
    Flag(&'static str),
    /// An option with the next word.
    Text(&'static str),
    /// An option with the next word, whose decimal comma becomes a point.
    Number(&'static str),
    /// An option with or without a value after `=`.
    Maybe(&'static str),
    /// An option with a range of two numbers, or of one number, which is a range without an end.
    Range(&'static str),
    /// An option with one of these words; a word with an empty translation means the default.
    Word(&'static str, Words),
    /// An option with one of these words, if one follows the switch; otherwise the switch changes
    /// nothing.
    MaybeWord(&'static str, Words),
    /// An option with the number of rows, and one with the number of rows that are left out.
    Top(&'static str, Option<&'static str>),
    /// Any other translation.
    Special(fn(&mut Line, &mut Native) -> anyhow::Result<()>),
    /// No change: it takes this number of words, and is ignored for this reason.
    Nothing(usize, &'static str),
    /// A switch without a counterpart, for this reason.
    Missing(&'static str),
}

/// The translation of `-nocolor`, which every command has.
pub(crate) const NO_COLOR: To = To::Flag("--color=never");

impl Switch {
    /// Adds the translated arguments of the switch; its values are taken from the line.
    pub(crate) fn apply(
        &self,
        name: &str,
        line: &mut Line,
        native: &mut Native,
    ) -> anyhow::Result<()> {
        match self.to {
            To::Flag(option) => native.push(option.into()),
            To::Text(option) => pair(native, option, &line.required(name)?),
            To::Number(option) => pair(native, option, &point(&line.required(name)?)),
            To::Maybe(option) => match line.value() {
                // Joined with `=`, so that a value that starts with a dash is not taken for an
                // option.
                Some(value) => native.push(format!("{option}={value}").into()),
                None => native.push(option.into()),
            },
            To::Range(option) => native.push(format!("{option}={}", range(name, line)?).into()),
            To::Word(option, words) => {
                let value = line.required(name)?;
                chosen(native, option, word(name, &value, words)?);
            }
            To::MaybeWord(option, words) => {
                if let Some(value) = line.value() {
                    chosen(native, option, word(name, &value, words)?);
                }
            }
            To::Top(option, skip) => {
                pair(native, option, &line.required(name)?);
                if let Some(number) = line.number() {
                    pair(native, skip.unwrap_or("--skip"), &number);
                }
            }
            To::Special(add) => add(line, native)?,
            To::Nothing(words, _) => (0..words).for_each(|_| drop(line.value())),
            To::Missing(why) => bail!("-{name}: {why}"),
        }
        Ok(())
    }
}

/// Returns the switch of that name.
pub(crate) fn find<'t>(tables: &[&'t [Switch]], name: &str) -> Option<&'t Switch> {
    tables
        .iter()
        .flat_map(|table| table.iter())
        .find(|switch| switch.names.contains(&name))
}

/// Adds an option with its value; a value that starts with a dash stays one.
pub(crate) fn pair(native: &mut Native, option: &str, value: &str) {
    native.push(format!("{option}={value}").into());
}

/// Adds an option with one of its words; the empty word means its default and removes earlier ones.
fn chosen(native: &mut Native, option: &str, word: &str) {
    if word.is_empty() {
        without(native, &[option]);
    } else {
        pair(native, option, word);
    }
}

/// Returns the value of an option among arguments.
pub(crate) fn value_of(native: &Native, option: &str) -> Option<String> {
    let value = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        arg.split_once('=')
            .filter(|(name, _)| *name == option)
            .map(|(_, value)| value.to_owned())
    };
    // In reverse: if an option is given twice, the last one counts.
    native.iter().rev().find_map(value)
}

/// Returns the position of the last occurrence of an option among arguments.
pub(crate) fn last_place(native: &Native, option: &str) -> Option<usize> {
    native.iter().rposition(|arg| is(arg, option))
}

/// Returns `true` if an option is among arguments.
pub(crate) fn has(native: &Native, option: &str) -> bool {
    native.iter().any(|arg| is(arg, option))
}

/// Removes options.
pub(crate) fn without(native: &mut Native, options: &[&str]) {
    native.retain(|arg| !options.iter().any(|option| is(arg, option)));
}

fn is(arg: &std::ffi::OsStr, option: &str) -> bool {
    arg.to_string_lossy().split('=').next() == Some(option)
}

fn word(name: &str, value: &str, words: Words) -> anyhow::Result<&'static str> {
    let lower = value.to_lowercase();
    if let Some((_, word)) = words.iter().find(|(from, _)| *from == lower) {
        return Ok(word);
    }
    let all: Vec<&str> = words.iter().map(|(from, _)| *from).collect();
    bail!("-{name} {value}: expected one of {}", all.join(" "))
}

/// Translates `a-b`, `-b`, which starts at 0, or `a`, which has no end.
pub(crate) fn one_range(text: &str) -> String {
    let (min, max) = match (split_dash(text), text.strip_prefix('-')) {
        (Some((min, max)), _) => (min, max),
        (None, Some(max)) => ("0", max),
        (None, None) => (text, ""),
    };
    format!("{}..{}", point(min), point(max))
}

/// Translates `-CutMethod a-b`: without the first a characters, b of them; `a` all but the first a,
/// and `-b` the last b.
pub(crate) fn cut_method(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let text = line.required("cutmethod")?;
    let cut = match text
        .strip_prefix('-')
        .and_then(|last| last.parse::<usize>().ok())
    {
        Some(last) => format!("-{last}"),
        None => skip_take("cutmethod", &text)?,
    };
    pair(native, "--cut-method", &cut);
    Ok(())
}

/// Translates `-CutStack a-b`: without the first a frames, b of them; `a` all but the first a, and
/// `-b` the first b.
pub(crate) fn cut_stack(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let text = line.required("cutstack")?;
    pair(native, "--cut-stack", &skip_take("cutstack", &text)?);
    Ok(())
}

/// Parses the numbers of skipped and of taken items into a range of ours.
fn skip_take(name: &str, text: &str) -> anyhow::Result<String> {
    let number = |part: &str| {
        let parsed = part.parse::<usize>();
        parsed.map_err(|_| {
            anyhow::anyhow!(
                "-{name} {text}: expected numbers: how many are left out-how many are taken"
            )
        })
    };
    Ok(match (split_dash(text), text.strip_prefix('-')) {
        // With a dash before two numbers nothing is skipped: `-7-9` takes the first 9.
        (Some((skip, take)), _) if skip.starts_with('-') => format!("0..{}", number(take)?),
        (Some((skip, take)), _) => {
            let skip = number(skip)?;
            format!("{skip}..{}", skip.saturating_add(number(take)?))
        }
        (None, Some(take)) => format!("0..{}", number(take)?),
        (None, None) => format!("{}..", number(text)?),
    })
}

/// Adds a range whose numbers have this default unit.
pub(crate) fn range_in(
    name: &str,
    option: &str,
    unit: &str,
    line: &mut Line,
    native: &mut Native,
) -> anyhow::Result<()> {
    let range = range(name, line)?;
    // Only bare numbers get the unit; a written unit stays.
    let with_unit = |number: &str| match number.ends_with(|c: char| c.is_ascii_digit() || c == '.')
    {
        true if !number.is_empty() => format!("{number}{unit}"),
        _ => number.to_owned(),
    };
    let (min, max) = range.split_once("..").unwrap_or((&range, ""));
    pair(
        native,
        option,
        &format!("{}..{}", with_unit(min), with_unit(max)),
    );
    Ok(())
}

/// Translates `-ZeroTime mode filter`.
pub(crate) fn zero_time(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    const MODES: Words = &[
        ("none", "none"),
        ("marker", "marker"),
        ("first", "first"),
        // The help of ETWAnalyzer names this one, which its parser does not know.
        ("firstmethod", "first"),
        ("last", "last"),
        ("processstart", "process-start"),
        ("processend", "process-end"),
    ];
    let mode = line.required("zerotime")?;
    let mode = word("zerotime", &mode, MODES)?;
    match line.value() {
        Some(filter) => pair(native, "--zero-time", &format!("{mode}:{filter}")),
        None => pair(native, "--zero-time", mode),
    }
    Ok(())
}

/// Translates `-FirstLastDuration [format [format]]`: the time between, then the first and the last
/// time in these formats.
pub(crate) fn first_last(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let formats: Vec<String> = std::iter::from_fn(|| line.value()).take(2).collect();
    let formats = if formats.is_empty() {
        "none".to_owned()
    } else {
        formats.join(";")
    };
    pair(native, "--first-last", &formats);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(to: To, words: &[&str]) -> String {
        let mut line = Line::new(words.iter().map(|word| (*word).to_owned()));
        let mut native = Native::new();
        match (Switch { names: &["x"], to }).apply("x", &mut line, &mut native) {
            Ok(()) => native
                .iter()
                .map(|word| word.to_string_lossy())
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn switches_become_options() {
        const SORTS: Words = &[("cpu", "cpu"), ("cpuwait", "cpu-wait"), ("default", "")];
        for (to, words, expected) in [
            (To::Flag("--details"), &["y"][..], "--details"),
            (To::Text("--process"), &["cmd;!1"], "--process=cmd;!1"),
            (
                To::Text("--process"),
                &["-fd"],
                "-x needs a value, but \"-fd\" follows",
            ),
            (To::Number("--scale"), &["1,5"], "--scale=1.5"),
            (
                To::Maybe("--show-module"),
                &["Driver"],
                "--show-module=Driver",
            ),
            (To::Maybe("--show-module"), &["-fd"], "--show-module"),
            (To::Range("--wait"), &["1300-2000"], "--wait=1300..2000"),
            (To::Range("--first"), &["-5", "1,5"], "--first=-5..1.5"),
            (
                To::Word("--sort-by", SORTS),
                &["CPUWait"],
                "--sort-by=cpu-wait",
            ),
            (
                To::Word("--sort-by", SORTS),
                &["y"],
                "-x y: expected one of cpu cpuwait default",
            ),
            (To::Top("--top", None), &["5"], "--top=5"),
            (
                To::Top("--top-methods", Some("--skip-methods")),
                &["5", "2"],
                "--top-methods=5 --skip-methods=2",
            ),
            (To::Special(cut_method), &["3-10"], "--cut-method=3..13"),
            (To::Special(cut_method), &["0-20"], "--cut-method=0..20"),
            (To::Special(cut_method), &["15"], "--cut-method=15.."),
            (To::Special(cut_method), &["-7"], "--cut-method=-7"),
            (To::Special(cut_method), &["-7-9"], "--cut-method=0..9"),
            (To::Special(cut_stack), &["2-3"], "--cut-stack=2..5"),
            (To::Special(cut_stack), &["-3"], "--cut-stack=0..3"),
            (To::Special(cut_stack), &["4"], "--cut-stack=4.."),
            (
                To::Special(cut_stack),
                &["a"],
                "-cutstack a: expected numbers: how many are left out-how many are taken",
            ),
            (To::MaybeWord("--sort-by", SORTS), &["-fd"], ""),
            (To::MaybeWord("--sort-by", SORTS), &["Default"], ""),
            (
                To::Special(|line, native| range_in("x", "--time", "ms", line, native)),
                &["1,5", "2s"],
                "--time=1.5ms..2s",
            ),
            (
                To::Special(|line, native| range_in("x", "--time", "ms", line, native)),
                &["10"],
                "--time=10ms..",
            ),
            (
                To::Special(zero_time),
                &["First", "*OnLoad*"],
                "--zero-time=first:*OnLoad*",
            ),
            (
                To::Special(zero_time),
                &["processend", "-fd"],
                "--zero-time=process-end",
            ),
            (
                To::Special(first_last),
                &["s", "local"],
                "--first-last=s;local",
            ),
            (To::Special(first_last), &["-fd"], "--first-last=none"),
            (To::Nothing(1, "it is always so"), &["y"], ""),
            (
                To::Missing("there is no such thing"),
                &[],
                "-x: there is no such thing",
            ),
        ] {
            assert_eq!(applied(to, words), expected, "{words:?}");
        }
    }
}
