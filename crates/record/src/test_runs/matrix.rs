//! Parameters that take several values: every combination of them is a cell.

use anyhow::Result;
use etwkit_terminal::errors::advised;

/// Largest number of cells: a larger matrix is a typing error.
const MAX_CELLS: usize = 10_000;

/// A parameter with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name, which the command refers to as `{name}`.
    pub name: String,
    /// The values, in the order of the command line.
    pub values: Vec<String>,
}

impl Axis {
    /// Reads `threads=1,2,4`.
    ///
    /// # Errors
    /// The text has another form, or a name that is not allowed in a file name.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            advised(
                format!("expected NAME=VALUE,VALUE, found \"{text}\": {why}"),
                "for example --matrix threads=1,2,4",
            )
        };
        let (name, values) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(wrong("a name has letters, digits and hyphens"));
        }
        let values: Vec<String> = values
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect();
        if values.iter().any(String::is_empty) {
            return Err(wrong("a value is empty"));
        }
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }
}

/// One value of each parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Names and values, in the order of the axes.
    pub values: Vec<(String, String)>,
}

impl Cell {
    /// Returns a text in which each `{name}` of a parameter is replaced by its value. Other braces
    /// stay.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            // Braces that name no parameter stay unchanged: command lines of scripts have many of
            // them.
            filled.push_str(before);
            let value = behind.split_once('}').and_then(|(name, end)| {
                let (_, value) = self.values.iter().find(|(own, _)| own == name)?;
                Some((value, end))
            });
            if let Some((value, end)) = value {
                filled.push_str(value);
                rest = end;
            } else {
                filled.push('{');
                rest = behind;
            }
        }
        filled + rest
    }

    /// Returns the name of a test case with these values: `Copy+threads=4`. Without parameters it
    /// is the plain name.
    #[must_use]
    pub fn case(&self, case: &str) -> String {
        let values = self
            .values
            .iter()
            .map(|(name, value)| format!("+{name}={}", crate::test_runs::name::plain(value)));
        std::iter::once(case.to_owned()).chain(values).collect()
    }
}

/// Returns all combinations. The last parameter changes fastest. Without parameters there is one
/// cell.
///
/// # Errors
/// A name occurs twice, or there are more than 10,000 combinations.
pub(crate) fn cells(axes: &[Axis]) -> Result<Vec<Cell>> {
    let mut cells = vec![Cell::default()];
    for (place, axis) in axes.iter().enumerate() {
        if axes.iter().take(place).any(|other| other.name == axis.name) {
            return Err(advised(
                format!("--matrix names {} twice", axis.name),
                "give all of its values at once",
            ));
        }
        // Checked before the product is built, which could take all memory.
        if cells.len().saturating_mul(axis.values.len()) > MAX_CELLS {
            let message = format!("--matrix has more than {MAX_CELLS} combinations");
            return Err(advised(message, "run parts of it, one after the other"));
        }
        let with = |cell: &Cell, value: &String| {
            let mut values = cell.values.clone();
            values.push((axis.name.clone(), value.clone()));
            Cell { values }
        };
        cells = cells
            .iter()
            .flat_map(|cell| axis.values.iter().map(move |value| with(cell, value)))
            .collect();
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once_and_the_last_parameter_changes_fastest() {
        let axes = ["mode=serial,parallel", "threads=1,2"].map(|text| Axis::parse(text).unwrap());
        let all: Vec<String> = cells(&axes)
            .unwrap()
            .iter()
            .map(|cell| cell.case("Write"))
            .collect();
        let want = [
            "serial+threads=1",
            "serial+threads=2",
            "parallel+threads=1",
            "parallel+threads=2",
        ];
        assert_eq!(all, want.map(|end| format!("Write+mode={end}")));
        assert_eq!(cells(&[]).unwrap(), [Cell::default()]);
    }

    #[test]
    fn known_names_are_filled_in_and_other_braces_stay() {
        let cell = Cell {
            values: vec![("n".into(), "{m}".into()), ("m".into(), "2".into())],
        };
        assert_eq!(cell.fill("a{n}b{m}c{x}{d{m}}"), "a{m}b2c{x}{d2}");
        assert_eq!(cell.fill("{"), "{");
    }

    #[test]
    fn what_is_no_matrix_is_refused_with_an_example() {
        for wrong in ["threads", "=1", "a b=1", "n=1,,2", "n="] {
            let error = Axis::parse(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with("expected NAME=VALUE,VALUE, found \""),
                "{error}"
            );
        }
        let twice = ["n=1", "n=2"].map(|text| Axis::parse(text).unwrap());
        assert_eq!(
            cells(&twice).unwrap_err().to_string(),
            "--matrix names n twice"
        );
        let many = Axis {
            name: "n".into(),
            values: vec!["1".into(); 101],
        };
        let other = Axis {
            name: "m".into(),
            ..many.clone()
        };
        assert!(cells(&[many, other]).is_err());
    }
}
