//! Statuses of operations by name.

use etwkit_query::nt_status::error_name;

/// `0xc0000034,0xc0000022` as names, numbers where there is none.
pub(super) fn names(statuses: &str) -> String {
    let mut names: Vec<&str> = statuses.split(',').filter(|status| !status.is_empty()).map(name).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

fn name(status: &str) -> &str {
    let digits = status.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).ok().and_then(|code| error_name(code.cast_signed())).unwrap_or(status)
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_statuses_have_names() {
        assert_eq!(
            super::names("0xc0000034,0xc0000022,0xc0000034,0xcfffffff"),
            "0xcfffffff ACCESS_DENIED OBJECT_NAME_NOT_FOUND"
        );
        assert_eq!(super::names(""), "");
    }
}
