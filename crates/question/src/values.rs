//! Types of the fields of requests.

use serde_json::Value;

use super::options::{Opt, OptionError, OptionKind, Spec, Values};
use crate::range::Range;

/// A type that a field of a request can have.
pub trait OptionValue: Sized {
    /// Returns the options of the field; `self` is its default.
    fn options(&self, spec: Spec) -> Vec<Opt>;

    /// Returns its value, if one was given.
    ///
    /// # Errors
    /// A value that the option does not take.
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError>;

    /// Writes its value.
    fn write(&self, spec: &Spec, values: &mut Values);

    /// Sets its range of a trace, if it is one: only a trace defines the position of clock times.
    fn place(&mut self, _: &Spec, _: &Values) {}
}

/// A value that one text defines. A field can have one, or an optional one.
pub trait Scalar: Sized {
    /// Returns the type of its option's value.
    #[must_use]
    fn kind(_: &Spec) -> OptionKind {
        OptionKind::Text
    }

    /// Parses the value of a text.
    ///
    /// # Errors
    /// The text is invalid.
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError>;

    /// Formats it as the text that is parsed.
    fn text(&self, spec: &Spec) -> String;

    /// Returns the value as JSON.
    #[must_use]
    fn json(&self, spec: &Spec) -> Value {
        self.text(spec).into()
    }

    /// Returns the value of the option in JSON.
    ///
    /// # Errors
    /// The text is not a valid value.
    fn value(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        spec.text(values)?
            .map(|text| Self::parse(&text, spec))
            .transpose()
    }
}

impl<S: Scalar> OptionValue for S {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let kind = S::kind(&spec);
        let default =
            Some(self.text(&spec)).filter(|text| kind != OptionKind::Flag && !text.is_empty());
        vec![spec.opt(kind, default)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        S::value(values, spec)
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.json(spec));
    }
}

/// Missing if it is not given, or with the word for all or none, if the declaration has one.
impl<S: Scalar> OptionValue for Option<S> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let kind = match S::kind(&spec) {
            OptionKind::Words(words) => {
                OptionKind::Words(spec.all.into_iter().chain(words).collect())
            }
            kind => kind,
        };
        let default = self.as_ref().map(|value| value.text(&spec));
        vec![spec.opt(kind, default.or_else(|| spec.all.map(str::to_owned)))]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        // The word for all or none is a given value, not a missing one: it replaces a default.
        if spec.all.is_some() && spec.text(values)?.as_deref() == spec.all {
            return Ok(Some(None));
        }
        Ok(S::value(values, spec)?.map(Some))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        self.iter().for_each(|value| value.write(spec, values));
    }
}

/// An enumeration whose variants have words.
pub trait Words: Sized + Copy + PartialEq + 'static {
    /// All of them, in the order of help.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the word of a variant.
    #[must_use]
    fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, value)| *value == self)
            .map_or("", |(word, _)| word)
    }
}

fn words<W: Words>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

impl<W: Words> Scalar for W {
    fn kind(_: &Spec) -> OptionKind {
        OptionKind::Words(words::<W>())
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        let found = W::WORDS
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value);
        found.ok_or_else(|| spec.none_of(text, &words::<W>()))
    }
    fn text(&self, _: &Spec) -> String {
        self.word().to_owned()
    }
}

/// Parses a flag, or one of two words.
impl Scalar for bool {
    fn kind(spec: &Spec) -> OptionKind {
        spec.either
            .map_or(OptionKind::Flag, |words| OptionKind::Words(words.to_vec()))
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        let words = spec.either.unwrap_or(["false", "true"]);
        match words.iter().position(|word| *word == text) {
            Some(place) => Ok(place == 1),
            None => Err(spec.none_of(text, &words)),
        }
    }
    fn text(&self, spec: &Spec) -> String {
        let [no, yes] = spec.either.unwrap_or(["false", "true"]);
        if *self { yes } else { no }.to_owned()
    }
    fn json(&self, spec: &Spec) -> Value {
        if spec.either.is_some() {
            self.text(spec).into()
        } else {
            Value::Bool(*self)
        }
    }
    fn value(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        match (values.get(spec.name), spec.either) {
            (_, Some(_)) => spec
                .text(values)?
                .map(|text| Self::parse(&text, spec))
                .transpose(),
            (None | Some(Value::Null), None) => Ok(None),
            (Some(Value::Bool(flag)), None) => Ok(Some(*flag)),
            (Some(other), None) => {
                Err(spec.wrong(format!("expected true or false, found {other}")))
            }
        }
    }
}

