//! Sentences of findings: `{column}` stands for a value of the row, and `{count|once|# times}` for the first
//! text if that is 1, else for the second one with the number in place of `#`.

use etwkit_question::any_rows::AnyValue;
use etwkit_question::numbers::Numbers;

use crate::duration::{duration, significant};

/// Fills a template. A name without a value becomes nothing; braces without a partner stay as they are.
pub(super) fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<&'v AnyValue>) -> String {
    filled(template, &value)
}

fn filled<'v>(template: &str, value: &dyn Fn(&str) -> Option<&'v AnyValue>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let Some((inner, after)) = partner(behind).and_then(|end| behind.split_at_checked(end))
        else {
            text.push('{');
            rest = behind;
            continue;
        };
        text.push_str(&place(inner, value));
        rest = after.strip_prefix('}').unwrap_or(after);
    }
    text + rest
}

/// Where the brace is that closes the one in front of this text.
fn partner(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    let closes = |letter: char| {
        match letter {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        open == 0
    };
    text.find(closes)
}

/// What stands between two braces.
fn place<'v>(inner: &str, value: &dyn Fn(&str) -> Option<&'v AnyValue>) -> String {
    let (name, forms) = inner
        .split_once('|')
        .map_or((inner, None), |(name, forms)| (name, Some(forms)));
    // `{total}` is also the column `total_ns`: sentences need not name the unit.
    let long = format!("{name}_ns");
    let found = value(name)
        .map(|value| (name, value))
        .or_else(|| Some((&*long, value(&long)?)));
    let Some((name, found)) = found else {
        return String::new();
    };
    let number = write(name, found);
    match forms.and_then(|forms| forms.split_once('|')) {
        Some((one, _)) if found.whole() == Some(1) => filled(one, value),
        Some((_, many)) => filled(&many.replace('#', &number), value),
        None => number,
    }
}

/// A value as people read it, by the unit that its column names.
fn write(name: &str, value: &AnyValue) -> String {
    let numbers = Numbers::default();
    let (_, unit) = name.rsplit_once('_').unwrap_or(("", name));
    match (value, unit, value.whole()) {
        (AnyValue::Missing, ..) => String::new(),
        (AnyValue::Text(text), ..) => text.clone(),
        (_, "ns", Some(ns)) => duration(ns),
        (_, "bytes", Some(bytes)) => numbers.bytes(bytes, ["KiB", "MiB", "GiB", "TiB"]),
        (AnyValue::Whole(number), "percent", _) => format!("{number} %"),
        (AnyValue::Number(number), "percent", _) => format!("{} %", significant(*number)),
        // Ids are names, and have no groups of digits.
        (AnyValue::Whole(number), "pid" | "tid" | "id" | "key", _) => number.to_string(),
        (AnyValue::Whole(number), ..) => numbers.whole(*number),
        (AnyValue::Number(number), ..) => significant(*number),
    }
}

/// The reference of a finding to the one that explains it.
pub(super) fn of_cause(number: i64) -> String {
    format!(
        "finding {number}, which takes most of this time: what explains others comes before them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_no_number_is_not_0() {
        assert_eq!(write("wait_ns", &AnyValue::Number(1_499.6)), "1.50 µs");
        assert_ne!(write("wait_ns", &AnyValue::Number(f64::INFINITY)), "0 ns");
    }

    #[test]
    fn a_template_is_filled_with_the_values_of_a_row() {
        let row = [
            ("culprit", AnyValue::Text("x.sys".into())),
            ("total_ns", AnyValue::Whole(2_000_000)),
            ("size_bytes", AnyValue::Whole(3 << 20)),
            ("share_percent", AnyValue::Number(12.34)),
            ("count", AnyValue::Whole(12_345)),
            ("one", AnyValue::Whole(1)),
            ("pid", AnyValue::Whole(12_345)),
        ];
        let value = |name: &str| {
            row.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        let template = "{culprit}: {total}, {total_ns}, {size_bytes}, {share_percent}, {count} of {pid}{none} {";
        assert_eq!(
            fill(template, value),
            "x.sys: 2.00 ms, 2.00 ms, 3.0 MiB, 12.3 %, 12,345 of 12345 {"
        );
        let times =
            "{count|once|# times up to {total}}, {one|1 query|# queries}, {none|a|b}{one|x}";
        assert_eq!(fill(times, value), "12,345 times up to 2.00 ms, 1 query, 1");
    }
}
