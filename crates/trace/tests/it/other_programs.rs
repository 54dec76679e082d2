//! The page that maps columns of other programs to ours.

use etwkit_trace::topics;

const PAGE: &str = include_str!("../../../../docs/numbers/wpa.md");

#[test]
fn every_column_that_the_page_names_exists() {
    let mut looked_up = 0;
    // Every second part is between two backticks.
    for code in PAGE.split('`').skip(1).step_by(2) {
        let Some((name, column)) = code.split_once('.') else {
            continue;
        };
        // Other programs, files and ranges also have dots.
        if !column
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        {
            continue;
        }
        let table = topics::find(name).unwrap_or_else(|| panic!("{code}: there is no such table"));
        assert!(
            table.column(column).is_some(),
            "{code}: the table has no such column"
        );
        looked_up += 1;
    }
    assert!(looked_up > 90, "{looked_up}");
}
