//! What the fields of requests can be.

use serde_json::Value;

use super::options::{Kind, Opt, OptionError, Spec, Values};
use crate::range::Range;

/// What a field of a request can be.
pub trait OptionValue: Sized {
    /// The options that it is, given its default.
    fn options(&self, spec: Spec) -> Vec<Opt>;

    /// Its value, if it is there.
    ///
    /// # Errors
    /// A value that the option does not take.
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError>;

    /// Adds its value.
    fn write(&self, spec: &Spec, values: &mut Values);

    /// Takes its part of a trace over, if it is one: only a trace says where clock times lie.
    fn place(&mut self, _: &Spec, _: &Values) {}
}

/// An enumeration whose variants have words.
pub trait Words: Sized + Copy + PartialEq + 'static {
    /// All of them, in the order of help.
    const WORDS: &'static [(&'static str, Self)];

    /// The word of a variant.
    #[must_use]
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

fn word_of<W: Words>(values: &Values, spec: &Spec) -> Result<Option<W>, OptionError> {
    let Some(text) = spec.text(values)? else { return Ok(None) };
    let found = W::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.map(Some).ok_or_else(|| spec.wrong(none_of(&text, &words::<W>())))
}

fn words<W: Words>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

fn none_of(text: &str, words: &[&str]) -> String {
    format!("expected one of {}, found {text:?}", words.join(", "))
}

impl<W: Words> OptionValue for W {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Words(words::<W>()), Some(self.word().to_owned()))]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        word_of(values, spec)
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.word().into());
    }
}

impl<W: Words> OptionValue for Option<W> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let all = spec.all;
        let words = all.into_iter().chain(words::<W>()).collect();
        let default = self.map(Words::word).or(all).map(str::to_owned);
        vec![spec.opt(Kind::Words(words), default)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        if spec.all.is_some() && spec.text(values)?.as_deref() == spec.all {
            return Ok(Some(None));
        }
        Ok(word_of(values, spec)?.map(Some))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.extend(self.map(|value| (spec.name.to_owned(), value.word().into())));
    }
}

impl OptionValue for bool {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let Some(words) = spec.either else { return vec![spec.opt(Kind::Flag, None)] };
        let default = words.get(usize::from(*self)).map(|word| (*word).to_owned());
        vec![spec.opt(Kind::Words(words.to_vec()), default)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some([no, yes]) = spec.either else {
            return match values.get(spec.name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::Bool(flag)) => Ok(Some(*flag)),
                Some(other) => Err(spec.wrong(format!("expected true or false, found {other}"))),
            };
        };
        match spec.text(values)? {
            None => Ok(None),
            Some(text) if text == yes => Ok(Some(true)),
            Some(text) if text == no => Ok(Some(false)),
            Some(text) => Err(spec.wrong(none_of(&text, &[no, yes]))),
        }
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        let value = match spec.either {
            None => Value::Bool(*self),
            Some([no, yes]) => Value::from(if *self { yes } else { no }),
        };
        values.insert(spec.name.into(), value);
    }
}

/// One of two words, or neither.
impl OptionValue for Option<bool> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Words(spec.either.into_iter().flatten().collect()), None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        Ok(<bool as OptionValue>::read(values, spec)?.map(Some))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        self.iter().for_each(|word| word.write(spec, values));
    }
}

/// An address: digits, hexadecimal ones behind `0x`.
impl OptionValue for Option<u64> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Text, None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(text) = spec.text(values)? else { return Ok(None) };
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let number = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
        let wrong = |_| spec.wrong("an address such as 0x7ff812340000 is expected");
        number.map(|number| Some(Some(number))).map_err(wrong)
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.extend(self.map(|address| (spec.name.to_owned(), format!("{address:#x}").into())));
    }
}

impl OptionValue for Option<String> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let kind = match spec.among {
            [] => Kind::Text,
            words => Kind::Words(words.to_vec()),
        };
        vec![spec.opt(kind, self.clone())]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let text = spec.text(values)?;
        match &text {
            Some(text) if !spec.among.is_empty() && !spec.among.contains(&text.as_str()) => {
                Err(spec.wrong(none_of(text, spec.among)))
            }
            _ => Ok(text.map(Some)),
        }
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.extend(self.clone().map(|text| (spec.name.to_owned(), text.into())));
    }
}