/// An address: decimal digits, or hexadecimal ones after `0x`.
impl Scalar for u64 {
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let number = digits.map_or_else(|| text.parse(), |digits| Self::from_str_radix(digits, 16));
        number.map_err(|_| spec.wrong("an address such as 0x7ff812340000 is expected"))
    }
    fn text(&self, _: &Spec) -> String {
        format!("{self:#x}")
    }
}

/// Parses any text, or one of the words of the declaration.
impl Scalar for String {
    fn kind(spec: &Spec) -> OptionKind {
        if spec.among.is_empty() {
            OptionKind::Text
        } else {
            OptionKind::Words(spec.among.to_vec())
        }
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        if spec.among.is_empty() {
            Ok(text.to_owned())
        } else {
            spec.one_of(text).map(str::to_owned)
        }
    }
    fn text(&self, _: &Spec) -> String {
        self.clone()
    }
}

/// Parses one of the words of the declaration.
impl Scalar for &'static str {
    fn kind(spec: &Spec) -> OptionKind {
        OptionKind::Words(spec.among.to_vec())
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        spec.one_of(text)
    }
    fn text(&self, _: &Spec) -> String {
        (*self).to_owned()
    }
}

/// Parses some of the words of the declaration, in its order.
impl Scalar for Vec<&'static str> {
    fn kind(spec: &Spec) -> OptionKind {
        OptionKind::Several(spec.among.to_vec())
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        let given = text
            .split(',')
            .map(|word| spec.one_of(word))
            .collect::<Result<Vec<_>, _>>()?;
        // In the order of the declaration and each once, so that equal requests have equal values.
        Ok(spec
            .among
            .iter()
            .copied()
            .filter(|word| given.contains(word))
            .collect())
    }
    fn text(&self, _: &Spec) -> String {
        self.join(",")
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Scalar for $number {
            fn kind(spec: &Spec) -> OptionKind {
                OptionKind::Whole(spec.between.0, spec.between.1)
            }
            fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
                Self::try_from(spec.whole(text)?).map_err(|_| spec.wrong("the number is too large"))
            }
            fn text(&self, _: &Spec) -> String {
                self.to_string()
            }
            fn json(&self, _: &Spec) -> Value {
                (*self).into()
            }
        }
    )+};
}

numbers!(usize, u32, i8, i64);

impl Scalar for f64 {
    fn kind(_: &Spec) -> OptionKind {
        OptionKind::Number
    }
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        spec.number(text, "a number")
    }
    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }
    fn json(&self, _: &Spec) -> Value {
        (*self).into()
    }
}

/// Parses ranges with `;` between.
impl Scalar for Vec<Range> {
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        text.split(';').map(|part| range(part, spec)).collect()
    }
    fn text(&self, spec: &Spec) -> String {
        self.iter()
            .map(|range| range.with_unit(spec.unit))
            .collect::<Vec<_>>()
            .join(";")
    }
}

fn range(text: &str, spec: &Spec) -> Result<Range, OptionError> {
    Range::parse(text, spec.unit).map_err(|source| OptionError::Range {
        option: spec.name,
        source,
    })
}

/// Parses files by their names.
impl OptionValue for Vec<String> {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(OptionKind::Files, None)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        let Some(Value::Array(list)) = values.get(spec.name) else {
            return Ok(spec.text(values)?.map(|file| vec![file]));
        };
        let files = list
            .iter()
            .map(|file| file.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>();
        files
            .map(Some)
            .ok_or_else(|| spec.wrong("expected names of files"))
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.clone().into());
    }
}

impl OptionValue for Range {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        let default = (!self.is_unlimited()).then(|| self.with_unit(spec.unit));
        vec![spec.opt(OptionKind::Range(spec.unit), default)]
    }
    fn read(values: &Values, spec: &Spec) -> Result<Option<Self>, OptionError> {
        spec.text(values)?
            .map(|text| range(&text, spec))
            .transpose()
    }
    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.with_unit(spec.unit).into());
    }
    fn place(&mut self, spec: &Spec, parts: &Values) {
        // `Places` writes the parts itself, as text that `read` takes, so an error cannot occur
        // here.
        if let Ok(Some(part)) = Self::read(parts, spec) {
            *self = part;
        }
    }
}
