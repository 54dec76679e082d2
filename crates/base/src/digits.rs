//! Numbers for people: their digits in groups, their nouns, and their ranges.

use std::collections::BTreeSet;

/// Writes a number in groups of three digits with commas between them: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    grouped_by(number, ',', (3, 3))
}

/// Chooses the noun of a number: singular or plural.
#[must_use]
pub const fn noun(number: u64, [one, many]: [&str; 2]) -> &str {
    if number == 1 { one } else { many }
}

/// Writes a number in groups, with its noun: `1 row`, `2,000 rows`.
#[must_use]
pub fn counted(number: u64, nouns: [&str; 2]) -> String {
    format!("{} {}", grouped(number), noun(number, nouns))
}

/// Writes a number in groups: the last one and those before it have so many digits, 0 for no further groups.
#[must_use]
pub fn grouped_by(number: u64, separator: char, (last, others): (u8, u8)) -> String {
    let begins_group = |digits: usize| {
        let (last, others) = (usize::from(last), usize::from(others));
        match digits.checked_sub(last) {
            Some(0) => last > 0,
            Some(before) => last > 0 && others > 0 && before.is_multiple_of(others),
            None => false,
        }
    };
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (digit, left) in digits.chars().zip((0..digits.len()).rev()) {
        text.push(digit);
        if left > 0 && begins_group(left) {
            text.push(separator);
        }
    }
    text
}

/// Writes ascending numbers, those that follow each other as a range: `0-3,6`.
#[must_use]
pub fn ranges(numbers: &BTreeSet<i32>) -> String {
    let mut ranges: Vec<(i32, i32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(i32, i32)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        for (number, text) in [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn nouns_are_those_of_their_numbers() {
        let rows = [0, 1, 2, 1000].map(|number| counted(number, ["row", "rows"]));
        assert_eq!(rows, ["0 rows", "1 row", "2 rows", "1,000 rows"]);
    }

    #[test]
    fn groups_have_the_sizes_of_a_locale() {
        for (sizes, text) in [
            ((3, 3), "12,345,678"),
            ((3, 2), "1,23,45,678"),
            ((4, 4), "1234,5678"),
            ((3, 0), "12345,678"),
            ((0, 0), "12345678"),
        ] {
            assert_eq!(grouped_by(12_345_678, ',', sizes), text);
        }
    }

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&BTreeSet::from([0, 1, 2, 3, 6, 8, 9])), "0-3,6,8-9");
        assert_eq!(ranges(&BTreeSet::new()), "");
    }
}
