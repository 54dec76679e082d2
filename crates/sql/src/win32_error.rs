//! Names of Win32 errors of name resolution.

use etwkit_trace::status;

/// Returns the name of an error, or its number if it has none here.
#[must_use]
pub fn win32_error_name(code: i32) -> String {
    let name = u32::try_from(code).ok().and_then(status::win32);
    name.map_or_else(|| code.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found() {
        assert_eq!(win32_error_name(9003), "DNS_ERROR_RCODE_NAME_ERROR");
        assert_eq!(
            (win32_error_name(0), win32_error_name(77)),
            ("SUCCESS".into(), "77".into())
        );
        assert_eq!(win32_error_name(-1), "-1");
    }
}
