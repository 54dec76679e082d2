//! Names of the codes that Windows returns: NTSTATUS, Win32 errors, HRESULT, and codes of network
//! drivers.
//!
//! The tables contain codes that occur in traces, not all codes: a code without a name here is
//! shown as a number.

use std::sync::LazyLock;

/// Codes with their names, sorted by code.
type Names = LazyLock<Vec<(u32, &'static str)>>;

static NT: Names = LazyLock::new(|| read(NT_FILE));
static WIN32: Names = LazyLock::new(|| read(WIN32_FILE));
static HRESULTS: Names = LazyLock::new(|| read(HRESULT_FILE));
static NDIS_STATUSES: Names = LazyLock::new(|| read(NDIS_STATUS_FILE));
static NDIS_OIDS: Names = LazyLock::new(|| read(NDIS_OID_FILE));

const NT_FILE: &str = include_str!("nt.tsv");
const WIN32_FILE: &str = include_str!("win32.tsv");
const HRESULT_FILE: &str = include_str!("hresult.tsv");
const NDIS_STATUS_FILE: &str = include_str!("ndis_status.tsv");
const NDIS_OID_FILE: &str = include_str!("ndis_oid.tsv");

/// Reads a file of codes: in each line a code, a tab and its name. Lines with `#` are comments.
fn read(file: &'static str) -> Vec<(u32, &'static str)> {
    file.lines().filter_map(parsed).collect()
}

fn parsed(line: &'static str) -> Option<(u32, &'static str)> {
    let (code, name) = line.split_once('\t')?;
    let code = match code.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => code.parse().ok()?,
    };
    Some((code, name))
}

fn find(names: &'static [(u32, &'static str)], code: u32) -> Option<&'static str> {
    let at = names.binary_search_by_key(&code, |(code, _)| *code).ok()?;
    names.get(at).map(|(_, name)| *name)
}

/// Name of an NTSTATUS code, without `STATUS_`.
#[must_use]
pub fn nt(code: u32) -> Option<&'static str> {
    find(&NT, code)
}

/// Returns all NTSTATUS codes that have a name here, with their names as in [`nt`].
pub fn nt_names() -> impl Iterator<Item = (u32, &'static str)> {
    NT.iter().copied()
}

/// Returns all Win32 errors that have a name here, with their names as in [`win32`].
pub fn win32_names() -> impl Iterator<Item = (u32, &'static str)> {
    WIN32.iter().copied()
}

/// Name of a Win32 error, without `ERROR_`.
#[must_use]
pub fn win32(code: u32) -> Option<&'static str> {
    find(&WIN32, code)
}

/// Name of an NTSTATUS code as the headers of Windows have it.
#[must_use]
pub fn nt_constant(code: u32) -> Option<String> {
    nt(code).map(|name| with_prefix("STATUS_", name, &["DBG_", "RPC_NT_", "EPT_NT_"]))
}

/// Name of a Win32 error as the headers of Windows have it.
#[must_use]
pub fn win32_constant(code: u32) -> Option<String> {
    win32(code).map(|name| with_prefix("ERROR_", name, &["DNS_", "EPT_", "RPC_", "WAIT_", "WSA"]))
}

fn with_prefix(prefix: &str, name: &str, others: &[&str]) -> String {
    // Some libraries of Windows have a prefix of their own.
    let has_own = others.iter().any(|own| name.starts_with(own)) && name != "WAIT_NO_CHILDREN";
    if has_own {
        name.to_owned()
    } else {
        format!("{prefix}{name}")
    }
}

/// Name of an HRESULT in the headers of Windows; a code that wraps a Win32 error has the name of
/// the error.
#[must_use]
pub fn hresult_constant(code: u32) -> Option<String> {
    const WIN32: u32 = 0x8007_0000;
    if code & 0xFFFF_0000 == WIN32 {
        return win32_constant(code & 0xFFFF);
    }
    find(&HRESULTS, code).map(str::to_owned)
}

/// Name of a status of a network driver.
#[must_use]
pub fn ndis_constant(code: u32) -> Option<&'static str> {
    find(&NDIS_STATUSES, code)
}

/// Name of an object identifier of a network driver.
#[must_use]
pub fn ndis_oid_constant(code: u32) -> Option<&'static str> {
    find(&NDIS_OIDS, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_and_have_a_code_in_each_line() {
        for file in [
            NT_FILE,
            WIN32_FILE,
            HRESULT_FILE,
            NDIS_STATUS_FILE,
            NDIS_OID_FILE,
        ] {
            let names = read(file);
            assert!(names.is_sorted_by(|a, b| a.0 < b.0), "{names:?}");
            let lines = file.lines().filter(|line| !line.starts_with('#'));
            assert_eq!(names.len(), lines.count(), "{file}");
        }
    }

    #[test]
    fn codes_have_the_names_of_the_headers() {
        assert_eq!(
            nt_constant(0xC000_0022).as_deref(),
            Some("STATUS_ACCESS_DENIED")
        );
        assert_eq!(win32_constant(5).as_deref(), Some("ERROR_ACCESS_DENIED"));
        assert_eq!(win32_constant(258).as_deref(), Some("WAIT_TIMEOUT"));
        assert_eq!(
            win32_constant(128).as_deref(),
            Some("ERROR_WAIT_NO_CHILDREN")
        );
        assert_eq!(
            win32_constant(9003).as_deref(),
            Some("DNS_ERROR_RCODE_NAME_ERROR")
        );
        assert_eq!(
            hresult_constant(0x8007_0005).as_deref(),
            Some("ERROR_ACCESS_DENIED")
        );
        assert_eq!(hresult_constant(0x8000_4003).as_deref(), Some("E_POINTER"));
        assert_eq!(
            (nt(0xCFFF_FFFF), win32(77), hresult_constant(0x8123_4567)),
            (None, None, None)
        );
    }
}
