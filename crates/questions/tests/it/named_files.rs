//! Files that an option names, by their name or by a variable of the environment.

use std::io;

use etwkit_question::{Files, FilesError, NamedFile};
use etwkit_questions::exception::filter::ExceptionFilters;

/// Files with one rule each; the environment variable names one of them.
struct RuleFiles;

impl Files for RuleFiles {
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        match name {
            "rules.xml" | "usual.xml" => Ok(
                b"<ExceptionFilters><Filters><ExceptionFilterItem><Message>x</Message>\
                </ExceptionFilterItem></Filters></ExceptionFilters>"
                    .to_vec(),
            ),
            "other.xml" => Ok(b"<Other/>".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn named_by(&self, variable: &str) -> Option<String> {
        (variable == "USUAL").then(|| "usual.xml".to_owned())
    }
}

fn loaded(name: Option<&str>, variable: &str) -> Result<(Option<String>, usize), FilesError> {
    let mut file = NamedFile {
        name: name.map(str::to_owned),
        content: None,
    };
    file.load(&RuleFiles, Some(variable), ExceptionFilters::parse)?;
    Ok((file.name, file.content.map_or(0, |rules| rules.len())))
}

#[test]
fn a_file_is_read_by_its_name_or_by_that_of_a_variable() {
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(loaded(None, "USUAL").unwrap(), (None, 0));
    assert_eq!(
        loaded(Some("rules.xml"), "USUAL").unwrap(),
        (named("rules.xml"), 1)
    );
    assert_eq!(
        loaded(Some("default"), "USUAL").unwrap(),
        (named("usual.xml"), 1)
    );
    assert_eq!(
        loaded(Some("default"), "NOT_SET").unwrap(),
        (named("default"), 0)
    );
}

#[test]
fn what_is_wrong_with_a_file_is_reported() {
    let error = loaded(Some("no.xml"), "USUAL").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hint()),
        ("cannot read no.xml", None)
    );
    let error = loaded(Some("other.xml"), "USUAL").unwrap_err();
    assert!(
        error.to_string().starts_with("other.xml:1:1: ") && error.hint().is_some(),
        "{error}"
    );
}
