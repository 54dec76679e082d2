//! Names of NTSTATUS codes: exit codes of processes, and results of file systems, the registry and
//! system calls.

use etwkit_trace::status;

/// Exit codes of the .NET and C++ runtimes, which Windows reports in addition to its own.
const RUNTIMES: [(u32, &str); 2] = [
    (0xE043_4352, "DOTNET_EXCEPTION"),
    (0xE06D_7363, "CPP_EXCEPTION"),
];

/// Returns the name of a warning or error.
#[must_use]
pub fn error_name(code: i32) -> Option<&'static str> {
    if code < 0 { status_name(code) } else { None }
}

/// Returns the name of a status, successes included.
#[must_use]
pub fn status_name(code: i32) -> Option<&'static str> {
    let code = code.cast_unsigned();
    let of_runtime = RUNTIMES
        .iter()
        .find(|(own, _)| *own == code)
        .map(|(_, name)| *name);
    of_runtime.or_else(|| status::nt(code))
}

/// Returns all statuses that have a name, with their names.
pub(crate) fn names() -> impl Iterator<Item = (u32, &'static str)> {
    RUNTIMES.into_iter().chain(status::nt_names())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found() {
        assert_eq!(error_name(-1_073_741_819), Some("ACCESS_VIOLATION"));
        assert_eq!((error_name(0), error_name(-1)), (None, None));
        assert_eq!(
            (status_name(0), status_name(0x102)),
            (Some("SUCCESS"), Some("TIMEOUT"))
        );
        assert_eq!(
            error_name(0xE043_4352_u32.cast_signed()),
            Some("DOTNET_EXCEPTION")
        );
    }
}