/// One of the words that the declaration names.
impl OptionValue for Option<&'static str> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let all = spec.all;
        let words = all.into_iter().chain(spec.among.iter().copied()).collect();
        vec![spec.opt(Kind::Words(words), self.or(all).map(str::to_owned))]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(text) = spec.text(values)? else { return Ok(None) };
        if spec.all == Some(text.as_str()) {
            return Ok(Some(None));
        }
        let found = spec.among.iter().copied().find(|word| *word == text);
        found.map(|word| Some(Some(word))).ok_or_else(|| spec.wrong(none_of(&text, spec.among)))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.extend(self.map(|word| (spec.name.to_owned(), word.into())));
    }
}

/// Words of those that the declaration names, in the order in which it does.
impl OptionValue for Vec<&'static str> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Several(spec.among.to_vec()), None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(text) = spec.text(values)? else { return Ok(None) };
        let given: Vec<&str> = text.split(',').collect();
        match given.iter().find(|word| !spec.among.contains(word)) {
            Some(word) => Err(spec.wrong(none_of(word, spec.among))),
            None => Ok(Some(spec.among.iter().copied().filter(|word| given.contains(word)).collect())),
        }
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.join(",").into());
    }
}

/// A value that is written as text.
pub trait Parsed: std::str::FromStr<Err = String> + std::fmt::Display {}

/// What text means, if it is there.
///
/// # Errors
/// What is wrong with it.
pub fn parsed<P: Parsed>(values: &Values, spec: &Spec) -> Result<Option<P>, OptionError> {
    let Some(text) = spec.text(values)? else { return Ok(None) };
    text.parse().map(Some).map_err(|problem: String| spec.wrong(format!("{text:?}: {problem}")))
}

impl OptionValue for Vec<String> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Files, None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(Value::Array(list)) = values.get(spec.name) else {
            return Ok(spec.text(values)?.map(|file| vec![file]));
        };
        let files = list.iter().map(|file| file.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
        files.map(Some).ok_or_else(|| spec.wrong("expected names of files"))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.clone().into());
    }
}

impl OptionValue for Range {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let default = (!self.is_unlimited()).then(|| self.with_unit(spec.unit));
        vec![spec.opt(Kind::Range(spec.unit), default)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(text) = spec.text(values)? else { return Ok(None) };
        let range = Self::parse(&text, spec.unit);
        range.map(Some).map_err(|source| OptionError::Range { option: spec.name, source })
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.with_unit(spec.unit).into());
    }
    fn place(&mut self, spec: &Spec, parts: &Values) {
        if let Ok(Some(part)) = Self::read(parts, spec) {
            *self = part;
        }
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl OptionValue for $number {
            fn options(&self, spec: Spec) -> Vec<Opt> {
                vec![spec.opt(Kind::Whole(spec.between.0, spec.between.1), Some(self.to_string()))]
            }
            fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
                let number = spec.whole(values)?.map(<$number>::try_from).transpose();
                number.map_err(|_| spec.wrong("the number is too large"))
            }
            fn write(&self, spec: &Spec, values: &mut Values) {
                values.insert(spec.name.into(), (*self).into());
            }
        }

        impl OptionValue for Option<$number> {
            fn options(&self, spec: Spec) -> Vec<Opt> {
                vec![spec.opt(Kind::Whole(spec.between.0, spec.between.1),
                    self.map(|number| number.to_string()))]
            }
            fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
                Ok(<$number as OptionValue>::read(values, spec)?.map(Some))
            }
            fn write(&self, spec: &Spec, values: &mut Values) {
                values.extend(self.map(|number| (spec.name.to_owned(), number.into())));
            }
        }
    )+};
}

numbers!(usize, u32, i8, i64);

impl OptionValue for f64 {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(Kind::Number, Some(self.to_string()))]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        spec.number(values, "a number")
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), (*self).into());
    }
}
