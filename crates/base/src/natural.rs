//! The order of names with numbers in them: `run2` before `run10`.

/// A part of a name. Numbers are before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// A number: how many digits it has without leading zeros, and these digits.
    Number(usize, String),
    /// Text without digits.
    Text(String),
}

/// Returns the parts of a name, which compare as the name does in the order of people.
#[must_use]
pub fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|letter: char| letter.is_ascii_digit() != is_number);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(if is_number {
            let digits = part.trim_start_matches('0');
            Piece::Number(digits.len(), digits.to_owned())
        } else {
            Piece::Text(part.to_owned())
        });
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value() {
        let sorted = ["", "7", "run", "run1", "run2", "run2b", "run010", "run11.a"];
        let mut names = sorted;
        names.reverse();
        names.sort_by_key(|name| pieces(name));
        assert_eq!(names, sorted);
        assert_eq!(pieces("a007"), pieces("a7"));
    }
}
