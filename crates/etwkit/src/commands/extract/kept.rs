//! `--tables`: selection of the tables that extracts keep.

use etwkit_extract::left_out::{self, Names};
use etwkit_extract::manifest::Detail;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::similar;
use etwkit_terminal::errors::Advised;
use etwkit_trace::table::{ABOUT, DERIVED, Table};
use etwkit_trace::topics::TABLES;

/// Returns the tables that extracts of that detail omit, if the option is given. Each pattern has
/// to match a table: otherwise it is misspelled.
pub(super) fn left_out(tables: Option<&str>, detail: Detail) -> anyhow::Result<Option<Names>> {
    let Some(text) = tables else { return Ok(None) };
    let all: Vec<&str> = TABLES
        .iter()
        .chain(DERIVED)
        .chain(ABOUT)
        .map(|table: &&Table| table.name)
        .collect();
    for pattern in text
        .split(';')
        .map(|part| part.trim().trim_start_matches('!').trim())
    {
        if !all.iter().any(|table| fits(pattern, table)) {
            return Err(unknown(pattern, &all).into());
        }
    }
    // An exclusion alone does not request the tables that are left out by default.
    let asked = text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.starts_with('!'));
    let usual = left_out::left_out_by_default();
    let usual: Names = usual
        .into_iter()
        .filter(|table| !asked.clone().any(|part| fits(part, table)))
        .collect();
    let is_wanted = |table: &str| fits(text, table) && !usual.contains(table);
    Ok(Some(left_out::left_out(detail, is_wanted)))
}

fn fits(filter: &str, table: &str) -> bool {
    TextFilter::parse(filter).matches(Some(table))
}

fn unknown(pattern: &str, all: &[&str]) -> Advised {
    let close = similar(pattern, all);
    let meant = if close.is_empty() {
        String::new()
    } else {
        format!("similar: {}; ", close.join(", "))
    };
    Advised {
        message: format!("--tables: no table matches {pattern}"),
        hint: format!("{meant}`etwkit sql --show-schema` lists all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, detail: Detail) -> Names {
        left_out(Some(text), detail).unwrap().unwrap()
    }

    #[test]
    fn patterns_choose_tables_and_names_of_things_are_always_kept() {
        let one = without("!context_switch", Detail::Full);
        assert_eq!(
            one.into_iter().collect::<Vec<_>>(),
            ["context_switch", "stack_hash"]
        );
        let only = without("disk*", Detail::Full);
        for out in ["context_switch", "cpu_process", "stack_hash"] {
            assert!(only.contains(out), "{out}");
        }
        for kept in [
            "disk",
            "disk_io",
            "disk_file",
            "process",
            "thread",
            "module",
            "frame",
            "trace",
        ] {
            assert!(!only.contains(kept), "{kept}");
        }
        assert!(!only.contains("stack"), "operations have stacks");
        assert!(!without("dns*;volume", Detail::Full).contains("stack"));
        assert!(
            without("volume", Detail::Full).contains("stack"),
            "nothing that is kept has one"
        );
        assert!(without("*", Detail::Full).is_empty() && without("*", Detail::Summary).is_empty());
        assert_eq!(left_out(None, Detail::Full).unwrap(), None);
    }

    #[test]
    fn a_summary_has_no_single_rows_in_any_case() {
        let names = |text| {
            without(text, Detail::Summary)
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(names("!disk_io"), ["stack_hash"]);
        assert_eq!(names("*;!disk_file"), ["disk_file"]);
    }

    #[test]
    fn a_pattern_that_fits_no_table_is_misspelt() {
        let error = left_out(Some("!contxt_switch"), Detail::Full).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--tables: no table matches contxt_switch"
        );
        let hint = &error.downcast_ref::<Advised>().unwrap().hint;
        assert!(hint.starts_with("similar: context_switch"), "{hint}");
    }
}
